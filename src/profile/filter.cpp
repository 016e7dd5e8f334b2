#include "profile/filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/printable.h"

namespace qperf::profile {
namespace {

std::optional<uint32_t> parse_number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > VcpuSet::kMaxNumber) return std::nullopt;
  return value;
}

}  // namespace

Result<VcpuSet> VcpuSet::parse(std::string_view text) {
  VcpuSet set;
  size_t position = 0;
  while (position <= text.size()) {
    const size_t end = std::min(text.find(',', position), text.size());
    const std::string_view item = text.substr(position, end - position);
    const size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last)
      return Error{ErrorCode::kUsage, fmt::format("'{}' is no vCPU number (0 to {}) or range of them, such as 0,2-3",
                                                  printable(item), kMaxNumber)};
    if (*first > *last) return Error{ErrorCode::kUsage, fmt::format("the range '{}' ends before it starts", printable(item))};
    set.ranges_.push_back(Range{*first, *last});
    position = end + 1;
  }
  std::ranges::sort(set.ranges_, {}, &Range::first);
  std::vector<Range> merged;
  for (const Range& range : set.ranges_) {
    if (!merged.empty() && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  set.ranges_ = std::move(merged);
  return set;
}

bool VcpuSet::contains(VcpuIndex vcpu) const noexcept {
  if (all()) return true;
  return std::ranges::any_of(ranges_, [&](const Range& r) { return r.first <= vcpu.raw && vcpu.raw <= r.last; });
}

std::vector<VcpuIndex> VcpuSet::members_below(uint32_t end) const {
  std::vector<VcpuIndex> members;
  for (uint32_t i = 0; i < end; ++i)
    if (contains(VcpuIndex{i})) members.push_back(VcpuIndex{i});
  return members;
}

VcpuIndex VcpuSet::largest() const noexcept { return VcpuIndex{ranges_.back().last}; }

}  // namespace qperf::profile
