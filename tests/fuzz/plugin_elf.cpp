#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "memory_file.h"
#include "sampling/build_id.h"
#include "sampling/elf_reader.h"
#include "sampling/elf_symbol.h"

/// The argument elf= of the plugin: a file that anybody wrote, read inside QEMU without an ELF library.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf;
  const MemoryFile file(data, size);
  if (!file.ok()) return 0;
  const std::string path = file.path();
  const auto build_id = sampling::read_build_id(path);
  if (build_id && build_id->size() > 64) std::abort();  // more than the capture has room for
  if (!build_id && build_id.error().message.empty()) std::abort();
  for (const char* name : {"leaf", "", "__pulse_qperf_trace_v1"}) {
    const auto symbol = sampling::find_elf_symbol(path, name);
    if (symbol.ok() != build_id.ok()) std::abort();
  }
  if (auto elf = sampling::ElfReader::open(path)) {
    const auto bytes = elf->read_at(0, 2 * size + 1);
    if (bytes.size() != size) std::abort();
    for (uint64_t i = 0; i < elf->segments() && elf->segment(i); ++i) {
    }
  }
  return 0;
}
