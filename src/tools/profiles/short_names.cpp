#include "tools/profiles/short_names.h"

#include <fmt/core.h>

#include <filesystem>

namespace qperf::tools {

std::pair<std::string, std::string> short_names(const std::string& first, const std::string& second) {
  namespace fs = std::filesystem;
  std::pair names{fs::path(first).filename(), fs::path(second).filename()};
  fs::path first_folder = fs::path(first).parent_path();
  fs::path second_folder = fs::path(second).parent_path();
  while (names.first == names.second && (first_folder.has_filename() || second_folder.has_filename())) {
    names.first = first_folder.filename() / names.first;
    names.second = second_folder.filename() / names.second;
    first_folder = first_folder.parent_path();
    second_folder = second_folder.parent_path();
  }
  return {names.first.string(), names.second.string()};
}

std::string with_more_runs(std::string_view name, size_t runs) {
  return runs == 1 ? std::string(name) : fmt::format("{} and {} more run{}", name, runs - 1, runs == 2 ? "" : "s");
}

}  // namespace qperf::tools
