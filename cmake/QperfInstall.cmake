# bin/, lib/qperf/ (the plugin is loaded by path, it is no system library), share/doc/; `cpack -G DEB` in the build folder makes a package.
foreach(program qperf-analyzer qperf)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET qperf_plugin)
  install(TARGETS qperf_plugin LIBRARY DESTINATION lib/qperf)
endif()
install(FILES README.md README.zh.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md")

set(CPACK_PACKAGE_NAME qperf)
set(CPACK_PACKAGE_CONTACT "the qperf developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler and tracer for operating-system kernels under QEMU")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Any one of the emulators will do; which package has which target differs between Debian releases.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "qemu-system-misc (>= 1:9.2) | qemu-system-riscv (>= 1:9.2) | qemu-system-arm (>= 1:9.2) | qemu-system-x86 (>= 1:9.2)")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
