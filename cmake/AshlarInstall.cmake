# cmake --install: the libraries, the public headers, the tool, the CMake package and the pkg-config file. cpack -G DEB: one Debian package of the same.
#
# The targets of the two libraries are exported apart: a program that links the shared library needs none of the codecs' development files,
# a program that links the static one does.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Ashlar)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ashlar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
# Under RocksDB's names: leave them out where RocksDB's own headers are installed in the same place.
option(ASHLAR_INSTALL_ROCKSDB_HEADERS "Install the headers that forward rocksdb/... to ashlar/..." ON)
if(ASHLAR_INSTALL_ROCKSDB_HEADERS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rocksdb ${PROJECT_BINARY_DIR}/include/rocksdb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN *.h)
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS librocksdb-dev)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ashlar)

set_target_properties(ashlar_static PROPERTIES EXPORT_NAME ashlar_static)
install(TARGETS ashlar_static EXPORT AshlarStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT AshlarStaticTargets NAMESPACE Ashlar:: DESTINATION ${package_dir})
if(TARGET ashlar_shared)
  set_target_properties(ashlar_shared PROPERTIES EXPORT_NAME ashlar)
  install(TARGETS ashlar_shared EXPORT AshlarSharedTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                           RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
                                                           ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT AshlarSharedTargets NAMESPACE Ashlar:: DESTINATION ${package_dir})
endif()
if(TARGET ashlar_cli)
  install(TARGETS ashlar_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/AshlarConfig.cmake.in ${PROJECT_BINARY_DIR}/AshlarConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a program built for one minor version needs that minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AshlarConfig.cmake ${PROJECT_BINARY_DIR}/AshlarConfigVersion.cmake ${CMAKE_CURRENT_LIST_DIR}/AshlarDependencies.cmake
        DESTINATION ${package_dir})

# Libs.private and not Requires.private: pkg-config wants the .pc file of everything named there even for a program that links the shared library.
set(ashlar_pc_private "")
set(ashlar_packages "")
foreach(dependency IN LISTS ashlar_dependencies)
  string(REPLACE "|" ";" dependency ${dependency})
  list(GET dependency 2 library)
  list(GET dependency 3 package)
  string(APPEND ashlar_pc_private "-l${library} ")
  list(APPEND ashlar_packages ${package})
endforeach()
if(WIN32)
  string(APPEND ashlar_pc_private "-lsynchronization ")
endif()
# The file finds its prefix from its own place, so that a tree may be moved after the installation.
file(RELATIVE_PATH ashlar_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ashlar_pc_prefix ${ashlar_pc_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/ashlar.pc.in ${PROJECT_BINARY_DIR}/ashlar.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ashlar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ashlar)
set(CPACK_PACKAGE_CONTACT "The Ashlar developers <ashlar@localhost>")
set(CPACK_PACKAGE_DESCRIPTION "${PROJECT_DESCRIPTION}: library, headers and command-line tool")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# Only a program that links libashlar.a needs these.
list(JOIN ashlar_packages ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
include(CPack)
