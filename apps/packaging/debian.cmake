# CPack runs this between installing and packing. It adds what Debian requires of every package.
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}/usr/share)
  set(doc ${root}/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright)
  file(WRITE ${doc}/changelog.Debian "${package} (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium

  * See the changelog of the package muster.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 26 Nov 2026 00:00:00 +0000
")
  file(GLOB archives ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}/usr/lib/*.a)
  if(archives)
    execute_process(COMMAND strip --strip-debug ${archives} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  # The licence is in `copyright`.
  file(REMOVE ${doc}/LICENSE)
  if(EXISTS ${doc}/CHANGELOG.md)
    file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
  endif()
  file(GLOB pages ${root}/man/man1/*.1 ${doc}/changelog)
  execute_process(COMMAND gzip -9n ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
