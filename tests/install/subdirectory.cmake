# A project that takes in Ashlar with add_subdirectory, configured with and without a build type:
# how the library's sources are compiled.
#
# Run by ctest: cmake -DSOURCE_DIR= -DBUILD_DIR= -DCC= -DCXX= -P subdirectory.cmake

set(work ${BUILD_DIR}/tests/subdirectory)
file(REMOVE_RECURSE ${work})

file(WRITE ${work}/project/program.cc "int main() {}\n")
file(WRITE ${work}/project/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(Project LANGUAGES C CXX)
add_subdirectory(\"${SOURCE_DIR}\" ashlar)
add_executable(program program.cc)
target_link_libraries(program PRIVATE Ashlar::ashlar_static)
")

# configure(<build folder> <options…>): sets library_commands and program_command, how the library's
# sources and the program are compiled, and output. Cases share a folder where they can: most of the
# time goes into finding out about the compilers.
function(configure folder)
  # The environment's flags would be taken for the project's.
  set(ENV{CFLAGS} "")
  set(ENV{CXXFLAGS} "")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${work}/project -B ${work}/${folder}
                          -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
                          -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the project cannot be configured with ${ARGN}:\n${output}${errors}")
  endif()
  file(STRINGS ${work}/${folder}/compile_commands.json commands REGEX "\"command\":")
  set(library_commands ${commands})
  list(FILTER library_commands INCLUDE REGEX " -c ${SOURCE_DIR}/src/")
  set(program_command ${commands})
  list(FILTER program_command INCLUDE REGEX "/project/program\\.cc")
  list(LENGTH library_commands number)
  if(number LESS 50 OR NOT program_command)
    message(FATAL_ERROR "with ${ARGN}, only ${number} sources of the library, or no program, are "
                        "compiled")
  endif()
  set(library_commands "${library_commands}" PARENT_SCOPE)
  set(program_command "${program_command}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(<case> <what> <regular expression> <commands…>): every command matches; expect_not: none
# does.
function(expect case what pattern)
  foreach(command IN LISTS ARGN)
    if(NOT command MATCHES "${pattern}")
      message(FATAL_ERROR "${case}: ${what} is compiled without ${pattern}:\n${command}")
    endif()
  endforeach()
endfunction()
function(expect_not case what pattern)
  foreach(command IN LISTS ARGN)
    if(command MATCHES "${pattern}")
      message(FATAL_ERROR "${case}: ${what} is compiled with ${pattern}:\n${command}")
    endif()
  endforeach()
endfunction()

configure(one_type -G Ninja)
expect("no build type" "the library" " -O2 .*-DNDEBUG " ${library_commands})
expect_not("no build type" "the program" " (-O2|-DNDEBUG) " "${program_command}")
if(NOT output MATCHES "CMAKE_BUILD_TYPE is empty")
  message(FATAL_ERROR "no build type: configuring does not report it:\n${output}")
endif()

configure(one_type -DCMAKE_CXX_FLAGS=-O3)
expect("flags of the project" "the library" " -O2 .* -O3 " ${library_commands})

configure(one_type -DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=Debug)
expect_not("build type Debug" "the library" " (-O[1-3]|-DNDEBUG) " ${library_commands})

configure(one_type -DCMAKE_BUILD_TYPE=Release)
expect("build type Release" "the library" " -O3 -DNDEBUG " ${library_commands})
expect_not("build type Release" "the library" " -O2 " ${library_commands})
if(output MATCHES "CMAKE_BUILD_TYPE is empty")
  message(FATAL_ERROR "build type Release is not seen:\n${output}")
endif()

configure(several_types -G "Ninja Multi-Config")
if(output MATCHES "CMAKE_BUILD_TYPE is empty")
  message(FATAL_ERROR "a generator of several build types has one of its own:\n${output}")
endif()

file(REMOVE_RECURSE ${work})
