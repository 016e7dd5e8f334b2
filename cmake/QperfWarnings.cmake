# For our own code only: foreign headers come in as SYSTEM. Errors while developing; a release build on a newer compiler, which may
# warn of more, goes on.
option(QPERF_WERROR "make warnings errors" ON)
add_library(qperf_warnings INTERFACE)
target_compile_options(qperf_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                                                $<$<BOOL:${QPERF_WERROR}>:-Werror>)
# clang tells of a deprecated function that g++ 12's own std::stable_sort uses.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(qperf_warnings INTERFACE -Wno-deprecated-declarations)
endif()
