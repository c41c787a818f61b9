# The bill of materials: which libraries are in libashlar, in which versions, as CycloneDX 1.5.
#
#   ashlar_write_sbom(<file>)   from what the build is configured with: ashlar_dependencies, and
#                               xxhash, of which only headers are used
#
# Versions are those of the headers that are compiled against, because the codecs may be static
# libraries without one.

# ashlar_header_version(<variable> <header> <pattern>...): the numbers that these #define lines of
# the header have, joined by dots; empty if one is missing.
function(ashlar_header_version variable header)
  set(version "")
  foreach(name IN LISTS ARGN)
    set(line "")
    if(EXISTS ${header})
      file(STRINGS ${header} line REGEX "^# *define +${name} +\"?[0-9.]+\"?" LIMIT_COUNT 1)
    endif()
    if(NOT line MATCHES "${name} +\"?([0-9.]+)")
      set(${variable} "" PARENT_SCOPE)
      return()
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version . version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

# ashlar_component(<variable> <name> <version> <license> <homepage>): a component as JSON.
function(ashlar_component variable name version license homepage)
  set(component "{\"type\": \"library\", \"bom-ref\": \"${name}\", \"name\": \"${name}\"}")
  if(NOT version STREQUAL "")
    string(JSON component SET "${component}" version "\"${version}\"")
    string(JSON component SET "${component}" purl "\"pkg:generic/${name}@${version}\"")
  endif()
  string(JSON component SET "${component}" licenses "[{\"license\": {\"id\": \"${license}\"}}]")
  string(JSON component SET "${component}" externalReferences
         "[{\"type\": \"website\", \"url\": \"${homepage}\"}]")
  set(${variable} "${component}" PARENT_SCOPE)
endfunction()

function(ashlar_write_sbom file)
  set(components "[]")
  set(depends "[]")
  set(count 0)
  set(names xxhash)
  foreach(dependency IN LISTS ashlar_dependencies)
    string(REGEX REPLACE "[|].*" "" name ${dependency})
    list(APPEND names ${name})
  endforeach()
  foreach(name IN LISTS names)
    set(folder "${ASHLAR_${name}_INCLUDE_DIR}")
    if(name STREQUAL zstd)
      ashlar_header_version(version ${folder}/zstd.h
                            ZSTD_VERSION_MAJOR ZSTD_VERSION_MINOR ZSTD_VERSION_RELEASE)
      ashlar_component(component zstd "${version}" BSD-3-Clause https://facebook.github.io/zstd/)
    elseif(name STREQUAL lz4)
      ashlar_header_version(version ${folder}/lz4.h
                            LZ4_VERSION_MAJOR LZ4_VERSION_MINOR LZ4_VERSION_RELEASE)
      ashlar_component(component lz4 "${version}" BSD-2-Clause https://lz4.org/)
    elseif(name STREQUAL snappy)
      ashlar_header_version(version ${folder}/snappy-stubs-public.h
                            SNAPPY_MAJOR SNAPPY_MINOR SNAPPY_PATCHLEVEL)
      ashlar_component(component snappy "${version}" BSD-3-Clause https://google.github.io/snappy/)
    elseif(name STREQUAL zlib)
      ashlar_header_version(version ${folder}/zlib.h ZLIB_VERSION)
      ashlar_component(component zlib "${version}" Zlib https://zlib.net/)
    elseif(name STREQUAL xxhash)
      ashlar_header_version(version ${folder}/xxhash.h
                            XXH_VERSION_MAJOR XXH_VERSION_MINOR XXH_VERSION_RELEASE)
      ashlar_component(component xxhash "${version}" BSD-2-Clause https://xxhash.com/)
    else()
      message(FATAL_ERROR "The bill of materials knows nothing of ${name}: "
                          "add it to cmake/AshlarSbom.cmake.")
    endif()
    string(JSON components SET "${components}" ${count} "${component}")
    string(JSON depends SET "${depends}" ${count} "\"${name}\"")
    math(EXPR count "${count} + 1")
  endforeach()

  set(sbom "{\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.5\", \"version\": 1}")
  string(CONCAT ashlar "{\"type\": \"library\", \"bom-ref\": \"ashlar\", \"name\": \"ashlar\", "
                       "\"version\": \"${PROJECT_VERSION}\", "
                       "\"description\": \"${PROJECT_DESCRIPTION}\"}")
  string(JSON sbom SET "${sbom}" metadata "{\"component\": ${ashlar}}")
  string(JSON sbom SET "${sbom}" components "${components}")
  string(JSON sbom SET "${sbom}" dependencies "[{\"ref\": \"ashlar\", \"dependsOn\": ${depends}}]")
  file(CONFIGURE OUTPUT ${file} CONTENT "@sbom@\n" @ONLY)
endfunction()
