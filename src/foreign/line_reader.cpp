#include "foreign/line_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace qperf::foreign {
namespace {

using OnLine = std::function<Result<void>(std::string_view, bool)>;

/// Joins pieces to lines, keeping at most kMaxLineBytes of each.
class Splitter {
 public:
  explicit Splitter(const OnLine& on_line) : on_line_(on_line) {}

  Result<void> add(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      keep(text.substr(0, end));
      if (end == text.size()) return {};
      QPERF_RETURN_IF_ERROR(finish_line());
      text.remove_prefix(end + 1);
    }
    return {};
  }

  Result<void> finish() { return started_ ? finish_line() : Result<void>(); }

 private:
  void keep(std::string_view piece) {
    started_ = true;
    const size_t room = kMaxLineBytes - line_.size();
    cut_ = cut_ || piece.size() > room;
    line_ += piece.substr(0, room);
  }

  Result<void> finish_line() {
    const Result<void> result = on_line_(line_, cut_);
    line_.clear();
    cut_ = started_ = false;
    return result;
  }

  const OnLine& on_line_;
  std::string line_;
  bool cut_ = false;
  bool started_ = false;
};

}  // namespace

Result<void> split_lines(std::string_view text, const OnLine& on_line) {
  Splitter splitter(on_line);
  QPERF_RETURN_IF_ERROR(splitter.add(text));
  return splitter.finish();
}

Result<void> read_lines(const std::string& path, const OnLine& on_line) {
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (!file) return Error{ErrorCode::kIo, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno))};
  Splitter splitter(on_line);
  std::array<char, 65536> buffer{};
  for (;;) {
    const size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    QPERF_RETURN_IF_ERROR(splitter.add({buffer.data(), got}));
    if (got < buffer.size()) break;
  }
  if (std::ferror(file.get()) != 0) return Error{ErrorCode::kIo, fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  return splitter.finish();
}

}  // namespace qperf::foreign
