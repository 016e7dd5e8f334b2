# Real kernels, where debian-kernel has put them: names and lines against other tools.
add_executable(symbols_kernel_judge ${CMAKE_CURRENT_SOURCE_DIR}/kernel_judge.cpp)
target_link_libraries(symbols_kernel_judge PRIVATE qperf_symbols qperf_warnings)
foreach(arch arm64 riscv64 loong64)
  add_test(NAME linux.symbols.${arch}
           COMMAND sh -c "exec \"$1\" \"\${QPERF_CACHE:-\${XDG_CACHE_HOME:-$HOME/.cache}/qperf}/kernels/${arch}/vmlinux\""
                   sh $<TARGET_FILE:symbols_kernel_judge>)
  set_tests_properties(linux.symbols.${arch} PROPERTIES LABELS linux TIMEOUT 600 SKIP_RETURN_CODE 77
                       FIXTURES_REQUIRED kernel_${arch})  # fetched by tests/linux
endforeach()
