#pragma once

#include <cstdint>

#include "analysis/sched_view.h"
#include "export/text_sink.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

/// pprof.me takes no larger files.
inline constexpr uint64_t kPprofMeLimitBytes = uint64_t{2} << 20;

/// Writes gzip-compressed profile.proto. Both profiles were made with Detail::kLines; the baseline's samples are negated and
/// labelled pprof::base, which readers show as a difference. `sched`: the labels of current's samples by
/// SchedRequest::label_samples; nullptr: none. Returns the bytes written.
[[nodiscard]] Result<uint64_t> write_pprof(const Profiles& profiles, const analysis::SchedView* sched, exporter::TextSink& sink);

/// Where tasks waited, in nanoseconds; `sched` has been replayed.
[[nodiscard]] Result<uint64_t> write_off_cpu_pprof(const analysis::CaptureInput& input, const analysis::SchedView& sched,
                                                   exporter::TextSink& sink);

}  // namespace qperf::tools
