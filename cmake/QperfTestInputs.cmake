# Real kernels, a newer QEMU and recorded files are test inputs, not parts of the project: a test whose input is absent is
# skipped with a printed reason (exit code 77).
foreach(kind DATA TOOLS)
  string(TOLOWER ${kind} lower)
  if(DEFINED ENV{QPERF_TEST_${kind}})
    set(QPERF_TEST_${kind} $ENV{QPERF_TEST_${kind}})
  elseif(EXISTS ${CMAKE_SOURCE_DIR}/../shared/${lower})
    get_filename_component(QPERF_TEST_${kind} ${CMAKE_SOURCE_DIR}/../shared/${lower} ABSOLUTE)
  else()
    set(QPERF_TEST_${kind} "")
  endif()
  message(STATUS "QPERF_TEST_${kind}: ${QPERF_TEST_${kind}}")
endforeach()
set(QPERF_TEST_ENVIRONMENT "QPERF_TEST_DATA=${QPERF_TEST_DATA};QPERF_TEST_TOOLS=${QPERF_TEST_TOOLS};QPERF_BUILD=${CMAKE_BINARY_DIR};QPERF_SOURCE=${CMAKE_SOURCE_DIR}")
