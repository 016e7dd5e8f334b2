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

/// More tasks than this are not told apart: their events are counted and left out.
inline constexpr size_t kMaxTasks = size_t{1} << 21;
/// Names of all tasks together, and of one, that are told apart: a guest may rename a task at every event. Further ones are counted
/// and left out, and the task keeps the name that it has.
inline constexpr size_t kMaxNames = size_t{1} << 22;
inline constexpr size_t kMaxNamesPerTask = 256;

/// Interned printable labels: each text once.
class LabelTable {
 public:
  explicit LabelTable(size_t most_names = kMaxNames) : most_names_(most_names) {}

  /// Beside names there is room for kMaxTasks labels of tasks that have none; a further text gets the label `[more tasks]`.
  LabelId intern(std::string_view text);
  [[nodiscard]] std::optional<LabelId> find(std::string_view text) const;
  /// No further names are to be interned.
  [[nodiscard]] bool full() const noexcept { return texts_.size() >= most_names_; }
  [[nodiscard]] const std::string& text(LabelId id) const noexcept { return texts_[id.raw]; }
  [[nodiscard]] size_t size() const noexcept { return texts_.size(); }

 private:
  tsl::robin_map<std::string, uint32_t, KeyedHash, std::equal_to<>> ids_;
  std::vector<std::string> texts_;
  size_t most_names_;
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

/// The tasks of a capture, numbered in order of first mention, with the metadata now in force.
class TaskTable {
 public:
  struct Entry {
    TaskId id;
    std::optional<TaskMetadata> metadata;
    LabelId label;
    uint32_t names = 0;      // that were new to the labels
    bool ever_user = false;  // some metadata gave it a pid or tid: not an idle task
  };

  explicit TaskTable(size_t most_names = kMaxNames) : labels_(most_names) {}

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
  /// Beyond kMaxNames or kMaxNamesPerTask.
  [[nodiscard]] uint64_t names_left_out() const noexcept { return names_left_out_; }

 private:
  std::vector<Entry> entries_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> index_;
  LabelTable labels_;
  uint64_t names_left_out_ = 0;
};

}  // namespace qperf::sched
