#pragma once

#include "base/result.h"
#include "export/text_sink.h"
#include "tools/qperf/diff_input.h"

namespace qperf::tools {

/// Lines `stack before after`: raw counts of one run a side at one rate, as other tools' differential folded files have them; else
/// means over the runs, in nanoseconds or instructions.
void write_diff_folded(const DiffInput& input, exporter::TextSink& sink);

/// The new side's flame graph, coloured by what changed.
void write_diff_svg(const DiffInput& input, exporter::TextSink& sink);

/// All runs, the old ones' samples negative and labelled pprof::base. Each run is scaled so that values are the mean of its side and the
/// old side is normalised to the new one; one new run keeps its own values. Loaded with lines.
[[nodiscard]] Result<void> write_diff_pprof(const DiffInput& input, exporter::TextSink& sink);

/// The new recording's page with the old one in it. Several runs of a side are their sum, each taken as heavy as the heaviest; several
/// new ones have no timeline. The more the runs of a side differ, the fewer samples are told to be behind them (report::dispersion()).
[[nodiscard]] Result<void> write_diff_html(DiffInput& input, exporter::TextSink& sink);

}  // namespace qperf::tools
