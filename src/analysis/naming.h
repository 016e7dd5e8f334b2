#pragma once

#include <cstdint>
#include <vector>

#include "analysis/image_set.h"
#include "analysis/lookups.h"
#include "base/result.h"
#include "profile/frame_table.h"
#include "profile/located.h"

namespace qperf::analysis {

/// What a lookup turned out to be.
enum class Named : uint8_t { kName, kModule, kAddressOnly };

/// The functions and lines of one lookup, innermost first: inlined functions, then the one they are inlined into. Never empty.
struct NamedLookup {
  std::vector<profile::SourceLine> lines;
  Named named = Named::kAddressOnly;
};

/// Names every lookup once, image by image; result[i] belongs to lookup i.
[[nodiscard]] Result<std::vector<NamedLookup>> name_lookups(const ImageSet& images, std::span<const Lookup> lookups,
                                                            profile::FrameTable& frames);

}  // namespace qperf::analysis
