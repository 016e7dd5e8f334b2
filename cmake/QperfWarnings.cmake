# Warnings are errors for our own code only: foreign headers come in as SYSTEM.
add_library(qperf_warnings INTERFACE)
target_compile_options(qperf_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
                                                -Wold-style-cast -Werror)
