#include "tools/qperf/fact_sheet.h"

#include <algorithm>

#include "base/json_quoted.h"


namespace qperf::tools {

void FactSheet::add(std::string_view title, std::string_view key, Cell value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_quoted(key) + ": " + value.json;
  lines_.emplace_back(title, std::move(value.text));
}

std::string FactSheet::text() const {
  size_t width = 0;
  for (const auto& [title, value] : lines_) width = std::max(width, title.size());
  std::string out;
  for (const auto& [title, value] : lines_) out += title + std::string(width + 2 - title.size(), ' ') + value + '\n';
  return out;
}

}  // namespace qperf::tools
