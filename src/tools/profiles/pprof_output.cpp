#include "tools/profiles/pprof_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analysis/units.h"
#include "export/gzip_sink.h"
#include "export/pprof.h"

namespace qperf::tools {
namespace {

using analysis::WeightUnit;

int64_t signed_value(uint64_t value) noexcept { return static_cast<int64_t>(std::min(value, uint64_t{INT64_MAX})); }

exporter::PprofHeader common_header(const analysis::CaptureInput& input) {
  exporter::PprofHeader header;
  const capture::Summary& summary = input.summary;
  header.start_realtime_ns = summary.header.start_realtime_ns;
  if (summary.trailer)
    header.duration_ns = summary.trailer->end_wall_ns;
  else if (summary.last_ledger)
    header.duration_ns = summary.last_ledger->wall_ns;
  header.comments.push_back("qperf " QPERF_VERSION ": " + input.path);
  if (!input.legacy) header.comments.push_back(analysis::describe_mode(input));
  return header;
}

exporter::PprofHeader on_cpu_header(const analysis::CaptureInput& input) {
  exporter::PprofHeader header = common_header(input);
  switch (analysis::weight_unit(input)) {
    case WeightUnit::kTicks:
      header.sample_types = {{"samples", "count"}, {"wall", "nanoseconds"}};
      header.period_type = header.sample_types.back();
      break;
    case WeightUnit::kPeriods:
      header.sample_types = {{"samples", "count"}, {"instructions", "count"}};
      header.period_type = header.sample_types.back();
      break;
    case WeightUnit::kInstructions: header.sample_types = {{"blocks", "count"}, {"instructions", "count"}}; break;
    case WeightUnit::kSamples: header.sample_types = {{"samples", "count"}}; break;
  }
  header.default_type = header.sample_types.size() - 1;
  if (header.period_type) header.period = analysis::weight_as_quantity(input, 1);
  return header;
}

/// The labels of one row; texts live as long as this.
class RowLabels {
 public:
  RowLabels(const analysis::CaptureInput& input, const analysis::SchedView* sched)
      : sched_(sched), vcpus_known_(analysis::weight_unit(input) != WeightUnit::kInstructions) {}

  std::span<const exporter::PprofLabel> of(const profile::LocatedRow& row) {
    labels_.clear();
    // As text: readers drop a number that is 0.
    vcpu_ = fmt::format("cpu{}", row.vcpu.raw);
    if (vcpus_known_) labels_.push_back({.key = "vcpu", .text = vcpu_, .number = std::nullopt});
    if (sched_ == nullptr || row.root == profile::LocatedRow::kNoRoot) return labels_;
    texts_ = sched_->labels_of(row.root);
    labels_.push_back({.key = "task", .text = texts_.task, .number = std::nullopt});
    if (texts_.tid) labels_.push_back({.key = "tid", .text = {}, .number = texts_.tid});
    if (!texts_.phase.empty()) labels_.push_back({.key = "phase", .text = texts_.phase, .number = std::nullopt});
    return labels_;
  }

 private:
  const analysis::SchedView* sched_;
  bool vcpus_known_;
  analysis::SampleLabels texts_;
  std::string vcpu_;
  std::vector<exporter::PprofLabel> labels_;
};

int64_t scaled(uint64_t value, double scale) noexcept {
  if (scale == 1) return signed_value(value);
  const double product = static_cast<double>(value) * scale;
  return product < 9e18 ? std::llround(product) : INT64_MAX;
}

void write_side(exporter::PprofWriter& writer, const PprofSide& side) {
  const analysis::CaptureInput& input = side.profile.input;
  const profile::LocatedProfile& located = *side.profile.located;
  const bool two = analysis::weight_unit(input) != WeightUnit::kSamples;
  writer.begin_profile(located);
  RowLabels labels(input, side.sched);
  std::vector<exporter::PprofLabel> all;
  std::vector<int64_t> values;
  for (const profile::LocatedRow& row : located.rows) {
    values.assign(1, scaled(row.samples, side.scale));
    if (two) values.push_back(scaled(analysis::weight_as_quantity(input, row.weight), side.scale));
    const auto of_row = labels.of(row);
    if (side.sign == PprofSign::kPlus) {
      writer.sample(row.stack, values, of_row);
      continue;
    }
    for (int64_t& value : values) value = -value;
    all.assign(of_row.begin(), of_row.end());
    all.push_back({.key = "pprof::base", .text = "true", .number = std::nullopt});
    writer.sample(row.stack, values, all);
  }
}

Result<uint64_t> finish(exporter::GzipSink& gzip) {
  if (!gzip.finish()) return Error{ErrorCode::kIo, "pprof: zlib could not compress: out of memory"};
  return gzip.bytes_out();
}

}  // namespace

Result<uint64_t> write_pprof(const profile::FrameTable& frames, std::span<const PprofSide> sides, exporter::TextSink& sink) {
  exporter::GzipSink gzip(sink);
  const exporter::PprofHeader header = on_cpu_header(sides.front().profile.input);
  exporter::PprofWriter writer(header, frames, gzip);
  for (const PprofSide& side : sides) write_side(writer, side);
  return finish(gzip);
}

Result<uint64_t> write_off_cpu_pprof(const analysis::CaptureInput& input, const analysis::SchedView& sched, exporter::TextSink& sink) {
  exporter::PprofHeader header = common_header(input);
  header.sample_types = {{"offcpu", "nanoseconds"}};
  const auto lines = sched.off_cpu_lines();
  profile::FrameTable frames;
  profile::LocatedProfile located;
  std::vector<profile::StackId> stacks;
  std::vector<profile::LocationId> stack;
  std::vector<std::optional<profile::LocationId>> location_of_frame;
  for (const sched::OffCpuLine& line : lines) {
    stack.clear();
    for (auto name = line.frames.rbegin(); name != line.frames.rend(); ++name) {
      const profile::SourceLine source{.frame = frames.intern({.name = *name, .file = "", .line = 0}), .line = 0};
      location_of_frame.resize(frames.size());
      auto& location = location_of_frame[source.frame.raw];
      if (!location) location = located.locations.add({}, std::span(&source, 1));
      stack.push_back(*location);
    }
    stacks.push_back(located.stacks.intern(stack));
  }
  exporter::GzipSink gzip(sink);
  exporter::PprofWriter writer(header, frames, gzip);
  writer.begin_profile(located);
  for (size_t i = 0; i < lines.size(); ++i) {
    // Their first frames are [uncertain] where that is so, the task, and its state.
    const size_t task = lines[i].frames.front() == sched::kUncertainRoot ? 1 : 0;
    const std::vector<exporter::PprofLabel> labels{{.key = "task", .text = lines[i].frames[task], .number = std::nullopt},
                                                   {.key = "state", .text = lines[i].frames[task + 1], .number = std::nullopt}};
    const int64_t value = signed_value(lines[i].weight_ns);
    writer.sample(stacks[i], std::span(&value, 1), labels);
  }
  return finish(gzip);
}

}  // namespace qperf::tools
