# Small ELF files of every target, built from testdata/ for the unit tests; empty QPERF_SYMBOL_FIXTURES: no cross compiler.
find_program(QPERF_CLANG NAMES clang-19 clang)
find_program(QPERF_LLD NAMES ld.lld-19 ld.lld)
find_program(QPERF_OBJCOPY NAMES llvm-objcopy-19 llvm-objcopy)
find_program(QPERF_GCC NAMES gcc)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/testdata)
set(fixtures ${CMAKE_CURRENT_BINARY_DIR}/fixtures)
set(fixture_files "")
file(MAKE_DIRECTORY ${fixtures})

# symbol_fixture(NAME TARGET SOURCE FLAGS "..." LINK "..."): NAME.elf, linked high like a kernel.
function(symbol_fixture name target file)
  cmake_parse_arguments(ARG "" "" "FLAGS;LINK" ${ARGN})
  add_custom_command(
    OUTPUT ${fixtures}/${name}.elf
    COMMAND ${QPERF_CLANG} --target=${target}-unknown-linux-gnu -ffreestanding -fno-stack-protector -O2 -g ${ARG_FLAGS}
            -c ${source}/${file} -o ${name}.o
    COMMAND ${QPERF_LLD} -Ttext=0xffffffff80200000 -e 0 --build-id=sha1 ${ARG_LINK} ${name}.o -o ${name}.elf
    DEPENDS ${source}/${file} WORKING_DIRECTORY ${fixtures} VERBATIM)
  set(fixture_files ${fixture_files} ${fixtures}/${name}.elf PARENT_SCOPE)
endfunction()

# copied_fixture(NAME FROM FLAGS ...): FROM.elf after objcopy.
function(copied_fixture name from)
  add_custom_command(OUTPUT ${fixtures}/${name}
                     COMMAND ${QPERF_OBJCOPY} ${ARGN} ${from} ${name}
                     DEPENDS ${fixture_files} WORKING_DIRECTORY ${fixtures} VERBATIM)
  set(fixture_files ${fixture_files} ${fixtures}/${name} PARENT_SCOPE)
endfunction()

if(QPERF_CLANG AND QPERF_LLD AND QPERF_OBJCOPY)
  foreach(target riscv64 loongarch64 aarch64 x86_64)
    symbol_fixture(inlines-${target} ${target} inlines.c)
    symbol_fixture(calls-${target} ${target} calls.S FLAGS -DFRAME_SECTION=.debug_frame)
    symbol_fixture(calls-eh-${target} ${target} calls.S FLAGS -DFRAME_SECTION=.eh_frame)
  endforeach()
  symbol_fixture(dwarf4 riscv64 inlines.c FLAGS -gdwarf-4)
  symbol_fixture(dwarf3 x86_64 inlines.c FLAGS -gdwarf-3)
  symbol_fixture(split aarch64 inlines.c FLAGS -gsplit-dwarf)
  symbol_fixture(zlib aarch64 inlines.c LINK --compress-debug-sections=zlib)
  symbol_fixture(zstd aarch64 inlines.c LINK --compress-debug-sections=zstd)
  symbol_fixture(names riscv64 names.cpp FLAGS -std=c++17 -fno-exceptions)
  symbol_fixture(other powerpc64le inlines.c)
  copied_fixture(separate.debug inlines-aarch64.elf --only-keep-debug)
  copied_fixture(linked.elf inlines-aarch64.elf --strip-all --add-gnu-debuglink=separate.debug)
  copied_fixture(unlinked.elf inlines-aarch64.elf --strip-all)
  copied_fixture(symtab.elf inlines-aarch64.elf --strip-debug)
  copied_fixture(flat.bin inlines-aarch64.elf -O binary)
  if(QPERF_GCC AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
    add_custom_command(OUTPUT ${fixtures}/nested.elf
                       COMMAND ${QPERF_GCC} -O1 -g -ffreestanding -nostdlib -static ${source}/nested.c -o nested.elf
                       DEPENDS ${source}/nested.c WORKING_DIRECTORY ${fixtures} VERBATIM)
    list(APPEND fixture_files ${fixtures}/nested.elf)
  endif()
  add_custom_target(symbol_fixtures DEPENDS ${fixture_files})
  add_dependencies(symbols_test symbol_fixtures)
  set(QPERF_SYMBOL_FIXTURES ${fixtures})
else()
  set(QPERF_SYMBOL_FIXTURES "")
endif()
target_compile_definitions(symbols_test PRIVATE QPERF_SYMBOL_FIXTURES="${QPERF_SYMBOL_FIXTURES}"
                                                QPERF_SYMBOL_TESTDATA="${source}")
