# cmake --install: the libraries, the public headers, the tool, the CMake package and the pkg-config
# file. cpack: one package of the same, a Debian package or, of Windows programs, a ZIP archive.
#
# The targets of the two libraries are exported apart: a program that links the shared library needs
# none of the codecs' development files, a program that links the static one does.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ashlar)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ashlar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)
# Under RocksDB's names: leave them out where RocksDB's own headers are installed in the same place.
option(ASHLAR_INSTALL_ROCKSDB_HEADERS
       "Install the headers that forward rocksdb/... to ashlar/..." ON)
if(ASHLAR_INSTALL_ROCKSDB_HEADERS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rocksdb ${PROJECT_BINARY_DIR}/include/rocksdb
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS librocksdb-dev)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_BINARY_DIR}/ashlar.cdx.json
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ashlar)

set_target_properties(ashlar_static PROPERTIES EXPORT_NAME ashlar_static)
install(TARGETS ashlar_static EXPORT AshlarStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT AshlarStaticTargets NAMESPACE Ashlar:: DESTINATION ${package_dir})
if(TARGET ashlar_shared)
  set_target_properties(ashlar_shared PROPERTIES EXPORT_NAME ashlar)
  install(TARGETS ashlar_shared EXPORT AshlarSharedTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT AshlarSharedTargets NAMESPACE Ashlar:: DESTINATION ${package_dir})
endif()
if(TARGET ashlar_cli)
  install(TARGETS ashlar_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Windows has no packages of the codecs: what the static library was built with is installed next to
# it.
option(ASHLAR_INSTALL_CODECS "Install the codecs that programs need which link the static library"
       ${WIN32})
set(ashlar_codecs_dir ${CMAKE_INSTALL_LIBDIR}/ashlar)
set(ashlar_shipped_codecs "")
if(ASHLAR_INSTALL_CODECS)
  foreach(dependency IN LISTS ashlar_dependencies)
    string(REGEX REPLACE "[|].*" "" name ${dependency})
    cmake_path(GET ASHLAR_${name}_LIBRARY FILENAME file)
    string(APPEND ashlar_shipped_codecs "\"${name}|${file}\" ")
    install(FILES ${ASHLAR_${name}_LIBRARY} DESTINATION ${ashlar_codecs_dir})
    # Of the codecs as they are: in the libraries, the DLL and the tool.
    install(DIRECTORY ${ASHLAR_WINDOWS_ROOT}/share/licenses/${name}
            DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ashlar/licenses OPTIONAL)
  endforeach()
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/AshlarConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/AshlarConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS ashlar_codecs_dir)
# Before 1.0 a program built for one minor version needs that minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AshlarConfig.cmake
              ${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/AshlarDependencies.cmake
        DESTINATION ${package_dir})

# Libs.private and not Requires.private: pkg-config wants the .pc file of everything named there
# even for a program that links the shared library.
set(ashlar_pc_private "")
set(ashlar_debian_packages "")
if(ashlar_shipped_codecs)
  string(APPEND ashlar_pc_private "-L\${libdir}/ashlar ")
endif()
set(debian_package_of_zstd libzstd-dev)
set(debian_package_of_lz4 liblz4-dev)
set(debian_package_of_snappy libsnappy-dev)
set(debian_package_of_zlib zlib1g-dev)
foreach(dependency IN LISTS ashlar_dependencies)
  string(REPLACE "|" ";" dependency ${dependency})
  list(GET dependency 0 name)
  list(GET dependency 2 library)
  string(APPEND ashlar_pc_private "-l${library} ")
  list(APPEND ashlar_debian_packages ${debian_package_of_${name}})
endforeach()
if(WIN32)
  string(APPEND ashlar_pc_private "-lsynchronization ")
endif()
# The file finds its prefix from its own place, so that a tree may be moved after the installation.
file(RELATIVE_PATH ashlar_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ashlar_pc_prefix ${ashlar_pc_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/ashlar.pc.in ${PROJECT_BINARY_DIR}/ashlar.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ashlar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(WIN32)
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
set(CPACK_PACKAGE_NAME ashlar)
set(CPACK_PACKAGE_CONTACT "The Ashlar developers <ashlar@localhost>")
set(CPACK_PACKAGE_DESCRIPTION "${PROJECT_DESCRIPTION}: library, headers and command-line tool")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Only a program that links libashlar.a needs these.
list(JOIN ashlar_debian_packages ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
include(CPack)
