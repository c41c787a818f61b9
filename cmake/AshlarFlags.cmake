# Decisions that depend on the compiler and its target, as functions without effects:
# tests/build_flags runs them for compilers that are not here.

# ashlar_warning_flags(<variable> <id> <frontend>): the flags that warn and that read sources as
# they are written. <id> is CMAKE_CXX_COMPILER_ID, <frontend> CMAKE_CXX_COMPILER_FRONTEND_VARIANT:
# clang-cl is Clang with the command line of MSVC, where -Wall means -Weverything.
# Quoted below: MSVC alone would be the variable of that name.
function(ashlar_warning_flags variable id frontend)
  if(id STREQUAL "MSVC" OR frontend STREQUAL "MSVC")
    # Sources are UTF-8; large tests have more sections than the plain object format counts.
    set(flags /W4 /utf-8 /bigobj /permissive- /Zc:__cplusplus)
  else()
    set(flags -Wall -Wextra)
  endif()
  if(NOT id STREQUAL "MSVC")
    list(APPEND flags -Wconversion -Wsign-conversion -Wshadow)
  endif()
  if(id MATCHES "Clang")
    # The order of locks (ACQUIRED_BEFORE) is checked by the second flag alone.
    list(APPEND flags -Wthread-safety -Wthread-safety-beta)
  endif()
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

# ashlar_error_flag(<variable> <id> <frontend>): the flag that makes warnings errors.
function(ashlar_error_flag variable id frontend)
  if(id STREQUAL "MSVC" OR frontend STREQUAL "MSVC")
    set(${variable} /WX PARENT_SCOPE)
  else()
    set(${variable} -Werror PARENT_SCOPE)
  endif()
endfunction()

# ashlar_strict_flag(<variable> <id> <frontend>): the flag that refuses what is no C++20, as MSVC
# refuses it by /permissive-.
function(ashlar_strict_flag variable id frontend)
  if(id STREQUAL "MSVC" OR frontend STREQUAL "MSVC")
    set(${variable} "" PARENT_SCOPE)
  else()
    set(${variable} -pedantic-errors PARENT_SCOPE)
  endif()
endfunction()

# ashlar_static_library_name(<variable>): the static library's name without prefix and suffix. Where
# import libraries are called like static ones, as under MSVC and clang-cl, ashlar.lib is the DLL's.
function(ashlar_static_library_name variable)
  if(CMAKE_IMPORT_LIBRARY_SUFFIX AND
     "${CMAKE_STATIC_LIBRARY_PREFIX}${CMAKE_STATIC_LIBRARY_SUFFIX}" STREQUAL
     "${CMAKE_IMPORT_LIBRARY_PREFIX}${CMAKE_IMPORT_LIBRARY_SUFFIX}")
    set(${variable} ashlar_static PARENT_SCOPE)
  else()
    set(${variable} ashlar PARENT_SCOPE)
  endif()
endfunction()
