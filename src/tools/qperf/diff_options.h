#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/profiles/selection.h"

namespace qperf::tools {

/// What a function's weight is set against, so that recordings of different length can be compared.
enum class Normalize : uint8_t { kTotal, kTime, kInstructions };
enum class DiffOutput : uint8_t { kTable, kJson, kFolded, kSvg, kPprof, kHtml };

/// `qperf diff`, as typed.
struct DiffText {
  std::string before;
  std::vector<std::string> after;
  std::vector<std::string> more_before;
  SelectionText selection;
  std::vector<std::string> before_elfs;
  std::string normalize;
  std::string fail_above;
  std::string format;
  std::string output = "-";
  bool all = false;
  bool json = false;
};

/// The same, checked.
struct DiffOptions {
  std::vector<std::string> before;
  std::vector<std::string> after;
  SelectionText before_selection;
  SelectionText after_selection;
  Normalize normalize = Normalize::kTotal;
  std::optional<double> fail_above;  // percent
  DiffOutput format = DiffOutput::kTable;
  std::string output;  // where to; "-": standard output
  bool all = false;
};

/// Every failure is a usage error that names the option.
[[nodiscard]] Result<DiffOptions> check_diff(const DiffText& typed);

}  // namespace qperf::tools
