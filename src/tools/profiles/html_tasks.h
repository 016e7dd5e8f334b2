#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/sched_view.h"
#include "sched/interval.h"

namespace qperf::tools {

/// The tasks that get a lane in an HTML report: those that ran or waited longest in the window. Lane 0 stands for every other.
class HtmlTasks {
 public:
  struct Lane {
    sched::TaskIndex task;
    std::string name;
  };

  HtmlTasks() = default;
  HtmlTasks(const analysis::SchedView& sched, size_t most);

  /// In drawing order; lane i + 1 is lanes()[i].
  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return lanes_; }
  [[nodiscard]] uint32_t lane_of(sched::TaskIndex task) const noexcept;
  [[nodiscard]] size_t left_out() const noexcept { return left_out_; }

 private:
  std::vector<Lane> lanes_;
  std::vector<uint32_t> lane_of_;  // by task
  size_t left_out_ = 0;
};

}  // namespace qperf::tools
