#include "tools/profiles/html_tasks.h"

#include <algorithm>
#include <tuple>

#include "sched/interval_log.h"
#include "sched/replay.h"

namespace qperf::tools {
namespace {

struct Times {
  uint64_t running_ns = 0;
  uint64_t waiting_ns = 0;
};

}  // namespace

HtmlTasks::HtmlTasks(const analysis::SchedView& sched, size_t most) {
  const sched::Replay& replay = sched.replayed();
  std::vector<Times> times(replay.tasks().size());
  for (const auto& row : sched.intervals().tasks()) {
    if (row.state.is_running()) times[row.owner].running_ns += row.length_ns;
    if (row.state.is_waiting()) times[row.owner].waiting_ns += row.length_ns;
  }
  std::vector<sched::TaskIndex> shown;
  for (uint32_t raw = 0; raw < times.size(); ++raw) {
    const sched::TaskIndex task{raw};
    if (times[raw].running_ns + times[raw].waiting_ns == 0 || replay.is_idle(task) || !sched.wants(replay.tasks().labels().text(replay.tasks()[task].label))) continue;
    shown.push_back(task);
  }
  const auto name_of = [&](sched::TaskIndex task) -> const std::string& {
    return replay.tasks().labels().text(replay.tasks()[task].label);
  };
  std::ranges::sort(shown, [&](sched::TaskIndex a, sched::TaskIndex b) {
    const auto key = [&](sched::TaskIndex task) {
      return std::make_tuple(~times[task.raw].running_ns, ~times[task.raw].waiting_ns, task.raw);
    };
    return key(a) < key(b);
  });
  left_out_ = shown.size() - std::min(shown.size(), most);
  shown.resize(shown.size() - left_out_);
  lane_of_.resize(times.size(), 0);
  for (const sched::TaskIndex task : shown) {
    lanes_.push_back({.task = task, .name = name_of(task)});
    lane_of_[task.raw] = static_cast<uint32_t>(lanes_.size());
  }
}

uint32_t HtmlTasks::lane_of(sched::TaskIndex task) const noexcept { return task.raw < lane_of_.size() ? lane_of_[task.raw] : 0; }

}  // namespace qperf::tools
