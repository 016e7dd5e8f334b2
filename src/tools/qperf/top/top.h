#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qperf::tools {

struct TopOptions {
  std::string file;
  std::string control;
  std::vector<std::string> elfs;
  double window_s = 5;
  double interval_s = 1;
  uint64_t iterations = 0;  // 0: until it is told to end
  bool once = false;
};

int top(const TopOptions& options);

}  // namespace qperf::tools
