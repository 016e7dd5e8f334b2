#include "analysis/site_table.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/bytes.h"
#include "capture/sample_codec.h"

namespace qperf::analysis {
namespace {

using PcBytes = std::array<std::byte, sizeof(uint64_t)>;  // in memory only: the host's order will do

}  // namespace

void SiteTable::intern(std::span<const capture::PackedSite> sites, std::vector<uint32_t>& numbers) {
  numbers.assign(sites.size(), 0);
  std::array<std::span<const std::byte>, Packed::kBatch> batch;
  std::array<profile::StackId, Packed::kBatch> found;
  for (size_t begin = 0; begin < sites.size(); begin += Packed::kBatch) {
    const auto part = sites.subspan(begin, std::min(Packed::kBatch, sites.size() - begin));
    size_t total_bytes = 0;
    for (const capture::PackedSite& site : part) total_bytes += sizeof(PcBytes) + site.rest.size();
    // As if all were new: near the end that refuses a batch of known ones, too.
    if (total_bytes > most_bytes_ - packed_.words()) {
      full_.store(true, std::memory_order_relaxed);
      return;
    }
    if (bytes_.size() < total_bytes) bytes_.resize(total_bytes);
    auto end = bytes_.begin();
    for (size_t i = 0; i < part.size(); ++i) {
      const auto start = end;
      end = std::ranges::copy(std::bit_cast<PcBytes>(part[i].pc.raw), end).out;
      end = std::ranges::copy(part[i].rest, end).out;
      batch[i] = std::span(start, end);
    }
    packed_.intern_batch(std::span(batch).first(part.size()), found);
    for (size_t i = 0; i < part.size(); ++i) numbers[begin + i] = found[i].raw;
  }
}

SiteId SiteTable::intern(const capture::Site& site) {
  ByteWriter bytes;
  bytes.bytes(std::bit_cast<PcBytes>(site.pc.raw));
  capture::pack_site(site, bytes);
  if (bytes.view().size() > most_bytes_ - packed_.words()) {
    full_.store(true, std::memory_order_relaxed);
    return {};
  }
  return SiteId{packed_.intern(bytes.view()).raw};
}

void SiteTable::read(SiteId id, capture::Site& site) const {
  const auto bytes = packed_[profile::StackId{id.raw}];
  PcBytes pc;
  std::ranges::copy(bytes.first(pc.size()), pc.begin());
  capture::unpack_site({.pc = GuestVa{std::bit_cast<uint64_t>(pc)}, .rest = bytes.subspan(pc.size())}, site);
}

}  // namespace qperf::analysis
