#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "sampling/options.h"

/// The plugin's arguments, one a line, as a command line hands them to QEMU: refused in words that a terminal may get, or every value is
/// inside its bounds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf;
  using namespace qperf::sampling;
  if (size == 0) return 0;
  constexpr guest::Target kTargets[] = {guest::Target::kRiscv64, guest::Target::kLoongarch64, guest::Target::kAarch64,
                                        guest::Target::kX86_64};
  const guest::Target target = kTargets[data[0] % std::size(kTargets)];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string_view> arguments;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view argument = rest.substr(0, end);
    // trace=auto opens elf=, and no input may make this read what happens to lie on the disk: plugin_elf has those bytes.
    arguments.push_back(argument.starts_with("elf=") ? "elf=/nowhere/kernel.elf" : argument);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto options = parse_options(arguments, target);
  if (!options) {
    if (options.error().message.empty() || printable(options.error().message) != options.error().message) std::abort();
    return 0;
  }
  for (const OptionRow& row : option_table()) {
    if (row.kind != OptionKind::kNumber) continue;
    const uint64_t number = (*options).*row.number;
    if (number < row.least || number > row.greatest) std::abort();
  }
  if (options->kernel_range.first.raw > options->kernel_range.last.raw) std::abort();
  if (options->trace_address && !options->help && !options->kernel_range.contains(*options->trace_address)) std::abort();
  return 0;
}
