# What `cmake --install` puts in place: the libraries with their headers and a CMake package, and the command.
include(CMakePackageConfigHelpers)

set(muster_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
foreach(component core lab storage net c)
  install(TARGETS muster_${component} EXPORT muster-targets FILE_SET HEADERS)
  # The installed headers compile on their own; `all_verify_interface_header_sets` tries each.
  set_target_properties(muster_${component} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endforeach()
install(EXPORT muster-targets NAMESPACE muster:: DESTINATION ${muster_package_dir})

configure_package_config_file(core/muster-config.cmake.in ${PROJECT_BINARY_DIR}/muster-config.cmake
  INSTALL_DESTINATION ${muster_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
  DESTINATION ${muster_package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET muster)
  install(TARGETS muster)
endif()
