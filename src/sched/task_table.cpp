#include "sched/task_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/printable.h"
#include "guest/trace_events.h"

namespace qperf::sched {
namespace {

constexpr std::string_view kMoreTasks = "[more tasks]";

std::string printable_name(const TaskMetadata& metadata) {
  std::string name = printable(guest::trace_name(metadata.name_low, metadata.name_high));
  // The separator of folded stacks.
  std::ranges::replace(name, ';', ':');
  const size_t first = name.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return name.substr(first, name.find_last_not_of(' ') + 1 - first);
}

}  // namespace

std::optional<LabelId> LabelTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return LabelId{found->second};
}

LabelId LabelTable::intern(std::string_view text) {
  if (const auto known = find(text)) return *known;
  if (texts_.size() >= most_names_ + kMaxTasks && text != kMoreTasks) return intern(kMoreTasks);
  const LabelId id{static_cast<uint32_t>(texts_.size())};
  texts_.emplace_back(text);
  ids_.emplace(std::string(text), id.raw);
  return id;
}

std::string task_label(TaskId id, const std::optional<TaskMetadata>& metadata) {
  const std::string name = metadata ? printable_name(*metadata) : std::string();
  if (name.empty()) return fmt::format("task#{}", id.raw);
  if (metadata->tid == 0) return fmt::format("{}#{}", name, id.raw);
  return fmt::format("{}[{}]", name, metadata->tid);
}

std::optional<TaskIndex> TaskTable::find_or_add(TaskId id) {
  if (const auto found = index_.find(id.raw); found != index_.end()) return TaskIndex{found->second};
  if (entries_.size() == kMaxTasks) return std::nullopt;
  const TaskIndex task{static_cast<uint32_t>(entries_.size())};
  entries_.push_back({.id = id, .metadata = std::nullopt, .label = labels_.intern(task_label(id, std::nullopt))});
  index_.emplace(id.raw, task.raw);
  return task;
}

std::optional<TaskIndex> TaskTable::find(TaskId id) const {
  const auto found = index_.find(id.raw);
  if (found == index_.end()) return std::nullopt;
  return TaskIndex{found->second};
}

void TaskTable::set_metadata(TaskIndex task, const TaskMetadata& metadata) {
  Entry& entry = entries_[task.raw];
  entry.ever_user |= metadata.pid != 0 || metadata.tid != 0;
  if (entry.metadata == metadata) return;
  entry.metadata = metadata;
  const std::string text = task_label(entry.id, metadata);
  if (const auto known = labels_.find(text)) {
    entry.label = *known;
    return;
  }
  if (entry.names == kMaxNamesPerTask || labels_.full()) {
    ++names_left_out_;
    return;
  }
  ++entry.names;
  entry.label = labels_.intern(text);
}

LabelId TaskTable::label_of(TaskId id) {
  if (const auto task = find(id)) return entries_[task->raw].label;
  return labels_.intern(task_label(id, std::nullopt));
}

}  // namespace qperf::sched
