#include "tools/qperf/table.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json_quoted.h"
#include "base/printable.h"
#include "tools/qperf/json.h"

namespace qperf::tools {
namespace {

constexpr double kHotPercent = 5;
constexpr double kWarmPercent = 0.5;

constexpr std::string_view kTitle = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kWarm: return "\x1b[33m";
    case Tone::kHot:
    case Tone::kWorse: return "\x1b[31m";
    case Tone::kBetter: return "\x1b[32m";
  }
  return "";
}

bool is_data(const std::vector<Cell>& row) {
  return std::ranges::any_of(row, [](const Cell& cell) { return cell.json != "null"; });
}

}  // namespace

Cell cell(uint64_t value) {
  const std::string text = std::to_string(value);
  return {text, text};
}

Cell cell_signed(int64_t value) {
  const std::string text = std::to_string(value);
  return {text, text};
}

Cell cell_hex(uint64_t value) {
  const std::string text = fmt::format("{:#x}", value);
  return {text, json_quoted(text)};
}

Cell cell_text(std::string_view untrusted) { return {printable(untrusted), json_quoted(untrusted)}; }

Cell cell_us(std::optional<uint64_t> ns) {
  if (!ns) return {"-", "null"};
  const double us = static_cast<double>(*ns) / 1000;
  return {us < 10     ? fmt::format("{:.2f}", us)
          : us < 1000 ? fmt::format("{:.1f}", us)
                      : fmt::format("{:.0f}", us),
          std::to_string(*ns)};
}

Cell cell_ms(uint64_t ns) { return {fmt::format("{}.{:03}", ns / 1'000'000, ns % 1'000'000 / 1000), std::to_string(ns)}; }

Cell cell_time(uint64_t ns, uint64_t origin_ns) {
  const uint64_t since = ns - std::min(ns, origin_ns);
  return {fmt::format("{}.{:09}", since / 1'000'000'000, since % 1'000'000'000), std::to_string(ns)};
}

Cell cell_percent(double part, double whole) {
  const double value = whole > 0 ? 100 * part / whole : 0;
  return {fmt::format("{:.1f}", value), json_number(value), value >= kHotPercent ? Tone::kHot : value >= kWarmPercent ? Tone::kWarm : Tone::kPlain};
}

Cell cell_decimal(double value) { return {fmt::format("{:.2f}", value), json_number(value)}; }

Cell cell_words(const std::vector<std::string>& words) {
  Cell out{"", "["};
  for (const std::string& word : words) {
    if (!out.text.empty()) out.text += ", ";
    if (out.json.size() > 1) out.json += ", ";
    out.text += word;
    out.json += json_quoted(word);
  }
  out.json += "]";
  if (out.text.empty()) out.text = "-";
  return out;
}

std::string Table::text(Colours colours) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  const auto every_row = [&](const auto& visit) {
    for (const auto* rows : {&rows_, &notes_})
      for (const auto& row : *rows) visit(row);
  };
  every_row([&](const std::vector<Cell>& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  });
  std::string out;
  std::string blanks;
  bool first = true;
  const auto put = [&](size_t i, const std::string& text, std::string_view code) {
    if (columns_[i].title.empty()) return;
    const std::string padding(widths[i] - std::min(widths[i], text.size()), ' ');
    // Blanks before a value are held back until it comes, so that no line ends in one.
    if (!first) blanks += "  ";
    first = false;
    if (!columns_[i].left) blanks += padding;
    if (!text.empty()) {
      out += blanks;
      blanks.clear();
      const bool coloured = colours == Colours::kAnsi && !code.empty();
      if (coloured) out += code;
      out += text;
      if (coloured) out += kPlain;
    }
    if (columns_[i].left) blanks += padding;
  };
  const auto end_line = [&] {
    blanks.clear();
    out += '\n';
    first = true;
  };
  for (size_t i = 0; i < columns_.size(); ++i) put(i, columns_[i].title, kTitle);
  end_line();
  every_row([&](const std::vector<Cell>& row) {
    for (size_t i = 0; i < row.size(); ++i) put(i, row[i].text, code_of(row[i].tone));
    end_line();
  });
  return out;
}

std::string Table::csv() const {
  const auto field = [](const Cell& value) {
    if (value.json == "null") return std::string();
    if (!value.json.starts_with('"')) return value.json;
    if (value.text.find_first_of(",\"\r\n") == std::string::npos) return value.text;
    std::string quoted = "\"";
    for (const char c : value.text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
  };
  std::string out;
  const auto line = [&](const auto& text_of) {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (!columns_[i].key.empty()) text += ',' + text_of(i);
    out += text.substr(1) + '\n';
  };
  line([&](size_t i) { return columns_[i].key; });
  for (const auto& row : rows_)
    if (is_data(row)) line([&](size_t i) { return field(row[i]); });
  return out;
}

std::string Table::json() const {
  std::string out = "[";
  for (const auto& row : rows_) {
    if (!is_data(row)) continue;
    out += out.size() > 1 ? ",\n  {" : "\n  {";
    bool first = true;
    for (size_t i = 0; i < row.size(); ++i) {
      if (columns_[i].key.empty()) continue;
      if (!first) out += ", ";
      first = false;
      out += json_quoted(columns_[i].key) + ": " + row[i].json;
    }
    out += "}";
  }
  out += "]";
  return out;
}

void JsonObject::raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ",\n ";
  body_ += json_quoted(key) + ": ";
  body_ += json;
}

void JsonObject::members(std::string_view json) {
  if (!body_.empty()) body_ += ",\n ";
  body_ += json;
}

}  // namespace qperf::tools
