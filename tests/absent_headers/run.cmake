# Compiles one file per header that Ashlar does not have. Run by ctest:
# cmake -DSOURCE_DIR= -DBUILD_DIR= -DCXX= -P run.cmake

set(work ${BUILD_DIR}/tests/absent_headers)
file(REMOVE_RECURSE ${work})
set(flags -std=c++20 -fsyntax-only -I${SOURCE_DIR}/include -I${BUILD_DIR}/include
          -isystem ${work}/installed)

# compile(<header>): sets result and errors.
macro(compile header)
  file(WRITE ${work}/program.cc "#include <rocksdb/${header}>\n")
  execute_process(COMMAND ${CXX} ${flags} ${work}/program.cc ERROR_VARIABLE errors
                  RESULT_VARIABLE result)
endmacro()

file(WRITE ${work}/installed/rocksdb/only_installed.h "// A header of an installed RocksDB.\n")
foreach(header IN ITEMS db.h utilities/convenience.h only_installed.h)
  compile(${header})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "rocksdb/${header} does not compile:\n${errors}")
  endif()
endforeach()

file(STRINGS ${SOURCE_DIR}/include/rocksdb/absent_headers.txt entries REGEX "^[^#]")
list(LENGTH entries count)
foreach(entry IN LISTS entries)
  string(REGEX REPLACE "\\|.*" "" header "${entry}")
  file(WRITE ${work}/installed/rocksdb/${header} "// A header of an installed RocksDB.\n")
  compile(${header})
  string(REGEX MATCHALL "error: " found "${errors}")
  list(LENGTH found error_count)
  set(refusal "Ashlar does not have rocksdb/${header} \\([^)]+\\): see docs/compatibility.md")
  if(result EQUAL 0 OR NOT error_count EQUAL 1 OR NOT errors MATCHES "${refusal}")
    message(FATAL_ERROR "rocksdb/${header} does not say that it is missing (${result}):\n${errors}")
  endif()
endforeach()
if(count LESS 60)  # an empty or shortened list
  message(FATAL_ERROR "only ${count} headers were found")
endif()
file(REMOVE_RECURSE ${work})
message(STATUS "${count} headers are refused by name")
