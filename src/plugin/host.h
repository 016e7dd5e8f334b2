#pragma once

#include <string>

#include "plugin/qemu_api.h"

namespace qperf::plugin {

/// "10.0.2 (Debian ...)", found in the emulator's own text; empty if it is not there.
[[nodiscard]] std::string host_version();

/// The plugin API that this emulator speaks, by what it exports and its version: 4 (also for 5), 6 or 7.
[[nodiscard]] int host_api();

/// The events that the plugin listens to, whatever the API version. All are called without the plugin id.
struct Events {
  void (*vcpu_init)(unsigned vcpu);
  void (*vcpu_exit)(unsigned vcpu);
  void (*vcpu_idle)(unsigned vcpu);    // nullptr: not wanted
  void (*vcpu_resume)(unsigned vcpu);  // nullptr: not wanted
  void (*translated)(qemu_plugin_tb* tb);
  void (*at_exit)();
};

/// Registers `events` in the way of `api`. False if the emulator lacks a function. Once per process.
[[nodiscard]] bool listen(qemu_plugin_id_t id, int api, const Events& events);

/// Runs `work(argument)` at once, while QEMU neither adds a vCPU nor moves a scoreboard. After listen(). Any thread but a vCPU's;
/// `work` waits for nothing.
void run_while_no_vcpu_comes(void (*work)(void*), void* argument) noexcept;

/// Appends the register's bytes, in the target's byte order, to `into`. False if it could not be read.
[[nodiscard]] bool read_register(qemu_plugin_register* handle, GByteArray* into) noexcept;

}  // namespace qperf::plugin
