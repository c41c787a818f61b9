# Installs the Windows build into a fresh folder, builds the examples against it with the CMake package, linked with the DLL and with the static library,
# runs them, and compares what they print.
#
# Run by ctest: cmake -DSOURCE_DIR= -DBUILD_DIR= -DTOOLCHAIN= -DWINDOWS_ROOT= -DOBJDUMP= -P run_windows.cmake

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# persistent_tree is built and not run: it starts itself through the shell, in the way of POSIX.
set(examples simple column_families)
set(launcher bash ${SOURCE_DIR}/cmake/windows/wine.sh)

install_and_move(bin/ashlar.exe bin/libashlar.dll lib/libashlar.dll.a lib/libashlar.a include/ashlar/db.h include/ashlar/c.h include/rocksdb/db.h)

run(ignored ${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples -B ${work}/cmake -G Ninja --toolchain ${TOOLCHAIN} -DASHLAR_WINDOWS_ROOT=${WINDOWS_ROOT}
            -DAshlar_DIR=${prefix}/lib/cmake/Ashlar -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS=-static)
run(ignored ${CMAKE_COMMAND} --build ${work}/cmake)

# Where Windows looks for a program's DLLs: beside it, and in the path.
string(REPLACE "/" "\\" bin "Z:${prefix}/bin")
set(ENV{WINEPATH} "${bin}")
foreach(example IN LISTS examples ITEMS c_simple)
  expect_output(${example} ${work}/cmake/${example}.exe)
  expect_output(${example} ${work}/cmake/${example}_static.exe)
endforeach()

# The programs that are linked with the DLL ask for it, the others for nothing but the system; the DLL brings its runtime along.
function(expect_imports binary pattern)
  run(headers ${OBJDUMP} -p ${binary})
  string(REGEX MATCHALL "DLL Name: [^\r\n]+" imports "${headers}")
  list(TRANSFORM imports REPLACE "DLL Name: " "")
  list(FILTER imports EXCLUDE REGEX "^(KERNEL32|SHELL32|msvcrt|api-ms-win-core-synch-l1-2-0)\\.dll$")
  if(NOT imports MATCHES "${pattern}")
    fail("${binary} asks for ${imports}, which does not match ${pattern}")
  endif()
endfunction()
expect_imports(${work}/cmake/simple.exe "^libashlar\\.dll$")
expect_imports(${work}/cmake/simple_static.exe "^$")
expect_imports(${prefix}/bin/ashlar.exe "^$")
expect_imports(${prefix}/bin/libashlar.dll "^$")

# Every function of the C interface is exported, and what is exported is ours.
run(headers ${OBJDUMP} -p ${prefix}/bin/libashlar.dll)
string(REGEX MATCHALL "\n[ \t]*\\[ *[0-9]+\\] [A-Za-z_][A-Za-z0-9_]*" exports "${headers}")
list(TRANSFORM exports REPLACE ".*[ \t]" "")
file(READ ${SOURCE_DIR}/include/ashlar/c.h declarations)
string(REGEX MATCHALL "ASHLAR_API [^;(]*rocksdb_[a-z0-9_]+\\(" functions "${declarations}")
list(TRANSFORM functions REPLACE ".*(rocksdb_[a-z0-9_]+)\\(" "\\1")
list(REMOVE_DUPLICATES functions)
list(LENGTH functions declared)
set(missing ${functions})
list(REMOVE_ITEM missing ${exports})
if(missing OR declared LESS 500)
  fail("of the ${declared} functions of ashlar/c.h, libashlar.dll does not export: ${missing}")
endif()
set(foreign ${exports})
list(FILTER foreign EXCLUDE REGEX "^(rocksdb_|_ZN?K?V?[0-9A-Z]*.*6ashlar|_Z[A-Za-z]*.*6ashlar)")
if(foreign)
  fail("libashlar.dll exports what is not its own: ${foreign}")
endif()

file(REMOVE_RECURSE ${work})
