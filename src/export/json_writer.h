#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/text_sink.h"

namespace qperf::exporter {

/// Writes JSON as it goes, with no document in memory. The caller nests begin and end calls rightly; commas and escapes are
/// seen to here. What is written compares equal on every machine.
class JsonWriter {
 public:
  explicit JsonWriter(TextSink& sink) : sink_(sink) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// The name of the next value. `name` needs no escapes.
  void key(std::string_view name);
  /// Any bytes: what is not valid UTF-8 or a control character shows as `\xNN`.
  void string(std::string_view text);
  /// Text that is known to need no escapes, however long.
  void plain_string(std::string_view text);
  void number(uint64_t value);
  /// value / 1000, with three decimals: nanoseconds where microseconds are the unit.
  void thousandths(uint64_t value);
  /// The shortest text that reads back as `value`; 0 for what is not finite.
  void decimal(double value);
  void boolean(bool value);
  /// Readable files: a line break before the next value.
  void line_break() { line_break_ = true; }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);

  TextSink& sink_;
  bool first_ = true;       // no value yet in the open array or object
  bool after_key_ = false;  // the next value follows its key directly
  bool line_break_ = false;
};

}  // namespace qperf::exporter
