#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/frame_table.h"
#include "report/annotation.h"
#include "tools/qperf/table.h"

namespace qperf::tools {

/// Source files by name, each read once.
class Sources {
 public:
  explicit Sources(std::string folder) : folder_(std::move(folder)) {}
  /// nullptr: the file or the line is not there.
  [[nodiscard]] const std::string* line(const std::string& file, uint32_t number);
  /// How many lines the file has; 0: it is not there.
  [[nodiscard]] uint32_t count(const std::string& file);

 private:
  const std::vector<std::string>& lines(const std::string& file);

  std::string folder_;
  std::map<std::string, std::vector<std::string>> files_;
};

/// The function's lines with their weights, and where the source is found the lines in between.
[[nodiscard]] Table line_table(const report::Annotation& annotation, const profile::FrameTable& frames, Sources& sources);

/// A function's instructions with the weights of the blocks that begin there.
struct InstructionTable {
  Table table;
  uint64_t elsewhere = 0;  // the weight that no listed instruction has: it and the rows' add up to the function's own
};

/// Error: llvm-objdump is missing or fails.
[[nodiscard]] Result<InstructionTable> instruction_table(const report::Annotation& annotation, const profile::LocatedProfile& located);

}  // namespace qperf::tools
