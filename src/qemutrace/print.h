#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "qemutrace/device_names.h"
#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// Text collected in a block and written to a file descriptor, or kept in memory when the descriptor is -1.
class TextSink {
 public:
  explicit TextSink(int fd) : fd_(fd) {}

  /// Room for `bytes` more; the caller writes there and calls commit().
  char* reserve(size_t bytes);
  void commit(const char* end) noexcept { used_ = static_cast<size_t>(end - block_.data()); }
  void append(std::string_view text);

  /// Writes out what is held. Errors stay: later calls do nothing.
  void flush();
  /// errno of the first write that failed, 0 for none.
  [[nodiscard]] int failure() const noexcept { return failure_; }
  [[nodiscard]] std::string_view held() const noexcept { return {block_.data(), used_}; }

 private:
  int fd_;
  std::vector<char> block_;
  size_t used_ = 0;
  int failure_ = 0;
};

/// Prints events as QEMU's simpletrace.py does, byte for byte: name, microseconds since the event printed before, process,
/// fields as unsigned hexadecimal, strings as Python shows bytes (which keeps control characters from the terminal). Traces
/// that lack a part leave it out: no time prints "-" for the microseconds, a thread is "tid=".
class SimpletracePrinter {
 public:
  explicit SimpletracePrinter(TextSink& sink) : sink_(sink) {}

  /// Events whose values cannot be told are not printed; they are in the source's report.
  void print(const Event& event);

 private:
  struct Plan {
    const EventInfo* info = nullptr;
    std::string name;                 // "NAME "
    std::vector<std::string> fields;  // " field="
    size_t bytes = 0;                 // upper bound of a line without its strings
  };
  const Plan& plan_for(const EventInfo& info);
  char* write_delta(uint64_t time_ns, char* out);

  TextSink& sink_;
  std::vector<Plan> plans_;  // by EventInfo::index
  uint64_t last_ns_ = 0;
  bool first_ = true;
};

/// Appends `bytes` as Python's repr of a bytes object: b'...'. At most 4 * bytes + 3 characters.
char* write_bytes_repr(std::string_view bytes, char* out) noexcept;

/// Prints events for people: absolute time, thread or process, the declared format string with its numbers in their own signs.
class PrettyPrinter {
 public:
  explicit PrettyPrinter(TextSink& sink) : sink_(sink) {}
  void print(const Event& event);

 private:
  struct Plan {
    const EventInfo* info = nullptr;
    std::optional<CompiledFormat> format;
  };
  TextSink& sink_;

  std::vector<Plan> plans_;
  DeviceNames names_;
  std::string line_;
};

/// A value as its declared type shows it: signed decimal, true/false, hexadecimal pointer, quoted printable string.
void append_value(const Value& value, const Argument& argument, std::string& out);

}  // namespace qperf::qemutrace
