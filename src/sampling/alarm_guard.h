#pragma once

#include <atomic>

namespace qperf::sampling {

/// Marks a vCPU as inside a callback for the life of the guard; Sampler::quiesce() waits for it.
class AlarmGuard {
 public:
  AlarmGuard(std::atomic<bool>& in_callback, const std::atomic<bool>& accepting) noexcept : in_callback_(in_callback) {
    // Sequentially consistent with quiesce(): either we see accepting == false, or it sees in_callback == true.
    in_callback_.store(true, std::memory_order_seq_cst);
    accepted_ = accepting.load(std::memory_order_seq_cst);
  }
  // Pairs with the acquire in quiesce(): what the callback did is visible before the mark goes.
  ~AlarmGuard() { in_callback_.store(false, std::memory_order_release); }
  AlarmGuard(const AlarmGuard&) = delete;
  AlarmGuard& operator=(const AlarmGuard&) = delete;

  [[nodiscard]] bool accepted() const noexcept { return accepted_; }

 private:
  std::atomic<bool>& in_callback_;
  bool accepted_;
};

}  // namespace qperf::sampling
