#include "export/unit.h"

#include <fmt/core.h>

#include "profile/ids.h"

namespace qperf::exporter {

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string duration(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.1f} µs", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string amount(const Unit& unit, uint64_t weight) {
  std::string measured;
  if (unit.ns_per_weight > 0) measured = duration(static_cast<double>(weight) * unit.ns_per_weight);
  if (unit.insns_per_weight != 0) measured = grouped(profile::saturating_multiply(weight, unit.insns_per_weight)) + " instructions";
  if (unit.name.empty()) return measured;
  std::string count = grouped(weight) + ' ' + unit.name;
  if (weight == 1 && count.ends_with('s')) count.pop_back();
  return measured.empty() ? count : fmt::format("{} ({})", count, measured);
}

}  // namespace qperf::exporter
