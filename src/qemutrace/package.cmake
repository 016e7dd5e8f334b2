# What programs outside the project build analyses with (docs/trace-api.md): one archive without further dependencies, its headers, a
# CMake package `qperf` with target qperf::trace, and a pkg-config file qperf-trace. Component `trace-api`.
include(CMakePackageConfigHelpers)

add_library(qperf_trace STATIC $<TARGET_OBJECTS:qperf_qemutrace> $<TARGET_OBJECTS:qperf_base>)
set_target_properties(qperf_trace PROPERTIES OUTPUT_NAME qperf-trace EXPORT_NAME trace LINKER_LANGUAGE CXX)
target_compile_features(qperf_trace INTERFACE cxx_std_20)
target_include_directories(qperf_trace INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/qperf>)

# The interface of analyses and of those that qperf brings, with what they include; readers of single formats stay inside.
set(headers analyzer counts declarations device_names distribution event expression filter format glob histogram input leaks locks mmio ordered overlaps
            requests source)
list(TRANSFORM headers APPEND .h)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/qperf)
install(TARGETS qperf_trace EXPORT qperf-trace ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT trace-api)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/qperf/qemutrace COMPONENT trace-api)
install(FILES ../base/result.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/qperf/base COMPONENT trace-api)
install(EXPORT qperf-trace NAMESPACE qperf:: FILE qperf-config.cmake DESTINATION ${package_folder} COMPONENT trace-api)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/qperf-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH QPERF_PC_INCLUDE /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR}/qperf)
configure_file(qperf-trace.pc.in ${CMAKE_CURRENT_BINARY_DIR}/qperf-trace.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qperf-config-version.cmake DESTINATION ${package_folder} COMPONENT trace-api)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qperf-trace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT trace-api)
