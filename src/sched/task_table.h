#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "sched/interval.h"

namespace qperf::sched {

/// Interned printable labels: each text once.
class LabelTable {
 public:
  LabelId intern(std::string_view text);
  [[nodiscard]] const std::string& text(LabelId id) const noexcept { return texts_[id.raw]; }
  [[nodiscard]] size_t size() const noexcept { return texts_.size(); }

 private:
  tsl::robin_map<std::string, uint32_t, KeyedHash, std::equal_to<>> ids_;
  std::vector<std::string> texts_;
};

/// What a task metadata event said.
struct TaskMetadata {
  uint64_t pid = 0;
  uint64_t tid = 0;
  uint64_t name_low = 0;
  uint64_t name_high = 0;
  friend bool operator==(const TaskMetadata&, const TaskMetadata&) = default;
};

/// The label that reports show: `name[tid]`, `name#id` for tid 0, `task#id` without a name. Printable, without ';'.
[[nodiscard]] std::string task_label(TaskId id, const std::optional<TaskMetadata>& metadata);

/// More tasks than this are not told apart: their events are counted and left out.
inline constexpr size_t kMaxTasks = size_t{1} << 21;

/// The tasks of a capture, numbered in order of first mention, with the metadata now in force.
class TaskTable {
 public:
  struct Entry {
    TaskId id;
    std::optional<TaskMetadata> metadata;
    LabelId label;
    bool ever_user = false;  // some metadata gave it a pid or tid: not an idle task
  };

  /// nullopt: kMaxTasks reached.
  std::optional<TaskIndex> find_or_add(TaskId id);
  [[nodiscard]] std::optional<TaskIndex> find(TaskId id) const;
  void set_metadata(TaskIndex task, const TaskMetadata& metadata);
  /// The label of a task that may never have been mentioned otherwise.
  LabelId label_of(TaskId id);

  [[nodiscard]] const Entry& operator[](TaskIndex task) const noexcept { return entries_[task.raw]; }
  [[nodiscard]] size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const LabelTable& labels() const noexcept { return labels_; }
  LabelTable& labels() noexcept { return labels_; }

 private:
  std::vector<Entry> entries_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> index_;
  LabelTable labels_;
};

}  // namespace qperf::sched
