# Installs Muster in the two parts that packages are made of: the libraries, with their headers and
# a CMake package, and the command.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libmuster-dev)
set(muster_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
foreach(component core storage net)
  install(TARGETS muster_${component} EXPORT muster-targets FILE_SET HEADERS)
endforeach()
foreach(component core lab storage net c)
  set_target_properties(muster_${component} PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endforeach()
install(DIRECTORY ${muster_old_headers}/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT muster-targets NAMESPACE muster:: DESTINATION ${muster_package_dir})
# `./dev demo` builds neither the lab nor the library for C. Targets that were not built are
# skipped.
install(TARGETS muster_lab muster_all EXPORT muster-lab-targets OPTIONAL FILE_SET HEADERS)
install(EXPORT muster-lab-targets NAMESPACE muster:: DESTINATION ${muster_package_dir})
install(TARGETS muster_c EXPORT muster-c-targets OPTIONAL FILE_SET HEADERS)
install(EXPORT muster-c-targets NAMESPACE muster:: DESTINATION ${muster_package_dir})

configure_package_config_file(core/muster-config.cmake.in ${PROJECT_BINARY_DIR}/muster-config.cmake
  INSTALL_DESTINATION ${muster_package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
  DESTINATION ${muster_package_dir})

# muster_pc(COMPONENT WHAT CORE REQUIRES LIBS): makes the file for pkg-config of one component. A
# program that links a static library must also link the libraries that this library requires.
file(RELATIVE_PATH muster_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(muster_pc component what core requires libs)
  if(BUILD_SHARED_LIBS)
    set(requires_lines "Requires: ${core}\nRequires.private: ${requires}")
  else()
    set(requires_lines "Requires: ${core} ${requires}")
    set(own_libs "${libs}")
  endif()
  configure_file(core/muster.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/muster-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/muster-${component}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
muster_pc(core "protocols and applications" "" "" "-lboost_json")
muster_pc(lab "clusters in simulated time" muster-core "" -pthread)
muster_pc(net "a node on Asio" muster-core openssl -pthread)
muster_pc(storage "safe storage in SQLite" muster-core sqlite3 "")

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME muster)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET muster)
  install(TARGETS muster)
  include(apps/packaging/install.cmake)
endif()
