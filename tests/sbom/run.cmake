# The bill of materials names what is linked, with versions, and nothing else.
#
# Run by ctest: cmake -DSBOM= -DLIBRARY= -DVERSION= -DCODECS= -P run.cmake; LIBRARY is the shared
# library
cmake_minimum_required(VERSION 3.25)

file(READ ${SBOM} sbom)
string(JSON format GET "${sbom}" bomFormat)
string(JSON version GET "${sbom}" metadata component version)
if(NOT format STREQUAL CycloneDX OR NOT version STREQUAL VERSION)
  message(SEND_ERROR "${SBOM} is of format ${format} and of version ${version}, not ${VERSION}")
endif()

set(expected xxhash ${CODECS})
string(JSON count LENGTH "${sbom}" components)
math(EXPR last "${count} - 1")
set(named "")
foreach(index RANGE ${last})
  string(JSON name GET "${sbom}" components ${index} name)
  string(JSON version ERROR_VARIABLE error GET "${sbom}" components ${index} version)
  string(JSON license ERROR_VARIABLE license_error
         GET "${sbom}" components ${index} licenses 0 license id)
  if(error OR NOT version MATCHES "^[0-9]+\\.[0-9]+" OR license_error)
    message(SEND_ERROR "${name}: version '${version}', license '${license}'")
  endif()
  list(APPEND named ${name})
endforeach()
list(SORT expected)
list(SORT named)
if(NOT named STREQUAL expected)
  message(SEND_ERROR "the bill of materials names ${named}; the build uses ${expected}")
endif()

# What the library asks the loader for, other than the system's own.
execute_process(COMMAND readelf -dW ${LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED[^[]*\\[[^]]*" needed "${dynamic}")
foreach(entry IN LISTS needed)
  string(REGEX REPLACE ".*\\[lib([^.]*)\\..*" "\\1" name "${entry}")
  if(name STREQUAL z)
    set(name zlib)
  endif()
  if(NOT name MATCHES "^(c|m|pthread|dl|rt|atomic|stdc\\+\\+|gcc_s)$" AND
     NOT entry MATCHES "ld-linux" AND NOT name IN_LIST named)
    message(SEND_ERROR "the library needs lib${name}, which the bill of materials does not name")
  endif()
endforeach()
