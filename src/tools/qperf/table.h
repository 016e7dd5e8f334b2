#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/qperf/colours.h"

namespace qperf::tools {

/// What a value is to the eye, where colours are shown.
enum class Tone : uint8_t { kPlain, kWarm, kHot, kWorse, kBetter };

/// One value as people and as programs read it.
struct Cell {
  std::string text;
  std::string json;
  Tone tone = Tone::kPlain;
};

[[nodiscard]] Cell cell(uint64_t value);
[[nodiscard]] Cell cell_signed(int64_t value);
[[nodiscard]] Cell cell_hex(uint64_t value);  // a string in JSON: readers round large numbers
[[nodiscard]] Cell cell_text(std::string_view untrusted);
/// Text: microseconds with three significant digits at least ("71.0"); JSON: nanoseconds.
[[nodiscard]] Cell cell_us(std::optional<uint64_t> ns);
/// Text: milliseconds with three decimals; JSON: nanoseconds.
[[nodiscard]] Cell cell_ms(uint64_t ns);
/// Text: seconds since `origin_ns`; JSON: nanoseconds of the trace's clock.
[[nodiscard]] Cell cell_time(uint64_t ns, uint64_t origin_ns);
/// Warm from 0.5 %, hot from 5 % on.
[[nodiscard]] Cell cell_percent(double part, double whole);
[[nodiscard]] Cell cell_decimal(double value);
/// Text: the words that hold, joined by commas; JSON: an array of them.
[[nodiscard]] Cell cell_words(const std::vector<std::string>& words);

/// Rows under titled columns; text is aligned, JSON is an array of objects with the columns' keys, CSV (RFC 4180, but with plain
/// line feeds) has the keys as its first line.
class Table {
 public:
  struct Column {
    std::string title;  // empty: a column for programs only
    std::string key;    // empty: a column for people only
    bool left = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// A row all of whose JSON is null is for people only.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  /// A row for people only, such as a sum.
  void add_note(std::vector<Cell> row) { notes_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  [[nodiscard]] std::string text(Colours colours = Colours::kNone) const;
  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string csv() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::vector<Cell>> notes_;  // behind the rows
};

/// "key": value pairs around tables: builds the one object that a job prints under --json.
class JsonObject {
 public:
  void add(std::string_view key, const Cell& value) { raw(key, value.json); }
  void raw(std::string_view key, std::string_view json);
  void members(std::string_view json);  // already "key": value, ...
  [[nodiscard]] std::string text() const { return "{" + body_ + "}\n"; }

 private:
  std::string body_;
};

}  // namespace qperf::tools
