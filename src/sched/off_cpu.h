#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "base/types.h"
#include "sched/interval.h"
#include "sched/stack_table.h"
#include "sched/task_table.h"
#include "sched/window.h"

namespace qperf::sched {

/// Names for the frames of stacks. Called once per distinct address.
class FrameNames {
 public:
  virtual ~FrameNames() = default;
  /// The source-level frames at a return address, innermost first; never empty. Not yet made printable.
  virtual std::vector<std::string> frames(GuestVa return_address) = 0;
};

/// What no symbol source is needed for: addresses in hex.
class HexFrameNames final : public FrameNames {
 public:
  std::vector<std::string> frames(GuestVa return_address) override;
};

/// A frame as folded and speedscope readers take it: printable, no ';', never empty; and as a leaf without a trailing number
/// that would be read as a count.
[[nodiscard]] std::string folded_frame(std::string_view text);
[[nodiscard]] std::string folded_leaf(std::string frame);

/// Whether two waits for this resource wait for the same thing: a deadline, or a number of which nothing is known, says no.
[[nodiscard]] bool resource_recurs(uint64_t wait_reason, uint64_t resource) noexcept;

/// "0xffffffc080484f36" or "pid=9"; nullopt where the resource says nothing that two waits could share.
[[nodiscard]] std::optional<std::string> resource_name(uint64_t wait_reason, uint64_t resource);

enum class WakerSide : uint8_t { kLeaveOut, kAppend };

/// The root of lines whose attribution an event that was lost could have changed.
inline constexpr std::string_view kUncertainRoot = "[uncertain]";

/// One line of the off-CPU profile: [uncertain] where that is so, the task, its state, then why and where.
struct OffCpuLine {
  std::vector<std::string> frames;  // root first
  uint64_t weight_ns = 0;
};

/// Adds up blocked and runnable time by task, reason, resource, place and enqueue.
/// Memory: one entry per distinct combination, at most kMaxEntries; what goes beyond keeps task and state only.
class OffCpuProfile {
 public:
  OffCpuProfile(const Window& window, WakerSide wakers) : window_(window), wakers_(wakers) {}

  /// The entry that the interval was added to; nullopt: it is neither blocked nor runnable, or not in the window.
  std::optional<uint32_t> add(const Interval& interval);

  /// The lines, sorted by their frames' bytes; equal ones are summed. Idle tasks (they wait for nothing) and tasks whose label
  /// does not match are left out.
  [[nodiscard]] std::vector<OffCpuLine> lines(const TaskTable& tasks, const std::function<bool(TaskIndex)>& is_idle,
                                              const Pattern* task_filter, const StackTable& stacks, FrameNames& names) const;

  /// Entries are numbered densely from 0.
  [[nodiscard]] size_t entries() const noexcept { return keys_.size(); }
  [[nodiscard]] LabelId label(uint32_t entry) const noexcept { return LabelId{keys_[entry].label}; }
  [[nodiscard]] bool is_runnable(uint32_t entry) const noexcept;
  /// "blocked: mutex", "runnable", ...: what the entry's lines share.
  [[nodiscard]] std::string state_name(uint32_t entry) const;
  /// The frames of the entry's line, root first. Names are asked for anew each time.
  [[nodiscard]] std::vector<std::string> frames(uint32_t entry, const TaskTable& tasks, const StackTable& stacks, FrameNames& names) const;

  static constexpr size_t kMaxEntries = size_t{1} << 22;

 private:
  // Plain numbers without padding, so that equal keys have equal bytes.
  struct Key {
    uint32_t task = 0;
    uint32_t label = 0;
    uint32_t stack = kNoStack.raw;
    uint16_t kind = 0;   // Kind
    uint16_t flags = 0;  // Flag
    uint64_t reason = 0;
    uint64_t resource = 0;  // or the enqueue's from_cpu
    uint64_t to_cpu = 0;
    uint64_t depth = 0;
    uint32_t waker = 0;
    uint32_t waker_stack = kNoStack.raw;
    uint64_t waker_source = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const noexcept;
  };

  class NamedFrames;

  [[nodiscard]] Key key_of(const Interval& interval) const;
  [[nodiscard]] static std::vector<std::string> frames_of(const Key& key, const TaskTable& tasks, const StackTable& stacks,
                                                          NamedFrames& named);

  const Window& window_;
  WakerSide wakers_;
  static constexpr uint32_t kNoEntry = UINT32_MAX;
  uint32_t entry_for(Key key);

  tsl::robin_map<Key, uint32_t, KeyHash> entry_of_;
  /// By task, of blocked and of runnable time: the entry that was added to last. Most tasks wait for the same again.
  std::vector<std::array<uint32_t, 2>> recent_;
  std::vector<Key> keys_;             // by entry
  std::vector<uint64_t> weights_ns_;  // by entry
};

/// `frame;frame weight\n` per line.
[[nodiscard]] std::string folded_text(const std::vector<OffCpuLine>& lines);

}  // namespace qperf::sched
