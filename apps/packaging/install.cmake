# Installs the files around the command, and makes packages for Debian: `cpack -G DEB`. The command
# itself writes its manual pages and completions when it is installed (make.cmake).
set(muster_made ${PROJECT_BINARY_DIR}/packaging)
install(CODE "
  set(made \"${muster_made}\")
  set(program \"$<TARGET_FILE:muster>\")
  set(unit \"${PROJECT_SOURCE_DIR}/apps/packaging/muster@.service\")
  include(\"${PROJECT_SOURCE_DIR}/apps/packaging/make.cmake\")" ALL_COMPONENTS)
set(of_lab "muster-(check|draw|election|replay|simulate|verify)[.]1$")
set(of_postgres "muster-postgres[.]1$")
install(DIRECTORY ${muster_made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR}
  REGEX "${of_lab}|${of_postgres}" EXCLUDE)
install(DIRECTORY ${muster_made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT muster-lab
  FILES_MATCHING REGEX "${of_lab}")
install(DIRECTORY ${muster_made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT muster-postgres
  FILES_MATCHING REGEX "${of_postgres}")
install(TARGETS muster-lab OPTIONAL COMPONENT muster-lab)
install(FILES ${muster_made}/muster DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${muster_made}/_muster DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${muster_made}/muster.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${muster_made}/muster@.service DESTINATION lib/systemd/system)
if(TARGET muster-postgres)
  install(TARGETS muster-postgres OPTIONAL COMPONENT muster-postgres)
  install(CODE "
    file(READ \"${CMAKE_CURRENT_LIST_DIR}/postgres/muster-postgres@.service\" text)
    string(REPLACE /usr/bin/muster \"\${CMAKE_INSTALL_PREFIX}/bin/muster\" text \"\${text}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/packaging-postgres/muster-postgres@.service\" \"\${text}\")"
    COMPONENT muster-postgres)
  install(FILES ${PROJECT_BINARY_DIR}/packaging-postgres/muster-postgres@.service
    DESTINATION lib/systemd/system COMPONENT muster-postgres)
endif()
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_NAME muster)
# The default is an address in .invalid (RFC 2606), so Debian's tools write to nobody.
set(MUSTER_MAINTAINER "not named <unset@muster.invalid>" CACHE STRING
  "Maintainer of Debian packages that are distributed: Name <address>")
set(CPACK_PACKAGE_CONTACT "${MUSTER_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "elections and reorganization in fail-stop systems")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL muster muster-lab libmuster-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_MUSTER_PACKAGE_NAME muster)
set(CPACK_DEBIAN_MUSTER_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_MUSTER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MUSTER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_MUSTER_PACKAGE_RECOMMENDS "muster-lab (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_MUSTER_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/postinst;${CMAKE_CURRENT_LIST_DIR}/prerm;${CMAKE_CURRENT_LIST_DIR}/postrm")
set(CPACK_DEBIAN_MUSTER_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_MUSTER_DESCRIPTION "The command muster runs and observes the nodes of a cluster. When a node
fails or comes back, the nodes elect a coordinator (the Bully algorithm of
Garcia-Molina). Each node can run a program while it is in a working group.
A systemd unit is included.")
set(CPACK_DEBIAN_MUSTER-LAB_PACKAGE_NAME muster-lab)
set(CPACK_DEBIAN_MUSTER-LAB_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_MUSTER-LAB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MUSTER-LAB_PACKAGE_DEPENDS "muster (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_MUSTER-LAB_PACKAGE_REPLACES muster)  # until 2026-11-29 the package muster contained these pages
set(CPACK_COMPONENT_MUSTER-LAB_DESCRIPTION "The commands of muster that need no running node. They verify and draw the
journals of nodes, search every state of a small cluster, and run clusters
with faults in simulated time.")
set(CPACK_DEBIAN_LIBMUSTER-DEV_PACKAGE_NAME libmuster-dev)
set(CPACK_DEBIAN_LIBMUSTER-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBMUSTER-DEV_PACKAGE_DEPENDS "libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev, \
libboost-serialization${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev, \
libboost-json${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev, libsqlite3-dev, libssl-dev")
set(CPACK_COMPONENT_LIBMUSTER-DEV_DESCRIPTION "Libraries that run a node inside a C++20 or C program: the protocol as a
pure function, safe storage on SQLite, a runtime on Asio, and a laboratory
that runs a whole cluster in simulated time. A CMake package is included.")
if(TARGET muster-postgres)
  list(APPEND CPACK_COMPONENTS_ALL muster-postgres)
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_NAME muster-postgres)
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_SECTION database)
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_DEPENDS "muster (= ${PROJECT_VERSION}-1), postgresql-15 (>= 15.13)")
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_LIST_DIR}/postgres/postinst;\
${CMAKE_CURRENT_LIST_DIR}/postgres/prerm;${CMAKE_CURRENT_LIST_DIR}/postgres/postrm")
  set(CPACK_DEBIAN_MUSTER-POSTGRES_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_COMPONENT_MUSTER-POSTGRES_DESCRIPTION "Fail-over of PostgreSQL that loses no acknowledged commit. It needs three
or more machines and no other service: each machine runs a node of Muster,
which manages the PostgreSQL there. A systemd unit is included.")
endif()
if(MUSTER_BUILD_TESTS AND MUSTER_BUILD_BENCH)
  list(APPEND CPACK_COMPONENTS_ALL muster-bench)
  set(CPACK_DEBIAN_MUSTER-BENCH_PACKAGE_NAME muster-bench)
  set(CPACK_DEBIAN_MUSTER-BENCH_PACKAGE_SECTION admin)
  set(CPACK_DEBIAN_MUSTER-BENCH_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MUSTER-BENCH_PACKAGE_DEPENDS "muster-lab (= ${PROJECT_VERSION}-1)")
  set(CPACK_COMPONENT_MUSTER-BENCH_DESCRIPTION "Benches of Muster that make real nodes fail on this machine. They measure
how long a fail-over takes, and what each fault costs the other nodes. Do
not run them on a machine that does other work.")
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
include(CPack)
