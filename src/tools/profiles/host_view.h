#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/profile_capture.h"
#include "analysis/sched_view.h"
#include "base/result.h"
#include "base/types.h"
#include "profile/binned_weights.h"
#include "profile/ids.h"
#include "sched/window.h"

namespace qperf::tools {

struct HostSample {
  uint32_t thread = 0;  // HostView::thread_name()
  VcpuIndex cpu;        // of the host
  WallNs at_ns = 0;     // of the guest's capture
  uint64_t weight = 0;
  profile::StackId stack;
};

/// A profile of the host, imported beside a capture: what QEMU's threads did meanwhile. What it points to outlives it.
struct HostView {
  std::string_view name;                    // of its capture, without folders: untrusted
  const analysis::CaptureProfile& profile;  // read with SampleAccess::kAgain
  const analysis::SchedView& sched;         // replayed
  sched::SpanSet window;                    // of the guest's capture
  uint64_t inside = 0;                      // samples in the window
  uint64_t outside = 0;
  uint64_t usual_gap_ns = 0;  // between two samples of one thread, while it runs: within a factor of 2; 0: not known

  /// Reads the samples in the window: those of one CPU ascend in time, CPUs alternate.
  Result<void> for_each_sample(const std::function<void(const HostSample&)>& use) const;
  /// "qemu-system-ris[812]", printable.
  [[nodiscard]] std::string thread_name(uint32_t thread) const;

  /// Reads the samples to fill inside, outside and usual_gap_ns.
  Result<void> survey();

 private:
  Result<void> for_all(const std::function<void(const HostSample&)>& use) const;
};

/// A host's samples by time, thread (the rows' group) and stack; the bins of a capture that ends at `end_ns`.
[[nodiscard]] Result<profile::BinnedWeights> binned_host(const HostView& host, WallNs end_ns);

}  // namespace qperf::tools
