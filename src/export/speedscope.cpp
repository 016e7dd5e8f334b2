#include "export/speedscope.h"

#include <limits>

#include "export/json_writer.h"

namespace qperf::exporter {
namespace {

constexpr uint32_t kUnused = std::numeric_limits<uint32_t>::max();

std::string_view unit_name(SpeedscopeUnit unit) {
  switch (unit) {
    case SpeedscopeUnit::kNone: return "none";
    case SpeedscopeUnit::kNanoseconds: return "nanoseconds";
  }
  return "none";
}

std::vector<SpeedscopeSample> joined(const std::vector<SpeedscopeSample>& samples) {
  std::vector<SpeedscopeSample> result;
  for (const SpeedscopeSample& sample : samples) {
    if (sample.weight == 0) continue;
    if (!result.empty() && result.back().stack == sample.stack)
      result.back().weight = profile::saturating_add(result.back().weight, sample.weight);
    else
      result.push_back(sample);
  }
  return result;
}

/// Index of each frame in the file, in order of FrameId, only those that some sample has.
std::vector<uint32_t> number_frames(const profile::NamedStacks& names, const SpeedscopeDocument& document) {
  std::vector<bool> seen(names.stacks.size(), false);
  std::vector<uint32_t> numbers(names.frames.size(), kUnused);
  for (const auto& profile : document.profiles) {
    for (const auto& sample : profile.samples) {
      if (sample.weight == 0 || seen[sample.stack.raw]) continue;
      seen[sample.stack.raw] = true;
      for (const profile::FrameId frame : names.stacks[sample.stack]) numbers[frame.raw] = 0;
    }
  }
  uint32_t next = 0;
  for (auto& number : numbers)
    if (number != kUnused) number = next++;
  return numbers;
}

void write_frames(const profile::FrameTable& frames, const std::vector<uint32_t>& numbers, JsonWriter& json) {
  json.key("frames");
  json.begin_array();
  for (uint32_t i = 0; i < frames.size(); ++i) {
    if (numbers[i] == kUnused) continue;
    const profile::Frame& frame = frames[profile::FrameId{i}];
    json.line_break();
    json.begin_object();
    json.key("name");
    json.string(frame.name);
    if (!frame.file.empty()) {
      json.key("file");
      json.string(frame.file);
    }
    if (frame.line != 0) {
      json.key("line");
      json.number(frame.line);
    }
    json.end_object();
  }
  json.end_array();
}

void write_profile(const profile::NamedStacks& names, const std::vector<uint32_t>& numbers, std::string_view unit,
                   const SpeedscopeProfile& profile, JsonWriter& json) {
  const auto samples = joined(profile.samples);
  uint64_t total = 0;
  for (const auto& sample : samples) total = profile::saturating_add(total, sample.weight);
  json.line_break();
  json.begin_object();
  json.key("type");
  json.string("sampled");
  json.key("name");
  json.string(profile.name);
  json.key("unit");
  json.string(unit);
  json.key("startValue");
  json.number(0);
  json.key("endValue");
  json.number(total);
  json.key("samples");
  json.begin_array();
  for (const auto& sample : samples) {
    json.line_break();
    json.begin_array();
    for (const profile::FrameId frame : names.stacks[sample.stack]) json.number(numbers[frame.raw]);
    json.end_array();
  }
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const auto& sample : samples) json.number(sample.weight);
  json.end_array();
  json.end_object();
}

}  // namespace

void write_speedscope(const profile::NamedStacks& names, const SpeedscopeDocument& document, TextSink& sink) {
  const auto numbers = number_frames(names, document);
  JsonWriter json(sink);
  json.begin_object();
  json.key("$schema");
  json.string("https://www.speedscope.app/file-format-schema.json");
  json.key("name");
  json.string(document.name);
  json.key("exporter");
  json.string(document.exporter);
  json.key("activeProfileIndex");
  json.number(document.active);
  json.key("shared");
  json.begin_object();
  write_frames(names.frames, numbers, json);
  json.end_object();
  json.key("profiles");
  json.begin_array();
  for (const auto& profile : document.profiles) write_profile(names, numbers, unit_name(document.unit), profile, json);
  json.end_array();
  json.end_object();
  sink.write("\n");
}

}  // namespace qperf::exporter
