#include "export/json_writer.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "base/json_quoted.h"

namespace qperf::exporter {

void JsonWriter::separate() {
  if (!first_ && !after_key_) sink_.write(",");
  if (line_break_ && !after_key_) sink_.write("\n");
  if (!after_key_) line_break_ = false;
  first_ = false;
  after_key_ = false;
}

void JsonWriter::open(char bracket) {
  separate();
  sink_.write(std::string_view(&bracket, 1));
  first_ = true;
}

void JsonWriter::close(char bracket) {
  sink_.write(std::string_view(&bracket, 1));
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  sink_.write("\"");
  sink_.write(name);
  sink_.write("\":");
  after_key_ = true;
}

void JsonWriter::string(std::string_view text) {
  separate();
  sink_.write(json_quoted(text));
}

void JsonWriter::plain_string(std::string_view text) {
  separate();
  sink_.write("\"");
  sink_.write(text);
  sink_.write("\"");
}

void JsonWriter::decimal(double value) {
  separate();
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), std::isfinite(value) ? value : 0.0).ptr;
  sink_.write(std::string_view(digits, end));
}

void JsonWriter::boolean(bool value) {
  separate();
  sink_.write(value ? "true" : "false");
}

void JsonWriter::number(uint64_t value) {
  separate();
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  sink_.write(std::string_view(digits, end));
}

void JsonWriter::thousandths(uint64_t value) {
  separate();
  sink_.write(fmt::format("{}.{:03}", value / 1000, value % 1000));
}

}  // namespace qperf::exporter
