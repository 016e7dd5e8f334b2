#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace qperf::tools {

/// A connection to QEMU's monitor for people (-monitor unix:SOCKET,server=on,wait=off).
class Hmp {
 public:
  static Result<Hmp> connect(const std::string& path);
  Hmp(Hmp&& other) noexcept;
  Hmp& operator=(Hmp&&) = delete;
  ~Hmp();

  /// Runs one line; what the monitor printed, without the echo and the next prompt, lines ended by '\n'. Untrusted.
  /// Gives up after ten seconds of silence.
  Result<std::string> run(std::string_view line);

 private:
  explicit Hmp(int fd) : fd_(fd) {}
  /// Up to the next prompt, which is taken away.
  Result<std::string> read_to_prompt();

  int fd_;
};

/// A monitor's answer from what it sent after a line was typed: the echo of the typed line, with its cursor movements, goes
/// away.
[[nodiscard]] std::string without_echo(std::string_view received);

}  // namespace qperf::tools
