#pragma once

#include <cstddef>
#include <span>

#include "base/types.h"
#include "capture/records.h"

namespace qperf::capture {

/// A site as its chunk stores it, known to be well-formed. Sites of equal pc and equal bytes are equal, in whatever chunks they
/// stand, so that a reader can recognize one without decoding its frames.
struct PackedSite {
  GuestVa pc;
  std::span<const std::byte> rest;  // everything but pc: read it with unpack_site()
};

/// A SampleChunk whose sites are still packed.
struct PackedSamples {
  VcpuIndex vcpu;
  std::span<const PackedSite> sites;
  std::span<const Sample> samples;
  std::span<const uint32_t> site_numbers;  // by site: Handlers::number_sites'; else empty
};

}  // namespace qperf::capture
