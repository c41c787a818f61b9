# ashlar_add_test(<name> SOURCES <files> [SHARDS <n>] [PARTS <n>] [LABELS <labels>]
#                 [LIBRARIES <targets>] [STANDALONE])
#
# One test binary, build/<preset>/tests/<name>, registered with ctest: as <name>, or, with SHARDS
# above 1, as <name>.1 … <name>.n, which ctest runs side by side. With PARTS, they run one test in
# <n>, the same ones each time. Every test is ended after ASHLAR_TEST_TIMEOUT seconds. A test may
# use gtest, gmock, the helpers in tests/support/, the library's internals (unless STANDALONE: then
# it builds and runs also while the library does not), and the paths in tests/support/places.h.

find_package(GTest REQUIRED)
set(ASHLAR_TEST_TIMEOUT 300 CACHE STRING "Seconds after which a test binary is ended")

# What all test binaries share. They must be compiled alike, or they could not share the precompiled
# header.
add_library(ashlar_test_options INTERFACE)
target_include_directories(ashlar_test_options INTERFACE
                           ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                           ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(ashlar_test_options INTERFACE ASHLAR_STATIC)
target_link_libraries(ashlar_test_options INTERFACE GTest::gtest GTest::gmock)
if(MINGW)
  # What is tested is optimised; optimising the tests as well would double the time of a build that
  # runs next to another.
  target_compile_options(ashlar_test_options INTERFACE -O0)
endif()

# The only file that is compiled with paths: the compiler cache serves all others to every checkout.
add_library(ashlar_test_places STATIC ${PROJECT_SOURCE_DIR}/tests/support/places.cc)
target_include_directories(ashlar_test_places PRIVATE ${PROJECT_SOURCE_DIR})
set(shared_library $<$<TARGET_EXISTS:ashlar_shared>:$<TARGET_FILE_NAME:ashlar_shared>>)
target_compile_definitions(ashlar_test_places PRIVATE
  ASHLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ASHLAR_BUILD_DIR="${PROJECT_BINARY_DIR}"
  ASHLAR_SHARED_LIBRARY="${PROJECT_BINARY_DIR}/${shared_library}")

if(ASHLAR_PRECOMPILED_HEADERS)
  file(WRITE ${PROJECT_BINARY_DIR}/empty.cc "")
  add_library(ashlar_test_pch OBJECT ${PROJECT_BINARY_DIR}/empty.cc)
  target_link_libraries(ashlar_test_pch PRIVATE ashlar_test_options)
  target_precompile_headers(ashlar_test_pch PRIVATE <gtest/gtest.h>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Lets ccache see through the precompiled header.
    target_compile_options(ashlar_test_options INTERFACE -fpch-preprocess)
    # gcc keeps quiet about these in the standard library's headers, but forgets that they are
    # system headers once they are precompiled.
    target_compile_options(ashlar_test_options INTERFACE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict
      -Wno-maybe-uninitialized -Wno-free-nonheap-object)
  endif()
endif()

if(ASHLAR_SANITIZER)
  # For the functions and lines of a report. Clang's package lacks LLVM's program for them.
  find_program(ASHLAR_ADDR2LINE addr2line REQUIRED)
  set(symbolizer "external_symbolizer_path=${ASHLAR_ADDR2LINE}")
  if(ASHLAR_SANITIZER MATCHES thread)
    # tests/kill forks processes that start threads. In them, nothing is checked.
    set(ashlar_test_environment
        "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:${symbolizer}")
  else()
    set(ashlar_test_environment
        "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:${symbolizer}"
        "UBSAN_OPTIONS=print_stacktrace=1:${symbolizer}")
  endif()
endif()

# A build that leaves out a codec cannot run these, which write and read with each; ctest names them
# as disabled. no_codecs_test needs none.
set(ashlar_tests_of_codecs base_test table_test wal_test engine_test capi_test capi_program_shared
                           capi_program_static cli_test db_bench_test interchange_test faults_test
                           model_test crash_test golden_test)
set(ashlar_codecs_missing zstd lz4 snappy zlib)
list(REMOVE_ITEM ashlar_codecs_missing ${ASHLAR_CODECS} "")

function(ashlar_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg STANDALONE "SHARDS;PARTS" "SOURCES;LABELS;LIBRARIES")
  if(TARGET ${name})
    message(FATAL_ERROR "Two sets of tests are called ${name}: a folder in tests/ may not have the "
                        "name of a folder in src/.")
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ashlar_test_options ${arg_LIBRARIES} ashlar_test_places
                                        GTest::gtest_main)
  if(NOT arg_STANDALONE)
    target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:ashlar_test_support>
                                          $<TARGET_NAME_IF_EXISTS:ashlar_static>)
  endif()
  if(ASHLAR_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} REUSE_FROM ashlar_test_pch)
  endif()

  set(shards 1)
  if(arg_SHARDS)
    set(shards ${arg_SHARDS})
  endif()
  set(parts 1)
  if(arg_PARTS)
    set(parts ${arg_PARTS})
  endif()
  math(EXPR all_shards "${shards} * ${parts}")
  foreach(shard RANGE 1 ${shards})
    set(test ${name})
    set(environment ${ashlar_test_environment})
    if(shards GREATER 1)
      set(test ${name}.${shard})
    endif()
    if(all_shards GREATER 1)
      math(EXPR index "${shard} - 1")
      list(APPEND environment GTEST_TOTAL_SHARDS=${all_shards} GTEST_SHARD_INDEX=${index})
    endif()
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${ASHLAR_TEST_TIMEOUT}
                                            ENVIRONMENT "${environment}" LABELS "${arg_LABELS}")
    if(ashlar_codecs_missing AND name IN_LIST ashlar_tests_of_codecs)
      set_tests_properties(${test} PROPERTIES DISABLED ON)
    endif()
  endforeach()
endfunction()

# ashlar_check_headers(<target> <root> <headers>): builds one source file per header that includes
# nothing else, so that a header which does not stand alone breaks the build. The headers are named
# relative to <root>.
function(ashlar_check_headers target root)
  set(sources "")
  foreach(header IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${header} identifier)
    set(source ${PROJECT_BINARY_DIR}/${target}/${identifier}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(${target} OBJECT ${sources})
    target_include_directories(${target} PRIVATE
                               ${root} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
    if(NOT MSVC)
      target_compile_options(${target} PRIVATE -O0 -g0 -U_FORTIFY_SOURCE)
    endif()
  endif()
endfunction()
