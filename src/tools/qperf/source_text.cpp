#include "tools/qperf/source_text.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/printable.h"

namespace qperf::tools {
namespace {

constexpr uintmax_t kMostBytes = uintmax_t{16} << 20;
constexpr size_t kTabWidth = 8;

std::string without_tabs(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') out.append(kTabWidth - out.size() % kTabWidth, ' ');
    else if (c != '\r') out += c;
  }
  return printable(out);
}

std::optional<std::vector<std::string>> read_lines(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) > kMostBytes || unknown)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(without_tabs(line));
  return lines;
}

}  // namespace

std::optional<std::vector<std::string>> source_lines(const std::string& folder, const std::string& file) {
  if (file.empty()) return std::nullopt;
  if (!folder.empty()) {
    // An absolute path is one of the machine that built the kernel; its part behind the root may be below the folder.
    const std::filesystem::path inside = std::filesystem::path(folder) / std::filesystem::path(file).relative_path();
    if (auto lines = read_lines(inside)) return lines;
  }
  return read_lines(file);
}

}  // namespace qperf::tools
