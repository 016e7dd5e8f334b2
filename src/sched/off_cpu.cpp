#include "sched/off_cpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>

#include "base/keyed_hash.h"
#include "base/printable.h"
#include "guest/target.h"
#include "guest/trace_events.h"

namespace qperf::sched {
namespace {

enum Kind : uint16_t { kBlockedLine, kRunnableLine, kMoreLine };
enum Flag : uint16_t { kUncertain = 1, kHasEnqueue = 2, kHasWaker = 4, kWakerIsTask = 8, kRunnableState = 16 };

constexpr std::string_view kWakerSeparator = "--";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string joined(const std::vector<std::string>& frames) {
  std::string text;
  for (const std::string& frame : frames) {
    if (!text.empty()) text += ';';
    text += frame;
  }
  return text;
}

}  // namespace

std::vector<std::string> HexFrameNames::frames(GuestVa return_address) { return {fmt::format("{:#x}", return_address.raw)}; }

std::string folded_frame(std::string_view text) {
  std::string frame = printable(text);
  std::ranges::replace(frame, ';', ':');
  const size_t first = frame.find_first_not_of(' ');
  if (first == std::string::npos) return "[unknown]";
  return frame.substr(first, frame.find_last_not_of(' ') + 1 - first);
}

std::string folded_leaf(std::string frame) {
  // The number that readers would take for the count: space, digits, perhaps a point and digits.
  size_t at = frame.size();
  while (at > 0 && is_digit(frame[at - 1])) --at;
  if (at > 0 && frame[at - 1] == '.') {
    --at;
    while (at > 0 && is_digit(frame[at - 1])) --at;
  }
  if (at < frame.size() && at > 0 && frame[at - 1] == ' ' && is_digit(frame[at])) frame.push_back('_');
  return frame;
}

bool resource_recurs(uint64_t wait_reason, uint64_t resource) noexcept {
  if (resource == 0) return false;
  switch (guest::resource_identity(wait_reason)) {
    case guest::ResourceIdentity::kNone: return false;
    case guest::ResourceIdentity::kAddress:
    case guest::ResourceIdentity::kPid: return true;
    case guest::ResourceIdentity::kUnknown: return guest::kDefaultKernelRange.contains(GuestVa{resource});
  }
  return false;
}

std::optional<std::string> resource_name(uint64_t wait_reason, uint64_t resource) {
  if (!resource_recurs(wait_reason, resource)) return std::nullopt;
  if (guest::resource_identity(wait_reason) == guest::ResourceIdentity::kPid) return fmt::format("pid={}", resource);
  return fmt::format("{:#x}", resource);
}

/// Frames by address, each address named once.
class OffCpuProfile::NamedFrames {
 public:
  explicit NamedFrames(FrameNames& names) : names_(names) {}

  /// Appends the stack's frames, root first.
  void append_root_first(std::span<const GuestVa> stack, std::vector<std::string>& out) {
    for (size_t i = stack.size(); i-- > 0;) {
      const auto& frames = at(stack[i]);
      out.insert(out.end(), frames.rbegin(), frames.rend());
    }
  }
  void append_leaf_first(std::span<const GuestVa> stack, std::string_view suffix, std::vector<std::string>& out) {
    for (const GuestVa address : stack) {
      for (const std::string& frame : at(address)) out.push_back(frame + std::string(suffix));
    }
  }

 private:
  const std::vector<std::string>& at(GuestVa address) {
    const auto [it, added] = known_.try_emplace(address.raw);
    if (added) {
      for (const std::string& name : names_.frames(address)) it.value().push_back(folded_frame(name));
    }
    return it->second;
  }

