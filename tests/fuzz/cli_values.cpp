#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/elf_argument.h"
#include "profile/filter.h"

/// The values that a user types: vCPU lists, windows, ELF@SLIDE. What parses must mean what it says.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto elf = analysis::parse_elf_argument(text);
  if (!text.starts_with(elf.path)) std::abort();
  if (!elf.slide_bytes && elf.path != text) std::abort();
  if (const auto set = profile::VcpuSet::parse(text)) {
    if (set->all()) std::abort();  // a list that was given never means "all"
    const auto members = set->members_below(profile::VcpuSet::kMaxNumber + 1);
    if (members.empty() || members.back() != set->largest()) std::abort();
  } else if (set.error().message.empty()) {
    std::abort();
  }
  static_cast<void>(analysis::parse_unsigned(text));
  return 0;
}
