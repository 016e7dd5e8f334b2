#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "qemutrace/analyzer.h"

namespace qperf::qemutrace {

/// Accesses to device registers by region and guest-physical address, from memory_region_ops_read and _write.
class MmioCounter final : public Analyzer {
 public:
  MmioCounter();

  struct Register {
    std::string region;    // printable
    uint64_t address = 0;  // guest-physical
    uint64_t reads = 0;
    uint64_t writes = 0;
    uint64_t values = 0;  // how often the value differed from the one before: a poll that waits reads the same again and again
    uint64_t least_gap_ns = 0;  // between two accesses to it
    double mean_gap_ns = 0;
    bool loss = false;  // events were lost between its first and last access: the counts are lower bounds
    [[nodiscard]] uint64_t total() const noexcept { return reads + writes; }
  };

  void lost(const Event& event, uint64_t count) override;
  /// Most accessed first, equal ones by region and address.
  [[nodiscard]] std::vector<Register> registers() const;
  /// Registers beyond this many are counted together; a trace cannot make memory grow without bound.
  static constexpr size_t kMaxRegisters = 200'000;
  [[nodiscard]] uint64_t other_accesses() const noexcept { return other_accesses_; }

 private:
  struct Counter {
    uint64_t reads = 0;
    uint64_t writes = 0;
    uint64_t changes = 0;
    uint64_t last_value = 0;
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
    uint64_t least_gap_ns = ~uint64_t{0};
    uint64_t losses_at_first = 0;
    uint64_t losses_at_last = 0;
  };
  void access(const Event& event, uint64_t address, uint64_t value, std::string_view region, bool is_write);

  std::map<std::string, std::map<uint64_t, Counter>, std::less<>> regions_;
  size_t registers_ = 0;
  uint64_t other_accesses_ = 0;
  uint64_t losses_ = 0;
};

}  // namespace qperf::qemutrace
