#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace qperf::qemutrace {

/// QEMU's own limit for one event. A record of an old `vcpu` event carries one value more.
inline constexpr size_t kMaxArguments = 10;

/// How the value of an argument is to be shown. What is stored is always 64 bits, or a string.
enum class ArgumentKind : uint8_t { kUnsigned, kSigned, kBool, kPointer, kString };

struct Argument {
  std::string type;  // as declared, "const char *"
  std::string name;
  ArgumentKind kind = ArgumentKind::kUnsigned;
  uint8_t width_bytes = 8;  // of the declared C type on a 64-bit host
};

/// One event as a trace-events file declares it.
struct Declaration {
  std::string name;
  std::vector<Argument> arguments;
  std::string format;     // C source: string literals with PRI macros between them; empty when there is none
  bool disabled = false;  // compiled out: keeps its place in the numbering of old files, never occurs
  bool vcpu = false;      // QEMU 2.6 to 8.0 stored a vCPU pointer before the declared arguments
  uint32_t line = 0;      // 1-based
};

/// Which types a declaration may use.
enum class TypeRule : uint8_t {
  kToday,     // QEMU's whitelist: standard C types
  kHistoric,  // any words: trace-events files of QEMU before 2.12 name struct types freely
};

/// The events of one trace-events file, in its order.
class Declarations {
 public:
  /// Parses a whole file. `file_name` only names it in errors ("trace-events-all:12: ...").
  static Result<Declarations> parse(std::string_view text, std::string_view file_name, TypeRule rule = TypeRule::kToday);
  /// Reads and parses a file of at most 64 MiB.
  static Result<Declarations> load(const std::string& path, TypeRule rule = TypeRule::kToday);

  Declarations() = default;
  Declarations(Declarations&&) = default;
  Declarations& operator=(Declarations&&) = default;

  /// nullptr when no event has this name. Pointers stay valid as long as this object, also when it is moved.
  [[nodiscard]] const Declaration* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::deque<Declaration>& all() const noexcept { return events_; }

 private:
  std::deque<Declaration> events_;                                    // never moves its elements
  std::unordered_map<std::string_view, const Declaration*> by_name_;  // keys live in events_
};

/// Where Debian's qemu-system-data, a local installation or an unpacked tree keep trace-events-all; an error lists what was
/// tried.
Result<std::string> find_trace_events();

}  // namespace qperf::qemutrace
