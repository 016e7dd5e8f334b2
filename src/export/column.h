#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace qperf::exporter {

/// Base64 (RFC 4648, with padding).
[[nodiscard]] std::string base64(std::string_view bytes);

/// A column of numbers as the HTML report takes it (docs/html-report.md): differences to the value before, zigzag-coded so that small ones
/// of either sign are short, as LEB128, in base64. Built value by value.
class Column {
 public:
  /// `value` at most kMost: the page's numbers are doubles.
  void add(uint64_t value);
  [[nodiscard]] std::string text() const { return base64(bytes_); }
  [[nodiscard]] size_t bytes() const noexcept { return bytes_.size(); }

  static constexpr uint64_t kMost = uint64_t{1} << 53;

 private:
  std::string bytes_;
  uint64_t last_ = 0;
};

}  // namespace qperf::exporter
