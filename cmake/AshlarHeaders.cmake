# Headers of RocksDB's for which Ashlar has nothing. A program that includes one must not get that
# of an installed RocksDB, whose classes are others of the same names. Their list is
# include/rocksdb/absent_headers.txt.
#
#   ashlar_write_absent_headers(<folder>)   writes <folder>/rocksdb/<name> for each: one #error that
#                                           names the feature

function(ashlar_write_absent_headers folder)
  set(list ${PROJECT_SOURCE_DIR}/include/rocksdb/absent_headers.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} entries REGEX "^[^#]")
  # Of an earlier list: a header that exists now would be hidden.
  file(GLOB_RECURSE written RELATIVE ${folder}/rocksdb ${folder}/rocksdb/*)
  foreach(name IN LISTS written)
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/rocksdb/${name})
      file(REMOVE ${folder}/rocksdb/${name})
    endif()
  endforeach()
  foreach(entry IN LISTS entries)
    string(REPLACE "|" ";" entry "${entry}")
    list(GET entry 0 name)
    list(GET entry 1 feature)
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/rocksdb/${name})
      message(FATAL_ERROR "include/rocksdb/${name} exists: remove it from ${list}")
    endif()
    string(CONCAT content "#error \"Ashlar does not have rocksdb/${name} (${feature}): "
                          "see docs/compatibility.md of Ashlar\"\n")
    file(CONFIGURE OUTPUT ${folder}/rocksdb/${name} CONTENT "${content}" @ONLY)
  endforeach()
endfunction()
