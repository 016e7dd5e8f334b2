# qperf_library(NAME SOURCES ... DEPENDS ...): a folder of src/ as a static library with include root src/.
# Files named *_test.cpp beside the code become one GoogleTest executable, label `unit`.
function(qperf_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS;TEST_DEPENDS" ${ARGN})
  add_library(qperf_${name} STATIC ${ARG_SOURCES})
  target_include_directories(qperf_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(qperf_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} qperf_warnings)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE qperf_${name} ${ARG_TEST_DEPENDS} GTest::gtest_main qperf_warnings)
    add_test(NAME unit.${name} COMMAND ${name}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()

# qperf_fuzz_target(NAME SOURCE DEPENDS ...): tests/fuzz/NAME.cpp. Under the fuzz preset a libFuzzer program; in every other
# build the same entry point is run over corpus/NAME and regressions/NAME as an ordinary test, label `fuzz`.
function(qperf_fuzz_target name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}.cpp)
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPENDS} qperf_warnings)
  if(QPERF_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    add_test(NAME fuzz.${name}
             COMMAND fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/regressions/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()
