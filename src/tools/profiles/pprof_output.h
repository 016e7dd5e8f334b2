#pragma once

#include <cstdint>
#include <span>

#include "analysis/profile_capture.h"
#include "analysis/sched_view.h"
#include "export/text_sink.h"

namespace qperf::tools {

/// pprof.me takes no larger files.
inline constexpr uint64_t kPprofMeLimitBytes = uint64_t{2} << 20;

/// How a recording counts: samples of the base are negated and labelled pprof::base, which readers show as a difference.
enum class PprofSign : uint8_t { kPlus, kBase };

/// One recording of a file, made with Detail::kLines.
struct PprofSide {
  const analysis::CaptureProfile& profile;
  const analysis::SchedView* sched = nullptr;  // labels of its samples by SchedRequest::label_samples; nullptr: none
  PprofSign sign = PprofSign::kPlus;
  double scale = 1;  // of its values
};

/// Writes gzip-compressed profile.proto; what is said once is said of the first side. Returns the bytes written.
[[nodiscard]] Result<uint64_t> write_pprof(const profile::FrameTable& frames, std::span<const PprofSide> sides, exporter::TextSink& sink);

/// Where tasks waited, in nanoseconds; `sched` has been replayed.
[[nodiscard]] Result<uint64_t> write_off_cpu_pprof(const analysis::CaptureInput& input, const analysis::SchedView& sched,
                                                   exporter::TextSink& sink);

}  // namespace qperf::tools
