#include "tools/profiles/html_frames.h"

#include <fmt/core.h>

#include <utility>

#include "export/markup_text.h"

namespace qperf::tools {

uint32_t HtmlFrames::number_of(profile::FrameId frame) {
  const auto [position, added] = numbers_.try_emplace(frame.raw, static_cast<uint32_t>(names_.size()));
  if (added) {
    const profile::Frame& known = table_[frame];
    names_.push_back(exporter::clipped(known.name, name_bytes_));
    std::string place = exporter::clipped(known.file, name_bytes_);
    if (!place.empty() && known.line != 0) place += fmt::format(":{}", known.line);
    places_.push_back(std::move(place));
  }
  return position->second;
}

exporter::HtmlTree HtmlFrames::encode(const profile::CallTree& tree) {
  exporter::HtmlTree columns;
  bool root = true;
  for (const auto& node : tree.nodes()) {
    columns.parents.add(node.parent.raw);
    columns.frames.add(root ? 0 : number_of(node.frame));
    root = false;
  }
  return columns;
}

void HtmlFrames::move_into(exporter::HtmlReport& report) {
  report.frame_names = std::move(names_);
  report.frame_places = std::move(places_);
}

}  // namespace qperf::tools
