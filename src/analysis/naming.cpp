#include "analysis/naming.h"

#include <fmt/core.h>

#include "base/printable.h"

namespace qperf::analysis {
namespace {

profile::FrameId address_frame(const Lookup& lookup, profile::FrameTable& frames) {
  const std::string_view prefix = lookup.home == Home::kModule ? "[module] " : "";
  return frames.intern({.name = fmt::format("{}0x{:x}", prefix, lookup.address.raw), .file = "", .line = 0});
}

profile::Frame source_frame(const symbols::SourceFrame& source) {
  return {.name = printable(source.function), .file = printable(source.file), .line = source.start_line};
}

}  // namespace

Result<std::vector<NamedLookup>> name_lookups(const ImageSet& images, std::span<const Lookup> lookups,
                                              profile::FrameTable& frames) {
  std::vector<symbols::Location> locations(lookups.size());
  for (uint32_t image = 0; image < images.size(); ++image) {
    std::vector<size_t> members;
    std::vector<GuestVa> addresses;
    for (size_t i = 0; i < lookups.size(); ++i) {
      if (lookups[i].home != Home::kImage || lookups[i].image != image) continue;
      members.push_back(i);
      addresses.push_back(lookups[i].named_address());
    }
    auto named = images[image].symbolize(addresses);
    if (!named) return std::move(named).error().in(images[image].path());
    for (size_t i = 0; i < members.size() && i < named->size(); ++i) locations[members[i]] = std::move((*named)[i]);
  }

  std::vector<NamedLookup> result(lookups.size());
  for (size_t i = 0; i < lookups.size(); ++i) {
    NamedLookup& entry = result[i];
    for (const auto& source : locations[i].frames)
      if (!source.function.empty()) entry.lines.push_back({.frame = frames.intern(source_frame(source)), .line = source.line});
    entry.named = Named::kName;
    if (!entry.lines.empty()) continue;
    entry.named = lookups[i].home == Home::kModule ? Named::kModule : Named::kAddressOnly;
    entry.lines.push_back({.frame = address_frame(lookups[i], frames), .line = 0});
  }
  return result;
}

}  // namespace qperf::analysis
