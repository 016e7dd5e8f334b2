#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/qperf/table.h"

namespace qperf::tools {

/// Titled values, one a line; the same values as members of a JSON object.
class FactSheet {
 public:
  void add(std::string_view title, std::string_view key, Cell value);
  /// In the text only.
  void note(std::string_view title, std::string_view text) { lines_.emplace_back(title, text); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const { return "{" + members_ + "}"; }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
  std::string members_;
};

}  // namespace qperf::tools
