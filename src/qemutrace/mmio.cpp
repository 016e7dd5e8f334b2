#include "qemutrace/mmio.h"

#include <algorithm>
#include <tuple>

#include "base/printable.h"

namespace qperf::qemutrace {

MmioCounter::MmioCounter() {
  const auto handler = [this](bool is_write) {
    return [this, is_write](const Event& event, uint64_t address, uint64_t value, std::string_view region) {
      access(event, address, value, region, is_write);
    };
  };
  on<uint64_t, uint64_t, std::string_view>("memory_region_ops_read", {"addr", "value", "name"}, handler(false));
  on<uint64_t, uint64_t, std::string_view>("memory_region_ops_write", {"addr", "value", "name"}, handler(true));
}

void MmioCounter::lost(const Event&, uint64_t) { ++losses_; }

void MmioCounter::access(const Event& event, uint64_t address, uint64_t value, std::string_view region, bool is_write) {
  auto found = regions_.find(region);
  if (found == regions_.end()) {
    if (registers_ >= kMaxRegisters) {
      ++other_accesses_;
      return;
    }
    found = regions_.emplace(std::string(region), std::map<uint64_t, Counter>()).first;
  }
  auto at = found->second.find(address);
  const bool fresh = at == found->second.end();
  if (fresh) {
    if (registers_ >= kMaxRegisters) {
      ++other_accesses_;
      return;
    }
    ++registers_;
    at = found->second.emplace(address, Counter{.last_value = value, .first_ns = event.time_ns, .losses_at_first = losses_})
             .first;
  }
  Counter& counter = at->second;
  ++(is_write ? counter.writes : counter.reads);
  if (!fresh) {
    if (value != counter.last_value) ++counter.changes;
    if (event.time_ns >= counter.last_ns)
      counter.least_gap_ns = std::min(counter.least_gap_ns, event.time_ns - counter.last_ns);
  }
  counter.last_value = value;
  counter.last_ns = std::max(counter.last_ns, event.time_ns);
  counter.losses_at_last = losses_;
}

std::vector<MmioCounter::Register> MmioCounter::registers() const {
  std::vector<Register> out;
  for (const auto& [region, addresses] : regions_) {
    for (const auto& [address, counter] : addresses) {
      Register row{.region = printable(region),
                   .address = address,
                   .reads = counter.reads,
                   .writes = counter.writes,
                   .values = counter.changes};
      if (row.total() > 1) {
        row.least_gap_ns = counter.least_gap_ns == ~uint64_t{0} ? 0 : counter.least_gap_ns;
        row.mean_gap_ns = static_cast<double>(counter.last_ns - std::min(counter.first_ns, counter.last_ns)) /
                          static_cast<double>(row.total() - 1);
      }
      row.loss = counter.losses_at_last > counter.losses_at_first;
      out.push_back(std::move(row));
    }
  }
  std::sort(out.begin(), out.end(), [](const Register& a, const Register& b) {
    if (a.total() != b.total()) return a.total() > b.total();
    return std::tie(a.region, a.address) < std::tie(b.region, b.address);
  });
  return out;
}

}  // namespace qperf::qemutrace
