# Installs the Windows build into a fresh folder, builds the examples against it with the CMake
# package, linked with the DLL and with the static library, runs them, and compares what they print.
#
# Run by ctest: cmake -DSOURCE_DIR= -DBUILD_DIR= -DTOOLCHAIN= -DCXX= -DOBJDUMP= -DCPACK= -DCODECS=
# -DINTERFACE= -P run_windows.cmake

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# persistent_tree is built and not run: it starts itself through the shell, in the way of POSIX.
set(examples simple column_families)
set(launcher bash ${SOURCE_DIR}/cmake/windows/wine.sh)

set(dll libashlar-${INTERFACE}.dll)
install_and_move(bin/ashlar.exe bin/${dll} lib/libashlar.dll.a lib/libashlar.a include/ashlar/db.h
                 include/ashlar/c.h include/rocksdb/db.h)

# The codecs come along, with their licences, and nothing speaks of another system's packages.
foreach(codec IN LISTS CODECS)
  string(REGEX REPLACE "^zlib$" "z" file ${codec})
  file(GLOB licences ${prefix}/share/doc/ashlar/licenses/${codec}/*)
  if(NOT EXISTS ${prefix}/lib/ashlar/lib${file}.a OR NOT licences)
    fail("the installation lacks ${codec}, or its licence")
  endif()
endforeach()
file(GLOB_RECURSE texts ${prefix}/lib/*.cmake ${prefix}/lib/*.pc)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  if(content MATCHES "lib[a-z0-9]+-dev|zlib1g|Debian|apt-get")
    fail("${text} names a package of Debian: ${CMAKE_MATCH_0}")
  endif()
endforeach()

# A consumer has the toolchain and the installation, and none of the libraries that the build found.
run(ignored ${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples -B ${work}/cmake -G Ninja
            --toolchain ${TOOLCHAIN} -DASHLAR_WINDOWS_ROOT=${work}/nothing
            -DAshlar_DIR=${prefix}/lib/cmake/Ashlar -DCMAKE_BUILD_TYPE=Release
            -DCMAKE_EXE_LINKER_FLAGS=-static)
run(ignored ${CMAKE_COMMAND} --build ${work}/cmake)

# Where Windows looks for a program's DLLs: beside it, and in the path.
string(REPLACE "/" "\\" bin "Z:${prefix}/bin")
set(ENV{WINEPATH} "${bin}")
foreach(example IN LISTS examples ITEMS c_simple)
  expect_output(${example} ${work}/cmake/${example}.exe)
  expect_output(${example} ${work}/cmake/${example}_static.exe)
endforeach()

# By pkg-config, statically: the flags say so to the headers, and name the codecs.
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/lib/pkgconfig)
run(flags ${pkg_config} --cflags --libs --static ashlar)
string(REPLACE -lashlar -l:libashlar.a flags "${flags}")
separate_arguments(flags UNIX_COMMAND "${flags}")
run(ignored ${CXX} -std=c++20 -O2 ${SOURCE_DIR}/examples/simple.cc
            -o ${work}/simple_by_pkg_config.exe -static ${flags})
expect_output(simple ${work}/simple_by_pkg_config.exe)
run(flags ${pkg_config} --cflags --libs ashlar)
if(flags MATCHES "ASHLAR_STATIC|zstd")
  fail("a program that links the DLL is told of the static library: ${flags}")
endif()

# The programs that are linked with the DLL ask for it, the others for nothing but the system; the
# DLL brings its runtime along.
function(expect_imports binary pattern)
  run(headers ${OBJDUMP} -p ${binary})
  string(REGEX MATCHALL "DLL Name: [^\r\n]+" imports "${headers}")
  list(TRANSFORM imports REPLACE "DLL Name: " "")
  list(FILTER imports EXCLUDE REGEX
       "^(KERNEL32|SHELL32|msvcrt|api-ms-win-core-synch-l1-2-0)\\.dll$")
  if(NOT imports MATCHES "${pattern}")
    fail("${binary} asks for ${imports}, which does not match ${pattern}")
  endif()
endfunction()
expect_imports(${work}/cmake/simple.exe "^libashlar-[0-9]+\\.[0-9]+\\.dll$")
expect_imports(${work}/cmake/simple_static.exe "^$")
expect_imports(${work}/simple_by_pkg_config.exe "^$")
expect_imports(${prefix}/bin/ashlar.exe "^$")
expect_imports(${prefix}/bin/${dll} "^$")

# Every function of the C interface is exported, and what is exported is ours.
run(headers ${OBJDUMP} -p ${prefix}/bin/${dll})
string(REGEX MATCHALL "\n[ \t]*\\[ *[0-9]+\\] [A-Za-z_][A-Za-z0-9_]*" exports "${headers}")
list(TRANSFORM exports REPLACE ".*[ \t]" "")
file(READ ${SOURCE_DIR}/include/ashlar/c.h declarations)
string(REGEX MATCHALL "ASHLAR_API [^;(]*[ *](ashlar|rocksdb)_[a-z0-9_]+\\(" functions
       "${declarations}")
list(TRANSFORM functions REPLACE ".*[ *]((ashlar|rocksdb)_[a-z0-9_]+)\\(" "\\1")
list(REMOVE_DUPLICATES functions)
list(LENGTH functions declared)
set(missing ${functions})
list(REMOVE_ITEM missing ${exports})
if(missing OR declared LESS 500)
  fail("of the ${declared} functions of ashlar/c.h, ${dll} does not export: ${missing}")
endif()
set(foreign ${exports})
list(FILTER foreign EXCLUDE REGEX
     "^(ashlar_|rocksdb_|_ZN?K?V?[0-9A-Z]*.*6ashlar|_Z[A-Za-z]*.*6ashlar)")
if(foreign)
  fail("${dll} exports what is not its own: ${foreign}")
endif()

# Without a generator named, cpack makes what Windows can open.
run(ignored ${CPACK} --config ${BUILD_DIR}/CPackConfig.cmake -B ${work}/package)
file(GLOB packages RELATIVE ${work}/package ${work}/package/*.*)
list(FILTER packages EXCLUDE REGEX "^_")
if(NOT packages MATCHES "^ashlar-[0-9.]+-win64\\.zip$")
  fail("cpack makes ${packages}, not one ZIP archive")
endif()
run(contents ${CMAKE_COMMAND} -E tar tf ${work}/package/${packages})
foreach(file IN ITEMS bin/ashlar.exe bin/${dll} lib/libashlar.a lib/ashlar/libz.a)
  if(NOT contents MATCHES "ashlar-[^\n]*-win64/${file}")
    fail("the ZIP archive lacks ${file}:\n${contents}")
  endif()
endforeach()

file(REMOVE_RECURSE ${work})
