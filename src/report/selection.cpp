#include "report/selection.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

namespace qperf::report {
namespace {

using profile::FrameId;
using profile::StackId;
using profile::saturating_add;

bool found_in_any(std::span<const Pattern> patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.found_in(name); });
}

/// Answers for each frame, asked once.
class FrameAnswers {
 public:
  FrameAnswers(std::span<const Pattern> patterns, const profile::FrameTable& frames, std::span<const std::string> searched)
      : answers_(frames.size()) {
    if (patterns.empty()) return;
    for (uint32_t i = 0; i < answers_.size(); ++i)
      answers_[i] = found_in_any(patterns, searched.empty() ? frames[FrameId{i}].name : searched[i]) ? 1 : 0;
  }
  [[nodiscard]] bool operator[](FrameId frame) const noexcept { return answers_[frame.raw] != 0; }
  [[nodiscard]] bool any_of(std::span<const FrameId> stack) const noexcept {
    return std::ranges::any_of(stack, [&](FrameId frame) { return answers_[frame.raw] != 0; });
  }

 private:
  std::vector<char> answers_;
};

/// What becomes of each stack, decided once however many rows have it.
class StackFates {
 public:
  StackFates(const Selection& selection, profile::NamedStacks& names, std::span<const std::string> searched)
      : names_(names), ignored_(selection.ignore, names.frames, searched), hidden_(selection.hide, names.frames, searched),
        hides_(!selection.hide.empty()), fates_(names.stacks.size(), kUndecided) {
    for (const Pattern& pattern : selection.focus) focused_.emplace_back(std::span(&pattern, 1), names.frames, searched);
  }

  /// The stack to count it under; nullptr: it is left out.
  const uint32_t* fate(StackId stack) {
    uint32_t& fate = fates_[stack.raw];
    if (fate == kUndecided) fate = decide(stack);
    return fate == kLeftOut ? nullptr : &fate;
  }

 private:
  static constexpr uint32_t kUndecided = std::numeric_limits<uint32_t>::max();
  static constexpr uint32_t kLeftOut = kUndecided - 1;

  uint32_t decide(StackId stack) {
    const auto frames = names_.stacks[stack];
    for (const FrameAnswers& focus : focused_)
      if (!focus.any_of(frames)) return kLeftOut;
    if (ignored_.any_of(frames)) return kLeftOut;
    if (!hides_ || !hidden_.any_of(frames)) return stack.raw;
    shown_.clear();
    std::ranges::copy_if(frames, std::back_inserter(shown_), [&](FrameId frame) { return !hidden_[frame]; });
    if (shown_.empty()) shown_.push_back(names_.frames.intern({.name = std::string(kHiddenFrame), .file = "", .line = 0}));
    return names_.stacks.intern(shown_).raw;
  }

  profile::NamedStacks& names_;
  std::vector<FrameAnswers> focused_;
  FrameAnswers ignored_;
  FrameAnswers hidden_;
  bool hides_;
  std::vector<uint32_t> fates_;  // by stack
  std::vector<FrameId> shown_;   // reused
};

}  // namespace

Selected select(const Selection& selection, std::span<const Row> rows, profile::NamedStacks& names,
                std::span<const std::string> searched) {
  Selected selected;
  StackFates fates(selection, names, searched);
  for (const Row& row : rows) {
    const uint32_t* stack = fates.fate(row.stack);
    if (stack == nullptr) {
      selected.left_out = saturating_add(selected.left_out, row.weight);
      continue;
    }
    selected.rows.push_back({.group = row.group, .stack = StackId{*stack}, .weight = row.weight});
    selected.weight = saturating_add(selected.weight, row.weight);
  }
  return selected;
}

}  // namespace qperf::report
