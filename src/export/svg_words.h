#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "export/svg.h"

namespace qperf::exporter {

/// What is said of a picture's frames.
class SvgWords {
 public:
  /// All outlive it. `totals`: by node.
  SvgWords(const profile::FrameTable& frames, const SvgPicture& picture, std::span<const uint64_t> totals)
      : frames_(frames), picture_(picture), totals_(totals) {}

  /// "all" for the root.
  [[nodiscard]] std::string name_of(profile::NodeId node) const;
  /// The name, its shares and weight, and its place in the source, a line each.
  [[nodiscard]] std::vector<std::string> tooltip(profile::NodeId node) const;
  /// What the picture does not show, and the picture's own notes.
  [[nodiscard]] std::vector<std::string> notes(const SvgLayout& layout) const;

 private:
  [[nodiscard]] std::string change_of(profile::NodeId node) const;
  [[nodiscard]] std::string what_is_gone() const;

  const profile::FrameTable& frames_;
  const SvgPicture& picture_;
  std::span<const uint64_t> totals_;
};

/// A value of a comparison, with its unit: "12.30 %". Differences have a sign, and those of percentages are points.
[[nodiscard]] std::string compared_value(const SvgComparison& comparison, double value);
[[nodiscard]] std::string compared_difference(const SvgComparison& comparison, double difference);

/// The change's difference where it counts, else 0.
[[nodiscard]] double shown_difference(const SvgChange& change) noexcept;

}  // namespace qperf::exporter
