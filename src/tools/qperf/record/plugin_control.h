#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace qperf::tools {

/// A connection to the plugin's control socket (docs/plugin.md).
class PluginControl {
 public:
  [[nodiscard]] static Result<PluginControl> connect(const std::string& path);
  PluginControl(PluginControl&& other) noexcept;
  PluginControl& operator=(PluginControl&& other) noexcept;
  ~PluginControl();

  /// Sends one command, gives the answer without its "ok: "; "err: ..." becomes an Error. Gives up after ten seconds.
  Result<std::string> ask(std::string_view command);

 private:
  explicit PluginControl(int fd) noexcept : fd_(fd) {}
  int fd_;
};

}  // namespace qperf::tools
