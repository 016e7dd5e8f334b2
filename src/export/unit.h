#pragma once

#include <cstdint>
#include <string>

namespace qperf::exporter {

/// What a weight is, for files that show weights to people.
struct Unit {
  std::string name;               // "ticks"; empty: the weights are only shown as what they measure
  double ns_per_weight = 0;       // 0: weights are no time
  uint64_t insns_per_weight = 0;  // 0: weights are no instructions
};

/// "1,234,567".
[[nodiscard]] std::string grouped(uint64_t value);

/// A time in the unit that fits it: "1.234 s".
[[nodiscard]] std::string duration(double ns);

/// "1,234 ticks (12.340 s)".
[[nodiscard]] std::string amount(const Unit& unit, uint64_t weight);

}  // namespace qperf::exporter
