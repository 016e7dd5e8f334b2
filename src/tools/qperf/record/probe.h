#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/qperf/record/qemu_arguments.h"

namespace qperf::tools {

/// A QEMU that was asked what it is and that can load the plugin.
struct Qemu {
  std::string path;
  std::string version;  // "10.0.2"
  std::string target;   // "riscv64", from the name of the program; empty: not told by it
};

/// The oldest release that can load the plugin, and the API that it brought.
inline constexpr unsigned kLeastMajor = 9;
inline constexpr unsigned kLeastMinor = 2;

/// Asks the program for its version. An Error says what is missing and how to get it.
[[nodiscard]] Result<Qemu> find_qemu(const std::string& program);

/// Lets `qemu` load the plugin with `plugin_arguments` (",name=value..." or empty) without a machine to run, so that what it or
/// the plugin objects to is told before the guest starts.
[[nodiscard]] Result<void> try_plugin(const Qemu& qemu, const std::string& plugin, std::string_view plugin_arguments);

/// Refuses command lines under which there is nothing to sample: KVM and its like, -daemonize, a second libqperf.so.
[[nodiscard]] Result<void> check_can_be_recorded(const std::string& program, const QemuArguments& arguments);

/// libqperf.so beside the running program, as installed or as built. `given`: what the user says instead, or empty.
[[nodiscard]] Result<std::string> find_plugin(const std::string& given);

}  // namespace qperf::tools
