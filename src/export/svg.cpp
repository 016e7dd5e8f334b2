#include "export/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "export/markup_text.h"
#include "export/svg_colour.h"
#include "export/svg_page.h"
#include "export/svg_words.h"

namespace qperf::exporter {
namespace {

constexpr double kLeft = 10;
constexpr double kTop = 52;
constexpr double kRow = 16;
constexpr double kFontPixels = 12;
constexpr double kColumn = 0.6 * kFontPixels;  // of the usual fonts of fixed width
constexpr double kSmallFontPixels = 11;
constexpr double kLine = 16;  // of words under the frames
constexpr uint64_t kLeastColumns = 3;

/// With two decimals at most.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Lines of at most `columns` bytes where blanks allow it.
std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  while (text.size() > columns) {
    const size_t blank = text.rfind(' ', columns);
    if (blank == std::string_view::npos || blank == 0) break;
    lines.emplace_back(text.substr(0, blank));
    text.remove_prefix(blank + 1);
  }
  lines.push_back(clipped_to_columns(text, columns));
  return lines;
}

struct LegendEntry {
  std::string colour;
  std::string words;
};

class SvgWriter {
 public:
  SvgWriter(const profile::FrameTable& frames, const SvgPicture& picture, TextSink& sink, const SvgLimits& limits)
      : frames_(frames), picture_(picture), sink_(sink), limits_(limits), totals_(picture.tree.totals(picture.self)),
        layout_(svg_layout(picture.tree, frames, totals_, limits)), words_(frames, picture, totals_) {
    if (picture_.comparison)
      for (const SvgBox& box : layout_.boxes) {
        const double difference = shown_difference(change_of(box));
        most_grown_ = std::max(most_grown_, difference);
        most_shrunk_ = std::min(most_shrunk_, difference);
      }
  }

  void write() {
    const auto columns = static_cast<size_t>(limits_.width_pixels / (0.6 * kSmallFontPixels));
    std::vector<std::string> lines;
    for (const std::string& note : words_.notes(layout_))
      for (std::string& line : wrapped(note, columns)) lines.push_back(std::move(line));
    const double below = kTop + kRow * layout_.rows;
    const double height = below + kLine * static_cast<double>(lines.size() + 2) + 12;
    open(height);
    write_head();
    write_frames();
    write_below(below, lines);
    sink_.write("<script><![CDATA[\n");
    sink_.write(svg_page().script);
    sink_.write("]]></script>\n</svg>\n");
  }

 private:
  [[nodiscard]] const SvgChange& change_of(const SvgBox& box) const { return picture_.comparison->changes[box.node.raw]; }

  void open(double height) {
    const double width = limits_.width_pixels + 2 * kLeft;
    sink_.write(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                            "viewBox=\"0 0 {0} {1}\" aria-label=\"flame graph: {2}\" "
                            "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"{3}\" "
                            "fill=\"#16130f\">\n<style>\n",
                            number(width), number(height), markup_text(picture_.title), number(kFontPixels)));
    sink_.write(svg_page().style);
    sink_.write("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfa\"/>\n");
  }

