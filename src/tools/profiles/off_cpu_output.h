#pragma once

#include <vector>

#include "analysis/sched_view.h"
#include "export/folded.h"
#include "export/speedscope.h"
#include "export/text_sink.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// Stacks and the wall nanoseconds that tasks waited in them.
struct OffCpuStacks {
  profile::NamedStacks names;
  std::vector<exporter::FoldedRow> rows;
};
[[nodiscard]] OffCpuStacks off_cpu_stacks(const analysis::SchedView& sched);

/// Off-CPU time, in wall nanoseconds: one line a stack.
void write_off_cpu_folded(const analysis::SchedView& sched, exporter::TextSink& sink);

/// The same as speedscope's JSON: all of it, then a profile for each task.
void write_off_cpu_speedscope(const analysis::SchedView& sched, exporter::TextSink& sink);

/// The sum of its samples' weights.
[[nodiscard]] uint64_t weight_of(const exporter::SpeedscopeProfile& profile);

/// One profile for each root frame, the heaviest first. `samples` have their stacks in `names`.
[[nodiscard]] std::vector<exporter::SpeedscopeProfile> profiles_by_root(const profile::NamedStacks& names,
                                                                        const std::vector<exporter::SpeedscopeSample>& samples);

}  // namespace qperf::tools
