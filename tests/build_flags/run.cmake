# What each compiler is given, and what the two libraries are called for it.
#
# Run by ctest: cmake -DSOURCE_DIR= -DBUILD_DIR= -DCLANG_CL= -P run.cmake; CLANG_CL may be empty.
cmake_minimum_required(VERSION 3.25)
include(${SOURCE_DIR}/cmake/AshlarFlags.cmake)

# expect_flags(<id> <frontend> HAS <flags> LACKS <patterns>)
function(expect_flags id frontend)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "HAS;LACKS")
  ashlar_warning_flags(flags "${id}" "${frontend}")
  ashlar_error_flag(error "${id}" "${frontend}")
  ashlar_strict_flag(strict "${id}" "${frontend}")
  list(APPEND flags ${error} ${strict})
  foreach(flag IN LISTS arg_HAS)
    if(NOT flag IN_LIST flags)
      message(SEND_ERROR "${id} ${frontend}: ${flag} is not in ${flags}")
    endif()
  endforeach()
  foreach(pattern IN LISTS arg_LACKS)
    set(found ${flags})
    list(FILTER found INCLUDE REGEX "${pattern}")
    if(found)
      message(SEND_ERROR "${id} ${frontend}: ${found} is not for it")
    endif()
  endforeach()
endfunction()

expect_flags(MSVC MSVC HAS /W4 /WX /utf-8 /bigobj LACKS "^-")
expect_flags(Clang MSVC HAS /W4 /WX /utf-8 /bigobj -Wconversion -Wthread-safety
             -Wthread-safety-beta LACKS "^-Wall$" "^-Werror$" pedantic)
expect_flags(Clang GNU HAS -Wall -Wextra -Werror -Wconversion -Wthread-safety -Wthread-safety-beta
             -pedantic-errors LACKS "^/")
expect_flags(AppleClang GNU HAS -Wall -Werror -Wthread-safety -Wthread-safety-beta LACKS "^/")
expect_flags(GNU GNU HAS -Wall -Wextra -Werror -Wshadow -pedantic-errors LACKS "^/" "thread-safety")
expect_flags(GNU "" HAS -Wall LACKS "^/")

# expect_names(<static prefix> <static suffix> <import prefix> <import suffix> <name>)
function(expect_names static_prefix static_suffix import_prefix import_suffix expected)
  set(CMAKE_STATIC_LIBRARY_PREFIX "${static_prefix}")
  set(CMAKE_STATIC_LIBRARY_SUFFIX "${static_suffix}")
  set(CMAKE_IMPORT_LIBRARY_PREFIX "${import_prefix}")
  set(CMAKE_IMPORT_LIBRARY_SUFFIX "${import_suffix}")
  ashlar_static_library_name(name)
  if(NOT name STREQUAL expected)
    message(SEND_ERROR "${static_suffix} and ${import_suffix}: the static library is ${name}, "
                       "not ${expected}")
  endif()
endfunction()
expect_names("" .lib "" .lib ashlar_static)  # MSVC, clang-cl
expect_names(lib .a lib .dll.a ashlar)       # mingw-w64
expect_names(lib .a "" "" ashlar)            # Linux

if(CLANG_CL)
  # Nothing of the system's: the headers of MSVC are not here.
  set(work ${BUILD_DIR}/build_flags_test)
  file(MAKE_DIRECTORY ${work})
  file(WRITE ${work}/utf8.cc "static_assert(sizeof(\"é\") == 3);\nint Answer() { return 42; }\n")
  ashlar_warning_flags(flags Clang MSVC)
  ashlar_error_flag(error Clang MSVC)
  execute_process(COMMAND ${CLANG_CL} --target=x86_64-pc-windows-msvc /std:c++20 ${flags} ${error}
                          /c /Fo${work}/utf8.obj -- ${work}/utf8.cc
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR output MATCHES "warning")
    message(SEND_ERROR "clang-cl does not take ${flags} ${error}:\n${output}")
  endif()
  # Every file of a build is given them, and the two libraries have names of their own.
  file(WRITE ${work}/toolchain.cmake "set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
foreach(language IN ITEMS C CXX)
  set(CMAKE_\${language}_COMPILER ${CLANG_CL})
  set(CMAKE_\${language}_COMPILER_TARGET x86_64-pc-windows-msvc)
  set(CMAKE_\${language}_COMPILER_WORKS ON)
endforeach()
set(CMAKE_LINKER ${CLANG_CL})
set(CMAKE_MT ${CLANG_CL})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_HAVE_LIBC_PTHREAD ON)
")
  file(REMOVE_RECURSE ${work}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/build -G Ninja
                          --toolchain ${work}/toolchain.cmake -DCMAKE_BUILD_TYPE=Release
                          -DASHLAR_CODECS= -DASHLAR_BUILD_TESTS=OFF -DASHLAR_BUILD_TOOLS=OFF
                          -DASHLAR_BUILD_BENCH=OFF -DASHLAR_WARNINGS_AS_ERRORS=ON
                          -DASHLAR_xxhash_INCLUDE_DIR=/usr/include -DASHLAR_CCACHE=
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the build for clang-cl is not configured:\n${output}")
  endif()
  file(READ ${work}/build/compile_commands.json commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON command GET "${commands}" ${index} command)
    if(NOT command MATCHES " /WX /W4 /utf-8 /bigobj " OR
       command MATCHES " -W(all|extra|error) | -pedantic| -f| -O")
      message(SEND_ERROR "flags that clang-cl should not get, or lacks: ${command}")
    endif()
  endforeach()
  file(READ ${work}/build/build.ninja rules)
  foreach(file IN ITEMS ashlar_static.lib ashlar.lib ashlar-[0-9]+.[0-9]+.dll)
    if(NOT rules MATCHES "[ /]${file}[ :\n]")
      message(SEND_ERROR "the build for clang-cl makes no ${file}")
    endif()
  endforeach()
endif()
