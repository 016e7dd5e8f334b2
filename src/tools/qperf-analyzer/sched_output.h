#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/sched_view.h"
#include "base/result.h"
#include "export/speedscope.h"
#include "export/text_sink.h"
#include "options.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// What is asked for of the scheduler's events; nullopt: nothing. Error: --task is no regular expression.
[[nodiscard]] Result<std::optional<analysis::SchedRequest>> sched_request_for(const Options& options);

/// The file of --off-cpu-output, in the format of the profile.
void write_off_cpu(const analysis::SchedView& sched, const Options& options, exporter::TextSink& sink);

/// The sum of its samples' weights.
[[nodiscard]] uint64_t weight_of(const exporter::SpeedscopeProfile& profile);

/// One profile for each root frame, the heaviest first. `samples` have their stacks in `names`.
[[nodiscard]] std::vector<exporter::SpeedscopeProfile> profiles_by_root(const profile::NamedStacks& names,
                                                                        const std::vector<exporter::SpeedscopeSample>& samples);

}  // namespace qperf::tools
