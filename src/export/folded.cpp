#include "export/folded.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/printable.h"

namespace qperf::exporter {
namespace {

constexpr std::string_view kBlank = " \t";
constexpr std::string_view kNoFrame = "[unknown]";

/// Ranks of all frame texts such that stacks compare by the bytes of their joined text when their ranks are compared. A frame's
/// text counts with what follows it: ';' inside a stack, the end (below every other byte) at the leaf.
class TextRanks {
 public:
  explicit TextRanks(const profile::FrameTable& frames) {
    std::vector<std::string> keys;  // inner and leaf text of each frame, then those of an empty stack
    keys.reserve(frames.size() * 2 + 1);
    for (uint32_t i = 0; i < frames.size(); ++i) {
      keys.push_back(folded_frame(frames[profile::FrameId{i}].name) + ';');
      keys.push_back(folded_leaf(frames[profile::FrameId{i}].name) + '\0');
    }
    keys.push_back(std::string(kNoFrame) + '\0');
    std::vector<uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    ranks_.resize(keys.size());
    for (const uint32_t key : order) {
      if (texts_.empty() || texts_.back() != keys[key]) texts_.push_back(keys[key]);
      ranks_[key] = static_cast<uint32_t>(texts_.size() - 1);
    }
    for (auto& text : texts_)
      if (text.back() == '\0') text.pop_back();
  }

  [[nodiscard]] uint32_t inner(profile::FrameId frame) const noexcept { return ranks_[size_t{frame.raw} * 2]; }
  [[nodiscard]] uint32_t leaf(profile::FrameId frame) const noexcept { return ranks_[size_t{frame.raw} * 2 + 1]; }
  [[nodiscard]] uint32_t no_frame() const noexcept { return ranks_.back(); }
  [[nodiscard]] const std::string& text(uint32_t rank) const noexcept { return texts_[rank]; }

 private:
  std::vector<uint32_t> ranks_;
  std::vector<std::string> texts_;  // by rank; inner ones end in ';'
};

struct Line {
  size_t begin;  // of its ranks
  size_t end;
  uint64_t count;
  uint64_t count2;
};

}  // namespace

std::string folded_frame(std::string_view name) {
  std::string text = printable(name);
  std::ranges::replace(text, ';', ':');
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string::npos) return std::string(kNoFrame);
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string folded_leaf(std::string_view name) {
  std::string text = folded_frame(name);
  const size_t blank = text.find_last_of(kBlank);
  if (blank == std::string::npos) return text;
  const std::string_view last = std::string_view(text).substr(blank + 1);
  const size_t digits = std::min(last.find_first_not_of("0123456789"), last.size());
  if (digits == 0) return text;
  const bool number = digits == last.size() ||
                      (last[digits] == '.' && last.find_first_not_of("0123456789", digits + 1) == std::string_view::npos);
  return number ? text + '_' : text;
}

void write_folded(const profile::NamedStacks& names, std::span<const FoldedRow> rows, FoldedCounts counts, TextSink& sink) {
  const TextRanks ranks(names.frames);
  std::vector<uint32_t> words;
  std::vector<Line> lines;
  lines.reserve(rows.size());
  for (const FoldedRow& row : rows) {
    if (row.count == 0 && (counts == FoldedCounts::kOne || row.count2 == 0)) continue;
    const size_t begin = words.size();
    const auto stack = names.stacks[row.stack];
    if (row.root && stack.empty()) words.push_back(ranks.leaf(*row.root));
    if (row.root && !stack.empty()) words.push_back(ranks.inner(*row.root));
    if (!row.root && stack.empty()) words.push_back(ranks.no_frame());
    if (!stack.empty()) {
      for (const profile::FrameId frame : stack.first(stack.size() - 1)) words.push_back(ranks.inner(frame));
      words.push_back(ranks.leaf(stack.back()));
    }
    lines.push_back(Line{begin, words.size(), row.count, row.count2});
  }
  const auto words_of = [&](const Line& line) { return std::span(words).subspan(line.begin, line.end - line.begin); };
  std::ranges::sort(lines, [&](const Line& a, const Line& b) {
    const auto left = words_of(a);
    const auto right = words_of(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  });
  std::string text;
  for (size_t i = 0; i < lines.size();) {
    Line line = lines[i];
    const auto stack = words_of(line);
    for (++i; i < lines.size() && std::ranges::equal(words_of(lines[i]), stack); ++i) {
      line.count = profile::saturating_add(line.count, lines[i].count);
      line.count2 = profile::saturating_add(line.count2, lines[i].count2);
    }
    text.clear();
    for (const uint32_t rank : stack) text += ranks.text(rank);
    fmt::format_to(std::back_inserter(text), " {}", line.count);
    if (counts == FoldedCounts::kTwo) fmt::format_to(std::back_inserter(text), " {}", line.count2);
    text += '\n';
    sink.write(text);
  }
}

}  // namespace qperf::exporter
