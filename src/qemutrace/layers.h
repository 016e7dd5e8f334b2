#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qperf::qemutrace {

/// One request as one layer between a guest's file system and the host's disk saw it.
struct LayerRequest {
  uint64_t time_ns = 0;  // of the layer's own clock
  bool is_write = false;
  uint64_t sector = 0;
  uint64_t sectors = 0;
};

/// The requests of one layer, in the order in which it saw them.
struct Layer {
  std::string name;
  std::vector<LayerRequest> requests;
  uint64_t merged = 0;  // requests that this layer says it joined to others
};

/// How a layer's requests look by themselves.
struct LayerPattern {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t sectors = 0;
  uint64_t sequential = 0;                 // begins where the last one of its direction ended
  std::map<uint64_t, uint64_t> sizes;      // sectors -> requests

  explicit LayerPattern(const Layer& layer);
};

/// What became of the requests of one layer in the one below.
struct LayerMatch {
  uint64_t same = 0;      // one request of the same extent
  uint64_t joined = 0;    // part of a larger one
  uint64_t split = 0;     // several smaller ones, end to end
  uint64_t missing = 0;   // none: answered from a cache, remapped, or not recorded
  uint64_t extra = 0;     // requests of the lower layer that none above asked for
  uint64_t reordered = 0; // same-extent pairs that overtook an earlier one
  /// Of the same-extent pairs: lower time - upper time, whose clocks may have nothing in common. The least is what the clocks
  /// differ by at most, as nothing arrives before it is sent; delays are counted from there.
  int64_t least_difference_ns = 0;
  std::vector<uint64_t> delays_ns;  // above the least, one a pair, in the upper layer's order
};

/// Whether both layers' times can be compared.
enum class LayerClocks : uint8_t { kOne, kTwo };

/// Same extents pair up in order (on one clock, with none that came before), then larger and smaller ones are looked for. `lower_offset_sectors`: what the lower layer's
/// sectors are larger by (the start of a partition or of a file that lies in one piece).
[[nodiscard]] LayerMatch match_layers(const Layer& upper, const Layer& lower, LayerClocks clocks,
                                      int64_t lower_offset_sectors);

}  // namespace qperf::qemutrace
