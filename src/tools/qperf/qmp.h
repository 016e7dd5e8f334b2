#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace qperf::tools {

struct JsonMember;

/// A JSON value as QMP sends it. Numbers keep their text: nothing here computes with them.
struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject } kind = Kind::kNull;
  bool boolean = false;
  std::string text;  // of a number or string
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  /// nullptr when this is no object or has no such member.
  [[nodiscard]] const JsonValue* member(std::string_view name) const noexcept;
};

/// Not a pair: that one asks its halves for traits before they are whole, which not every compiler forgives.
struct JsonMember {
  std::string name;
  JsonValue value;
};

/// Parses one whole value; nesting is bounded.
Result<JsonValue> parse_json(std::string_view text);

/// A connection to QEMU's machine protocol over a Unix socket, capabilities already negotiated.
class Qmp {
 public:
  static Result<Qmp> connect(const std::string& path);

  Qmp(Qmp&& other) noexcept;
  Qmp& operator=(Qmp&&) = delete;
  ~Qmp();

  /// Runs one command; `arguments` is a JSON object or empty. The value of "return", or QEMU's own error text.
  /// Events that arrive meanwhile are passed over. Gives up after ten seconds of silence.
  Result<JsonValue> execute(std::string_view command, std::string_view arguments = {});

 private:
  explicit Qmp(int fd) : fd_(fd) {}
  Result<JsonValue> receive();

  int fd_;
  std::string received_;
};

}  // namespace qperf::tools