  FrameNames& names_;
  tsl::robin_map<uint64_t, std::vector<std::string>, KeyedHash> known_;
};

size_t OffCpuProfile::KeyHash::operator()(const Key& key) const noexcept {
  static_assert(std::has_unique_object_representations_v<Key>);
  return keyed_hash(std::as_bytes(std::span(&key, 1)));
}

OffCpuProfile::Key OffCpuProfile::key_of(const Interval& interval) const {
  Key key;
  key.task = interval.task.raw;
  key.label = interval.label.raw;
  key.stack = interval.stack.raw;
  if (!interval.certain) key.flags |= kUncertain;
  if (interval.state == TaskState::kBlocked) {
    key.kind = kBlockedLine;
    if (interval.certain) {
      key.reason = interval.reason;
      if (resource_recurs(interval.reason, interval.resource)) key.resource = interval.resource;
      if (wakers_ == WakerSide::kAppend && interval.ended_by == EndedBy::kWake && interval.has_waker) {
        key.flags |= kHasWaker;
        key.waker_source = interval.waker.source;
        key.waker_stack = interval.waker.stack.raw;
        if (interval.waker.has_task) {
          key.flags |= kWakerIsTask;
          key.waker = interval.waker.label.raw;
        }
      }
    }
    return key;
  }
  key.kind = kRunnableLine;
  key.flags |= kRunnableState;
  if (interval.certain && interval.has_enqueue) {
    key.flags |= kHasEnqueue;
    key.resource = interval.enqueue.from_cpu;
    key.to_cpu = interval.enqueue.to_cpu;
    key.depth = interval.enqueue.depth;
    key.reason = interval.enqueue.reason;
  }
  return key;
}

std::optional<uint32_t> OffCpuProfile::add(const Interval& interval) {
  if (interval.state != TaskState::kBlocked && interval.state != TaskState::kRunnable) return std::nullopt;
  const uint64_t weight_ns = window_.overlap_ns(interval.vcpu, interval.from_ns, interval.to_ns);
  if (weight_ns == 0) return std::nullopt;
  const Key key = key_of(interval);
  if (recent_.size() <= key.task) recent_.resize(key.task + size_t{1}, {kNoEntry, kNoEntry});
  uint32_t& recent = recent_[key.task][interval.state == TaskState::kBlocked ? 0 : 1];
  if (recent == kNoEntry || keys_[recent] != key) recent = entry_for(key);
  weights_ns_[recent] += weight_ns;
  return recent;
}

uint32_t OffCpuProfile::entry_for(Key key) {
  if (keys_.size() >= kMaxEntries && !entry_of_.contains(key)) {
    key = {.task = key.task, .label = key.label, .kind = kMoreLine, .flags = static_cast<uint16_t>(key.flags & (kUncertain | kRunnableState))};
  }
  const auto [position, added] = entry_of_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (added) {
    keys_.push_back(key);
    weights_ns_.push_back(0);
  }
  return position->second;
}

bool OffCpuProfile::is_runnable(uint32_t entry) const noexcept { return (keys_[entry].flags & kRunnableState) != 0; }

std::string OffCpuProfile::state_name(uint32_t entry) const {
  const Key& key = keys_[entry];
  const bool uncertain = (key.flags & kUncertain) != 0;
  if (is_runnable(entry)) return uncertain ? "runnable (uncertain)" : "runnable";
  if (uncertain) return "blocked (uncertain)";
  return key.kind == kMoreLine ? "blocked" : "blocked: " + printable(guest::wait_reason_name(key.reason));
}

std::vector<std::string> OffCpuProfile::frames_of(const Key& key, const TaskTable& tasks, const StackTable& stacks, NamedFrames& named) {
  std::vector<std::string> frames;
  if ((key.flags & kUncertain) != 0) frames.emplace_back(kUncertainRoot);
  frames.push_back(folded_frame(tasks.labels().text(LabelId{key.label})));
  const bool runnable = (key.flags & kRunnableState) != 0;
  frames.emplace_back(runnable ? "off-cpu/runnable" : "off-cpu/blocked");
  if (key.kind == kMoreLine) {
    frames.emplace_back("[more]");
  } else if ((key.flags & kUncertain) == 0 && !runnable) {
    frames.push_back(guest::wait_reason_name(key.reason));
    if (auto resource = resource_name(key.reason, key.resource)) frames.push_back(*std::move(resource));
  } else if ((key.flags & kHasEnqueue) != 0) {
    frames.push_back(fmt::format("enqueue cpu {}->{} depth={} {}", key.resource, key.to_cpu, key.depth,
                                 guest::enqueue_reason_name(key.reason)));
  } else if ((key.flags & kUncertain) == 0) {
    frames.emplace_back("[no enqueue]");
  }
  named.append_root_first(stacks.frames(StackId{key.stack}), frames);
  if ((key.flags & kHasWaker) != 0) {
    frames.emplace_back(kWakerSeparator);
    named.append_leaf_first(stacks.frames(StackId{key.waker_stack}), "_[w]", frames);
    frames.push_back(((key.flags & kWakerIsTask) != 0 ? folded_frame(tasks.labels().text(LabelId{key.waker})) : "[no task]") + "_[w]");
    frames.push_back(fmt::format("wake by {}_[w]", guest::wake_source_name(key.waker_source)));
  }
  frames.back() = folded_leaf(std::move(frames.back()));
  return frames;
}

std::vector<std::string> OffCpuProfile::frames(uint32_t entry, const TaskTable& tasks, const StackTable& stacks, FrameNames& names) const {
  NamedFrames named(names);
  return frames_of(keys_[entry], tasks, stacks, named);
}

std::vector<OffCpuLine> OffCpuProfile::lines(const TaskTable& tasks, const std::function<bool(TaskIndex)>& is_idle,
                                             const Pattern* task_filter, const StackTable& stacks, FrameNames& names) const {
  NamedFrames named(names);
  tsl::robin_map<uint32_t, bool, KeyedHash> wanted;
  std::map<std::vector<std::string>, uint64_t> sums;
  for (size_t entry = 0; entry < keys_.size(); ++entry) {
    const Key& key = keys_[entry];
    if (is_idle(TaskIndex{key.task})) continue;
    if (task_filter != nullptr) {
      const auto [it, added] = wanted.try_emplace(key.label, false);
      if (added) it.value() = task_filter->found_in(tasks.labels().text(LabelId{key.label}));
      if (!it->second) continue;
    }
    sums[frames_of(key, tasks, stacks, named)] += weights_ns_[entry];
  }
  std::vector<OffCpuLine> lines;
  lines.reserve(sums.size());
  for (auto& [frames, weight_ns] : sums) lines.push_back({frames, weight_ns});
  // Readers that need sorted input compare whole lines, not frame by frame.
  std::ranges::sort(lines, {}, [](const OffCpuLine& line) { return joined(line.frames); });
  return lines;
}

std::string folded_text(const std::vector<OffCpuLine>& lines) {
  std::string text;
  for (const OffCpuLine& line : lines) text += fmt::format("{} {}\n", joined(line.frames), line.weight_ns);
  return text;
}

}  // namespace qperf::sched
