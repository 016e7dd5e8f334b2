#include <fmt/core.h>

#include <algorithm>

#include "base/hex.h"
#include "guest/target.h"
#include "guest/trace_events.h"
#include "symbols/image.h"
#include "symbols/prologue.h"
#include "symbols/segments.h"
#include "tools/qperf/doctor/doctor.h"

namespace qperf::tools {
namespace {

constexpr size_t kFunctionsLookedAt = 20'000;

Finding check_symbols(const symbols::Image& image) {
  const size_t functions = image.functions().size();
  if (functions > 0) return {"symbols", Health::kOk, fmt::format("{} functions in the symbol table", functions), ""};
  if (image.has_dwarf())
    return {"symbols", Health::kNote, "no symbol table; names come from DWARF",
            "keep .symtab: do not strip the file that is given with -e"};
  return {"symbols", Health::kFailed, "stripped: neither a symbol table nor DWARF",
          "give the file before it was stripped (vmlinux), or keep its .debug file beside it"};
}

Finding check_dwarf(const symbols::Image& image) {
  if (image.has_dwarf()) {
    const auto warnings = image.warnings();
    return {"dwarf", warnings.empty() ? Health::kOk : Health::kNote,
            warnings.empty() ? "debug information is there" : warnings.front(), ""};
  }
  std::string found = "no debug information: no inlined functions, no source lines";
  for (const auto& warning : image.warnings()) {
    if (warning.find("compressed") != std::string::npos) found = warning;
  }
  return {"dwarf", Health::kWarning, std::move(found),
          "Linux: CONFIG_DEBUG_INFO_DWARF5=y; C: -g; Rust: debug = true in the profile"};
}

Finding check_frame_pointers(const symbols::Image& image) {
  const auto census = symbols::count_prologues(image, kFunctionsLookedAt);
  if (census.with_frame == 0) return {"frame-pointers", Health::kNote, "no function with a frame was found to judge by", ""};
  const double share = static_cast<double>(census.framed) / static_cast<double>(census.with_frame);
  std::string found = fmt::format("{} of {} functions with a frame set the frame pointer up", census.framed, census.with_frame);
  if (share >= 0.9) return {"frame-pointers", Health::kOk, std::move(found), ""};
  found += share < 0.1 ? ": stacks will be one frame deep" : ": stacks will have gaps";
  return {"frame-pointers", Health::kWarning, std::move(found),
          "C: -fno-omit-frame-pointer; Rust: -C force-frame-pointers=yes, with the core library rebuilt (-Z build-std); Linux: "
          "CONFIG_FRAME_POINTER=y where the architecture has it"};
}

Finding check_build_id(const symbols::Image& image) {
  std::string text = hex_digits(image.build_id());
  if (!text.empty()) return {"build-id", Health::kOk, text, ""};
  return {"build-id", Health::kWarning, "none: readers cannot tell this build from the next one",
          "link with --build-id=sha1 (ld, lld; through a compiler -Wl,--build-id=sha1)"};
}

/// The plugin takes addresses from 2^63 up for the kernel unless told otherwise.
Finding check_range(const symbols::Image& image) {
  uint64_t inside = 0;
  uint64_t outside = 0;
  GuestRange all{GuestVa{~uint64_t{0}}, GuestVa{0}};
  for (const GuestRange range : image.text_ranges()) {
    const uint64_t size = range.last.raw - range.first.raw + 1;
    (guest::kDefaultKernelRange.contains(range.first) ? inside : outside) += size;
    all = {std::min(all.first, range.first), std::max(all.last, range.last)};
  }
  if (inside + outside == 0)
    return {"kernel-range", Health::kFailed, "no code in this file",
            "give the kernel's ELF, not a file with debug information only"};
  if (outside == 0)
    return {"kernel-range", Health::kOk,
            fmt::format("{} KiB of code from {:#x} to {:#x}", inside / 1024, all.first.raw, all.last.raw), ""};
  std::string found = fmt::format("{} of {} KiB of code lie below {:#x}, where the kernel is looked for", outside / 1024,
                                  (inside + outside) / 1024, guest::kDefaultKernelRange.first.raw);
  if (outside <= inside)
    return {"kernel-range", Health::kNote, found + ": code of early boot or user mode, which is not sampled", ""};
  // Data and bss as well: stacks of such a kernel count only where they lie in the range.
  const GuestRange loaded = symbols::segments_hull(image.path()).value_or(all);
  return {"kernel-range", Health::kFailed, std::move(found),
          fmt::format("if the kernel runs at these addresses: record with --plugin-argument kernel={:#x}:{:#x}, all that the file "
                      "loads; where stacks lie elsewhere (a heap), widen it: they must lie inside",
                      std::min(loaded.first, all.first).raw, std::max(loaded.last, all.last).raw)};
}

Finding check_marker(const symbols::Image& image) {
  const auto address = image.symbol_address(guest::kTraceMarkerSymbol);
  if (address)
    return {"trace-marker", Health::kOk,
            fmt::format("{} at {:#x}: record with --trace", guest::kTraceMarkerSymbol, address->raw), ""};
  return {"trace-marker", Health::kNote, fmt::format("no symbol {}: no tasks, waits and phases", guest::kTraceMarkerSymbol),
          "docs/guest-trace-abi.md says how a kernel tells of them"};
}

}  // namespace

ElfFindings examine_elf(const std::string& path) {
  const auto image = symbols::Image::open(path);
  if (!image) return {{{"elf", Health::kFailed, image.error().message, "give the kernel's ELF with symbols (vmlinux)"}}, ""};
  const auto target = image->target();
  if (!target) {
    std::string names;
    for (const auto& row : guest::all_targets()) names += (names.empty() ? "" : ", ") + std::string(row.name);
    return {{{"elf", Health::kFailed, path + ": is for a machine that is not profiled", "kernels for " + names + " are"}}, ""};
  }
  const std::string name(guest::info(*target).name);
  return {{{"elf", Health::kOk, path + ": " + name, ""},
           check_symbols(*image),
           check_dwarf(*image),
           check_frame_pointers(*image),
           check_build_id(*image),
           check_range(*image),
           check_marker(*image)},
          name};
}

}  // namespace qperf::tools
