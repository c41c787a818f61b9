# The libraries that libashlar is linked with. Used by the build, and installed next to the package
# configuration, where a program that links the static library needs them again.
#
#   ashlar_find_dependencies()   defines the imported targets Ashlar::<name> and Threads::Threads,
#                                and ASHLAR_MISSING: the names of what was not found
#
# ASHLAR_SHIPPED_CODECS names the codecs that are installed with the static library, as
# "zstd|<file>"; they need no header there.

# name, header, library
set(ashlar_dependencies "zstd|zstd.h|zstd" "lz4|lz4.h|lz4" "snappy|snappy.h|snappy" "zlib|zlib.h|z")

# Without a codec the library refuses tables that need it, by name. An installed package brings its
# own choice: ASHLAR_CODECS.
if(NOT DEFINED ASHLAR_CODECS)
  set(ASHLAR_CODECS zstd lz4 snappy zlib CACHE STRING "The codecs to build with")
endif()
# find_package(Ashlar) runs this among the variables of its caller.
list(TRANSFORM ASHLAR_CODECS PREPEND "^" OUTPUT_VARIABLE ashlar_codec_patterns)
list(TRANSFORM ashlar_codec_patterns APPEND "[|]")
list(JOIN ashlar_codec_patterns "|" ashlar_codec_patterns)
if(ASHLAR_CODECS)
  list(FILTER ashlar_dependencies INCLUDE REGEX "${ashlar_codec_patterns}")
else()
  set(ashlar_dependencies "")
endif()

function(ashlar_find_dependencies)
  set(missing "")
  foreach(dependency IN LISTS ashlar_dependencies)
    string(REPLACE "|" ";" dependency ${dependency})
    list(POP_FRONT dependency name header library)
    set(shipped ${ASHLAR_SHIPPED_CODECS})
    list(FILTER shipped INCLUDE REGEX "^${name}[|]")
    if(shipped)
      string(REGEX REPLACE "^[^|]*[|]" "" shipped "${shipped}")
      if(NOT EXISTS "${shipped}")
        list(APPEND missing ${name})
      elseif(NOT TARGET Ashlar::${name})
        add_library(Ashlar::${name} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(Ashlar::${name} PROPERTIES IMPORTED_LOCATION "${shipped}")
      endif()
      continue()
    endif()
    find_path(ASHLAR_${name}_INCLUDE_DIR ${header})
    find_library(ASHLAR_${name}_LIBRARY ${library})
    mark_as_advanced(ASHLAR_${name}_INCLUDE_DIR ASHLAR_${name}_LIBRARY)
    if(NOT ASHLAR_${name}_INCLUDE_DIR OR NOT ASHLAR_${name}_LIBRARY)
      list(APPEND missing ${name})
    elseif(NOT TARGET Ashlar::${name})
      add_library(Ashlar::${name} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(Ashlar::${name} PROPERTIES
                            IMPORTED_LOCATION "${ASHLAR_${name}_LIBRARY}"
                            INTERFACE_INCLUDE_DIRECTORIES "${ASHLAR_${name}_INCLUDE_DIR}")
    endif()
  endforeach()

  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads QUIET)
  if(NOT Threads_FOUND)
    list(APPEND missing threads)
  endif()
  set(ASHLAR_MISSING "${missing}" PARENT_SCOPE)
endfunction()
