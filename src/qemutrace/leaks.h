#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "qemutrace/analyzer.h"
#include "qemutrace/distribution.h"

namespace qperf::qemutrace {

/// Finds virtqueue elements that were popped and never filled. QEMU reuses an element's address at once, so an element is an
/// address AND the interval from its pop to its fill.
class LeakFinder final : public Analyzer {
 public:
  explicit LeakFinder(uint64_t open_longer_ns);

  struct Leak {
    uint64_t element = 0;
    uint64_t queue = 0;
    uint64_t device = 0;  // 0: no virtio_queue_notify named the queue's device
    uint64_t popped_ns = 0;
    uint64_t open_ns = 0;       // until the address was popped again, or the end of the trace
    bool reused = false;        // its address was popped again: surely never filled, or its fill is not in the trace
    bool open_longer = false;   // than the given bound
    bool reset_seen = false;    // the device was reset meanwhile, which drops its elements without an event
    bool loss_in_span = false;  // records are missing between its pop and the end of its interval: the fill may be among them
  };

  void lost(const Event& event, uint64_t count) override;
  void end(const ReadReport& report) override;

  /// A trace cannot make memory grow without bound. What is known at once, and what is listed:
  static constexpr size_t kMaxOpen = 262'144;
  static constexpr size_t kMaxQueues = 65'536;  // and devices
  static constexpr size_t kMaxAddresses = 1'000'000;
  static constexpr size_t kMaxLeaks = 100'000;
  [[nodiscard]] uint64_t leaks_left_out() const noexcept { return leaks_left_out_; }
  /// Pops beyond kMaxOpen: whether they were filled is not told.
  [[nodiscard]] uint64_t pops_left_out() const noexcept { return pops_left_out_; }
  /// By time of the pop.
  [[nodiscard]] const std::vector<Leak>& leaks() const noexcept { return leaks_; }
  [[nodiscard]] uint64_t pops() const noexcept { return pops_; }
  [[nodiscard]] uint64_t fills() const noexcept { return fills_; }
  /// The trace began late, or their pops were lost.
  [[nodiscard]] uint64_t fills_without_pop() const noexcept { return fills_without_pop_; }
  [[nodiscard]] size_t most_open() const noexcept { return most_open_; }
  /// kMaxAddresses: or more.
  [[nodiscard]] size_t addresses() const noexcept { return addresses_.size(); }
  [[nodiscard]] const Distribution& open_ns() const noexcept { return open_ns_; }

 private:
  struct Open {
    uint64_t queue;
    uint64_t popped_ns;
    uint64_t losses_before;
    uint64_t resets_before;
  };
  [[nodiscard]] uint64_t resets_of(uint64_t queue) const;
  void report_leak(uint64_t element, const Open& open, uint64_t until_ns, bool reused);

  uint64_t open_longer_ns_;
  std::unordered_map<uint64_t, Open> open_;
  std::map<uint64_t, uint64_t> device_of_queue_;
  std::map<uint64_t, uint64_t> resets_of_device_;
  std::unordered_set<uint64_t> addresses_;
  std::vector<Leak> leaks_;
  Distribution open_ns_;
  uint64_t leaks_left_out_ = 0;
  uint64_t pops_left_out_ = 0;
  uint64_t losses_ = 0;
  uint64_t pops_ = 0;
  uint64_t fills_ = 0;
  uint64_t fills_without_pop_ = 0;
  uint64_t last_ns_ = 0;
  size_t most_open_ = 0;
};

}  // namespace qperf::qemutrace
