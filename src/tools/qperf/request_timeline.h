#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qemutrace/requests.h"

namespace qperf::tools {

/// Requests as lanes of a Perfetto trace: each device has as many lanes as requests were ever in flight at once, each request is a
/// slice with its stages inside, and a counter shows the depth. Times are the trace's.
class RequestTimeline {
 public:
  void add(const qemutrace::Request& request);
  /// The whole file; `names` as learned by the end.
  [[nodiscard]] std::string perfetto(const qemutrace::DeviceNames& names);

  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }
  static constexpr size_t kMaxRequests = 1'000'000;

 private:
  std::vector<qemutrace::Request> requests_;
  uint64_t left_out_ = 0;
};

}  // namespace qperf::tools
