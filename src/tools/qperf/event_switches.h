#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace qperf::tools {

struct EventState {
  std::string name;
  std::string state;  // enabled, disabled, unavailable
};

/// The trace events of a running QEMU, whatever the way to its monitor.
class EventSwitches {
 public:
  virtual ~EventSwitches() = default;
  /// What a name or a pattern with '*' matches; empty for nothing.
  virtual Result<std::vector<EventState>> states(const std::string& pattern) = 0;
  virtual Result<void> set(const std::string& pattern, bool enable) = 0;
  /// Runs a line of the monitor for people; its answer is untrusted text.
  virtual Result<std::string> monitor(const std::string& line) = 0;
};

/// Over a QMP socket.
[[nodiscard]] Result<std::unique_ptr<EventSwitches>> switches_by_qmp(const std::string& socket);
/// Over a socket with the monitor for people: it cannot tell events that were compiled out from those that are off.
[[nodiscard]] Result<std::unique_ptr<EventSwitches>> switches_by_hmp(const std::string& socket);
/// Through libvirt: `virsh qemu-monitor-command DOMAIN`.
[[nodiscard]] Result<std::unique_ptr<EventSwitches>> switches_by_virsh(const std::string& domain);

}  // namespace qperf::tools
