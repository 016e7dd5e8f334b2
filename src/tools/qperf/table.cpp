#include "tools/qperf/table.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/printable.h"
#include "tools/qperf/json.h"

namespace qperf::tools {

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
  return {text, json_string(text)};
}

Cell cell_text(std::string_view untrusted) { return {printable(untrusted), json_string(untrusted)}; }

Cell cell_us(std::optional<uint64_t> ns) {
  if (!ns) return {"-", "null"};
  const double us = static_cast<double>(*ns) / 1000;
  return {us < 10     ? fmt::format("{:.2f}", us)
          : us < 1000 ? fmt::format("{:.1f}", us)
                      : fmt::format("{:.0f}", us),
          std::to_string(*ns)};
}

Cell cell_time(uint64_t ns, uint64_t origin_ns) {
  const uint64_t since = ns - std::min(ns, origin_ns);
  return {fmt::format("{}.{:09}", since / 1'000'000'000, since % 1'000'000'000), std::to_string(ns)};
}

Cell cell_percent(double part, double whole) {
  const double value = whole > 0 ? 100 * part / whole : 0;
  return {fmt::format("{:.1f}", value), json_number(value)};
}

Cell cell_decimal(double value) { return {fmt::format("{:.2f}", value), json_number(value)}; }

Cell cell_words(const std::vector<std::string>& words) {
  Cell out{"", "["};
  for (const std::string& word : words) {
    if (!out.text.empty()) out.text += ", ";
    if (out.json.size() > 1) out.json += ", ";
    out.text += word;
    out.json += json_string(word);
  }
  out.json += "]";
  if (out.text.empty()) out.text = "-";
  return out;
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  }
  std::string out;
  const auto put = [&](size_t i, const std::string& text) {
    const std::string padding(widths[i] - std::min(widths[i], text.size()), ' ');
    out += (i == 0 ? "" : "  ") + (columns_[i].left ? text + padding : padding + text);
  };
  const auto end_line = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (size_t i = 0; i < columns_.size(); ++i) put(i, columns_[i].title);
  end_line();
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) put(i, row[i].text);
    end_line();
  }
  return out;
}

std::string Table::json() const {
  std::string out = "[";
  for (const auto& row : rows_) {
    out += out.size() > 1 ? ",\n  {" : "\n  {";
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ", ";
      out += json_string(columns_[i].key) + ": " + row[i].json;
    }
    out += "}";
  }
  out += "]";
  return out;
}

void JsonObject::raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ",\n ";
  body_ += json_string(key) + ": ";
  body_ += json;
}

void JsonObject::members(std::string_view json) {
  if (!body_.empty()) body_ += ",\n ";
  body_ += json;
}

}  // namespace qperf::tools
