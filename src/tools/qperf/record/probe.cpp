#include "tools/qperf/record/probe.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/printable.h"
#include "tools/qperf/record/program.h"

namespace qperf::tools {
namespace {

constexpr unsigned kProbeSeconds = 60;  // a loaded machine reads QEMU's hundred shared libraries slowly

/// Which package has the emulator of a target, in Debian 12 and 13.
struct Package {
  std::string_view target;
  std::string_view bookworm;
  std::string_view trixie;
};
constexpr std::array<Package, 4> kPackages = {{
    {"riscv64", "qemu-system-misc", "qemu-system-riscv"},
    {"loongarch64", "qemu-system-misc", "qemu-system-misc"},
    {"aarch64", "qemu-system-arm", "qemu-system-arm"},
    {"x86_64", "qemu-system-x86", "qemu-system-x86"},
}};

std::string target_of(const std::string& program) {
  constexpr std::string_view kPrefix = "qemu-system-";
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string();
}

std::string how_to_get(const std::string& target) {
  for (const Package& row : kPackages) {
    if (row.target == target)
      return fmt::format(
          "Debian 13: apt install {}; Debian 12: apt install -t bookworm-backports {}; or build QEMU with "
          "--enable-plugins",
          row.trixie, row.bookworm);
  }
  return "Debian 13 has it; Debian 12 has it in bookworm-backports; or build QEMU with --enable-plugins";
}

std::string first_line(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return printable(text.substr(0, std::min<size_t>(text.find('\n'), 200)));
}

/// "QEMU emulator version 10.0.2 (Debian ...)": the digits and dots.
std::optional<std::string> version_in(std::string_view text) {
  constexpr std::string_view kBefore = "QEMU emulator version ";
  const size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kBefore.size());
  return std::string(text.substr(0, std::min(text.find_first_not_of("0123456789."), text.size())));
}

bool is_older_than_least(const std::string& version) {
  char* rest = nullptr;
  const unsigned long major = std::strtoul(version.c_str(), &rest, 10);
  const unsigned long minor = *rest == '.' ? std::strtoul(rest + 1, nullptr, 10) : 0;
  return major < kLeastMajor || (major == kLeastMajor && minor < kLeastMinor);
}

Error no_plugin_support(const Qemu& qemu) {
  return Error{ErrorCode::kUnsupported, fmt::format("{} (QEMU {}) was built without plugin support: {}", printable(qemu.path),
                                                    qemu.version, how_to_get(qemu.target))};
}

}  // namespace

Result<Qemu> find_qemu(const std::string& program) {
  Qemu qemu;
  qemu.target = target_of(program);
  auto path = find_program(program);
  if (!path) {
    Error error = std::move(path).error();
    error.message += fmt::format("; QEMU {}.{} or newer is needed: {}", kLeastMajor, kLeastMinor, how_to_get(qemu.target));
    return error;
  }
  qemu.path = *std::move(path);
  QPERF_ASSIGN_OR_RETURN(const Captured said, run_captured({qemu.path, "--version"}, {}, kProbeSeconds));
  const auto version = version_in(said.text);
  if (!version)
    return Error{ErrorCode::kUsage, fmt::format("{}: is no QEMU system emulator, its --version says '{}': give "
                                                "qemu-system-ARCH and its arguments after --",
                                                printable(program), first_line(said.text))};
  qemu.version = *version;
  if (is_older_than_least(qemu.version))
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: QEMU {} is too old, {}.{} or newer is needed: {}", printable(program),
                             printable(qemu.version), kLeastMajor, kLeastMinor, how_to_get(qemu.target))};
  return qemu;
}

Result<void> try_plugin(const Qemu& qemu, const std::string& plugin, std::string_view plugin_arguments) {
  QPERF_ASSIGN_OR_RETURN(const Captured said,
                         run_captured({qemu.path, "-M", "none", "-nodefaults", "-display", "none", "-plugin",
                                       with_commas_doubled(plugin) + std::string(plugin_arguments) + ",help=on"},
                                      {}, kProbeSeconds));
  const std::string& text = said.text;
  const auto has = [&text](std::string_view words) { return text.find(words) != std::string::npos; };
  if (has("max_stack_bytes=")) return {};  // the plugin's own help: it was loaded and its arguments are right
  if (has("invalid option") || has("not enabled in this build")) return no_plugin_support(qemu);
  if (has("API version"))
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} (QEMU {}) cannot load {}: {}; QEMU {}.{} to 11.1 can", printable(qemu.path), qemu.version,
                             printable(plugin), first_line(text), kLeastMajor, kLeastMinor)};
  // The plugin's or QEMU's own words say what is wrong with an argument, the target or the file.
  constexpr std::string_view kOurs = "qperf: ";
  const size_t ours = text.find(kOurs);
  return Error{ErrorCode::kUsage, first_line(ours == std::string::npos ? std::string_view(text)
                                                                       : std::string_view(text).substr(ours + kOurs.size()))};
}

Result<void> check_can_be_recorded(const std::string& program, const QemuArguments& arguments) {
  const std::string name = program.substr(program.rfind('/') + 1);
  const bool wrapper = name == "kvm" || name == "qemu-kvm";
  if (wrapper || arguments.accelerator != "tcg")
    return Error{ErrorCode::kUsage,
                 fmt::format("'{}' runs the guest on the host's CPU ({}): there QEMU translates no code and a plugin sees none "
                             "of it; record with -accel tcg instead",
                             printable(wrapper ? name : arguments.accelerator_option),
                             wrapper ? "kvm" : printable(arguments.accelerator))};
  if (arguments.daemonizes)
    return Error{ErrorCode::kUsage,
                 "-daemonize: QEMU would leave qperf behind; take it away and run 'qperf record ... &' instead"};
  if (arguments.loads_qperf)
    return Error{ErrorCode::kUsage,
                 "-plugin libqperf.so is among QEMU's arguments already: qperf record adds it itself, with "
                 "its own options (--mode, --freq, --plugin-argument ...)"};
  return {};
}

Result<std::string> find_plugin(const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!given.empty()) {
    if (!fs::exists(given, ignored))
      return Error{ErrorCode::kNotFound, "--plugin " + printable(given) + ": there is no such file"};
    return fs::absolute(given, ignored).string();
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::string looked;
  for (const char* place : {"../lib/qperf/libqperf.so", "../lib/libqperf.so"}) {
    const fs::path file = (folder / place).lexically_normal();
    if (fs::exists(file, ignored)) return file.string();
    looked += (looked.empty() ? "" : ", ") + printable(file.string());
  }
  return Error{ErrorCode::kNotFound, "libqperf.so is not where it should be (" + looked + "): give --plugin FILE"};
}

}  // namespace qperf::tools
