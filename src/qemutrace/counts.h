#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// How often each event occurred, and over what span.
class EventCounts {
 public:
  void add(const Event& event) {
    if (event.info->index >= counts_.size()) [[unlikely]] {
      counts_.resize(event.info->index + size_t{1});
      names_.resize(counts_.size());
    }
    if (counts_[event.info->index]++ == 0) [[unlikely]]
      names_[event.info->index] = event.info->name;
    if (!event.has_time) return;
    // Threads' stamps may run backwards a little: the span is from the least to the greatest.
    if (event.time_ns < first_ns_) first_ns_ = event.time_ns;
    if (event.time_ns > last_ns_) last_ns_ = event.time_ns;
  }

  struct Row {
    std::string name;  // printable
    uint64_t count = 0;
  };
  /// Most frequent first, equal ones by name.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] uint64_t total() const noexcept;
  /// 0 when no event had a time.
  [[nodiscard]] uint64_t span_ns() const noexcept { return last_ns_ > first_ns_ ? last_ns_ - first_ns_ : 0; }

 private:
  std::vector<uint64_t> counts_;  // by EventInfo::index
  std::vector<std::string> names_;
  uint64_t first_ns_ = ~uint64_t{0};
  uint64_t last_ns_ = 0;
};

}  // namespace qperf::qemutrace