  void text(double x, double y, std::string_view attributes, std::string_view words) {
    sink_.write(fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", number(x), number(y), attributes.empty() ? "" : " ", attributes,
                            markup_text(words)));
  }

  void write_head() {
    const double right = kLeft + limits_.width_pixels;
    const auto columns = static_cast<size_t>(limits_.width_pixels / kColumn) - 40;  // beside the buttons
    text(kLeft, 20, "font-size=\"15\" font-weight=\"bold\"", clipped_to_columns(picture_.title, columns * 3 / 4));
    text(kLeft, 38, "fill=\"#5d5a54\"", clipped_to_columns(picture_.subtitle, static_cast<size_t>(limits_.width_pixels / kColumn) - 2));
    text(right - 90, 20, "class=\"reset act\" text-anchor=\"end\" visibility=\"hidden\"", "Reset zoom");
    text(right, 20, "class=\"search act\" text-anchor=\"end\" visibility=\"hidden\"", "Search");
  }

  void write_frames() {
    sink_.write(fmt::format("<g class=\"frames\" data-left=\"{}\" data-width=\"{}\" data-column=\"{}\">\n", number(kLeft),
                            number(limits_.width_pixels), number(kColumn)));
    for (const SvgBox& box : layout_.boxes) write_frame(box);
    sink_.write("</g>\n");
  }

  void write_frame(const SvgBox& box) {
    const double scale = totals_[0] == 0 ? 0 : limits_.width_pixels / static_cast<double>(totals_[0]);
    const bool root = box.node.raw == 0;
    const double x = kLeft + static_cast<double>(box.from) * scale;
    const double width = root ? limits_.width_pixels : static_cast<double>(box.weight) * scale;
    const double y = kTop + kRow * (layout_.rows - 1 - box.depth);
    sink_.write(fmt::format("<g class=\"frame\" data-depth=\"{}\" data-from=\"{}\" data-weight=\"{}\"><title>{}</title>"
                            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                            box.depth, box.from, box.weight, tooltip_text(box.node), number(x), number(y), number(std::max(0.05, width - 0.5)),
                            number(kRow - 1), colour(box)));
    const auto columns = width < 6 ? 0 : static_cast<uint64_t>((width - 6) / kColumn);
    if (columns >= kLeastColumns)
      sink_.write(fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", number(x + 3), number(y + 11.5),
                              markup_text(clipped_to_columns(words_.name_of(box.node), columns))));
    sink_.write("</g>\n");
  }

  /// Line by line: a line break inside a name must not look like one of ours.
  [[nodiscard]] std::string tooltip_text(profile::NodeId node) const {
    std::string text;
    for (const std::string& line : words_.tooltip(node)) text += (text.empty() ? "" : "\n") + markup_text(line);
    return text;
  }

  /// Against the largest change in the picture.
  [[nodiscard]] double strength(double difference) const { return difference / std::max(most_grown_, -most_shrunk_); }

  [[nodiscard]] FrameKind kind(const SvgBox& box) {
    const profile::Frame& frame = frames_[picture_.tree.nodes()[box.node.raw].frame];
    if (picture_.stacks == SvgStacks::kFunctions) return kind_of(frame);
    if (picture_.stacks == SvgStacks::kTasks) return box.depth == 1 ? FrameKind::kTask : kind_of(frame);
    if (box.depth == 1) uncertain_ = frame.name == "[uncertain]";
    const uint32_t depth = box.depth - (uncertain_ ? 1 : 0);
    if (depth == 0) return FrameKind::kOther;
    return depth == 1 ? FrameKind::kTask : depth == 2 ? FrameKind::kWaiting : FrameKind::kWaitedIn;
  }

  [[nodiscard]] std::string colour(const SvgBox& box) {
    if (picture_.comparison) {
      const double difference = shown_difference(change_of(box));
      if (difference == 0) return std::string(box.node.raw == 0 ? kRootColour : kUnchangedColour);
      return colour_of_change(strength(difference));
    }
    if (box.node.raw == 0) return std::string(kRootColour);
    const FrameKind found = kind(box);
    kinds_[static_cast<size_t>(found)] = true;
    return colour_of(found, frames_[picture_.tree.nodes()[box.node.raw].frame].name);
  }

  [[nodiscard]] std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    if (const auto& comparison = picture_.comparison) {
      if (most_grown_ > 0) entries.push_back({colour_of_change(strength(most_grown_)), "grew, at most " + compared_difference(*comparison, most_grown_)});
      if (most_shrunk_ < 0) entries.push_back({colour_of_change(strength(most_shrunk_)), "shrank, at most " + compared_difference(*comparison, most_shrunk_)});
      entries.push_back({std::string(kUnchangedColour), "no change beyond the noise"});
      return entries;
    }
    for (size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i]) entries.push_back({colour_of(static_cast<FrameKind>(i), ""), std::string(describe(static_cast<FrameKind>(i)))});
    return entries;
  }

  void write_below(double y, const std::vector<std::string>& lines) {
    const double right = kLeft + limits_.width_pixels;
    text(kLeft, y + 12, "class=\"pointed\"", "");
    text(right, 38, "class=\"matched\" text-anchor=\"end\" fill=\"#8a1090\"", "");
    sink_.write(fmt::format("<g font-size=\"{}\" fill=\"#5d5a54\">\n", number(kSmallFontPixels)));
    double x = kLeft;
    y += kLine + 14;
    for (const LegendEntry& entry : legend()) {
      sink_.write(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"{}\"/>\n", number(x), number(y - 10), entry.colour));
      text(x + 16, y, "", entry.words);
      x += 16 + 0.6 * kSmallFontPixels * static_cast<double>(entry.words.size() + 3);
    }
    for (const std::string& line : lines) text(kLeft, y += kLine, "", line);
    sink_.write("</g>\n");
  }

  const profile::FrameTable& frames_;
  const SvgPicture& picture_;
  TextSink& sink_;
  SvgLimits limits_;
  std::vector<uint64_t> totals_;
  SvgLayout layout_;
  SvgWords words_;
  double most_grown_ = 0;   // of what is drawn
  double most_shrunk_ = 0;  // negative
  bool uncertain_ = false;  // the stack at hand is under [uncertain]
  std::array<bool, kFrameKinds> kinds_{};  // that are drawn
};

}  // namespace

void write_svg(const profile::FrameTable& frames, const SvgPicture& picture, TextSink& sink, const SvgLimits& limits) {
  SvgWriter(frames, picture, sink, limits).write();
}

}  // namespace qperf::exporter
