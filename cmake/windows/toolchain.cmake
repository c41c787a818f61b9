# The cross compiler: Debian's g++-mingw-w64-x86-64-posix. What it builds runs through wine.sh
# beside this file.
#
# Libraries come from the tree that cmake/windows/CMakeLists.txt installs, ASHLAR_WINDOWS_ROOT, and
# from nowhere else: the headers and libraries of this machine are not those of the target.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

if(NOT ASHLAR_WINDOWS_ROOT)
  cmake_path(SET ASHLAR_WINDOWS_ROOT NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build/windows-root)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASHLAR_WINDOWS_ROOT)
set(CMAKE_FIND_ROOT_PATH ${ASHLAR_WINDOWS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# A list: the file's mode is not kept by every way of copying a tree.
set(CMAKE_CROSSCOMPILING_EMULATOR bash;${CMAKE_CURRENT_LIST_DIR}/wine.sh)
