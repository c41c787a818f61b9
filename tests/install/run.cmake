# Installs the build into a fresh folder, builds the examples against it the four ways that a user
# would, and compares what they print.
#
#   CMake package × {shared, static}, pkg-config × {shared, static}; one of them from C, one by
#   RocksDB's header names
#
# Run by ctest: cmake -DSOURCE_DIR= -DBUILD_DIR= -DCC= -DCXX= -DLIB_DIR= -DVERSION= -P run.cmake

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(examples simple column_families ingestion failover replication persistent_tree)

install_and_move(bin/ashlar share/doc/ashlar/ashlar.cdx.json ${LIB_DIR}/libashlar.so
                 ${LIB_DIR}/libashlar.a include/ashlar/db.h include/ashlar/c.h include/rocksdb/db.h
                 include/rocksdb/utilities/options_util.h
                 include/rocksdb/utilities/transaction_db.h)

run(ignored ${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples -B ${work}/cmake -G Ninja
            -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
            -DCMAKE_BUILD_TYPE=Release)
run(ignored ${CMAKE_COMMAND} --build ${work}/cmake)
foreach(example IN LISTS examples ITEMS c_simple)
  expect_output(${example} ${work}/cmake/${example})
  expect_output(${example} ${work}/cmake/${example}_static)
endforeach()

# A project in C alone links the shared library, and keeps its variables.
file(WRITE ${work}/c_only/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(Project LANGUAGES C)
set(patterns own)
find_package(Ashlar REQUIRED COMPONENTS shared)
if(NOT patterns STREQUAL own)
  message(FATAL_ERROR \"find_package(Ashlar) changed a variable of the project\")
endif()
add_executable(c_simple \"${SOURCE_DIR}/examples/c_simple.c\")
target_link_libraries(c_simple PRIVATE Ashlar::ashlar)
")
run(ignored ${CMAKE_COMMAND} -S ${work}/c_only -B ${work}/c_only/build -G Ninja
            -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC} -DCMAKE_BUILD_TYPE=Release)
run(ignored ${CMAKE_COMMAND} --build ${work}/c_only/build)
expect_output(c_simple ${work}/c_only/build/c_simple)

find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIB_DIR}/pkgconfig)
run(version ${pkg_config} --modversion ashlar)
if(NOT version MATCHES "^${VERSION}[\r\n]*$")
  fail("pkg-config knows version ${version}, not ${VERSION}")
endif()
run(shared_flags ${pkg_config} --cflags --libs ashlar)
run(static_flags ${pkg_config} --cflags --libs --static ashlar)
if(shared_flags MATCHES ASHLAR_STATIC OR NOT static_flags MATCHES "-DASHLAR_STATIC")
  string(CONCAT text "only programs that link the static library are compiled with ASHLAR_STATIC: "
                     "${shared_flags}; ${static_flags}")
  fail("${text}")
endif()
# Beside a shared library the linker takes the static one only when it is asked for by its file's
# name.
string(REPLACE -lashlar -l:libashlar.a static_flags "${static_flags}")
separate_arguments(shared_flags UNIX_COMMAND "${shared_flags}")
separate_arguments(static_flags UNIX_COMMAND "${static_flags}")
set(rpath -Wl,-rpath,${prefix}/${LIB_DIR})
foreach(example IN LISTS examples)
  set(source ${SOURCE_DIR}/examples/${example}.cc)
  run(ignored ${CXX} -std=c++20 ${source} -o ${work}/${example}_shared ${shared_flags} ${rpath})
  expect_output(${example} ${work}/${example}_shared)
  run(ignored ${CXX} -std=c++20 ${source} -o ${work}/${example}_static ${static_flags})
  expect_output(${example} ${work}/${example}_static)
endforeach()

# From C, and by RocksDB's names.
run(ignored ${CC} -std=c11 ${SOURCE_DIR}/examples/c_simple.c -o ${work}/c_simple_shared
            ${shared_flags} ${rpath})
expect_output(c_simple ${work}/c_simple_shared)
file(READ ${SOURCE_DIR}/examples/simple.cc simple)
string(REPLACE "ashlar/" "rocksdb/" simple "${simple}")
string(REPLACE "ashlar::" "rocksdb::" simple "${simple}")
file(WRITE ${work}/simple_rocksdb.cc "${simple}")
run(ignored ${CXX} -std=c++20 ${work}/simple_rocksdb.cc -o ${work}/simple_rocksdb ${shared_flags}
            ${rpath})
expect_output(simple ${work}/simple_rocksdb)

# The version is part of the name that programs ask for at run time.
run(dynamic objdump -p ${work}/simple_shared)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" interface ${VERSION})
if(NOT dynamic MATCHES "NEEDED +libashlar\\.so\\.${interface}\n")
  fail("the example does not ask for libashlar.so.${interface}:\n${dynamic}")
endif()

# What is not marked ASHLAR_API stays inside: an exported symbol belongs to the namespace ashlar, to
# the C API or to the standard library's templates.
run(symbols nm -D --defined-only --demangle ${prefix}/${LIB_DIR}/libashlar.so)
string(REGEX MATCHALL "(^|\n)[0-9a-f]+ [TDBR] [^\n]*" strong "${symbols}")
string(CONCAT own "__bss_start|_edata|_end|ashlar::|ashlar_|rocksdb_|"
                  "(vtable|typeinfo|typeinfo name|VTT) for ashlar::|guard variable for ashlar::")
list(FILTER strong EXCLUDE REGEX "[TDBR] (${own})")
if(strong)
  fail("libashlar.so exports what is not its own: ${strong}")
endif()

file(REMOVE_RECURSE ${work})
