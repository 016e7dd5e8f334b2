#pragma once

#include <cstdint>
#include <string>

namespace qperf::tools {

/// One line about a running recording, rewritten in place on stderr. Shown only where stderr is a terminal and QEMU's output is
/// not one: the guest's console must stay as the guest wrote it.
class StatusLine {
 public:
  explicit StatusLine(std::string capture);
  [[nodiscard]] bool is_shown() const noexcept { return shown_; }
  /// At most once a second.
  void show(uint64_t elapsed_ns, bool sampling);
  void clear();

 private:
  std::string capture_;
  bool shown_;
  uint64_t last_second_ = ~uint64_t{0};
};

}  // namespace qperf::tools
