#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qperf::tools {

/// How a thing stands with respect to recording and reading a profile.
enum class Health : uint8_t {
  kOk,
  kNote,     // something is not there that may be missed
  kWarning,  // results will be weaker
  kFailed,   // no recording, or one without names
};

/// One thing that was looked at.
struct Finding {
  std::string check;  // "symbols": stable, scripts look for it
  Health health = Health::kOk;
  std::string found;
  std::string advice;  // what to change; empty with kOk
};

struct DoctorOptions {
  std::string elf;
  std::string plugin;
  bool json = false;
  std::vector<std::string> command;  // QEMU and its arguments; may be empty
};

struct ElfFindings {
  std::vector<Finding> findings;
  std::string target;  // "riscv64"; empty: not one that is profiled
};

/// The kernel's ELF: symbols, DWARF, frame pointers, build-id, addresses, marker. The first one fails alone if it cannot be
/// read.
[[nodiscard]] ElfFindings examine_elf(const std::string& path);
/// QEMU and its arguments, or with none given the QEMU in PATH for `target`.
[[nodiscard]] std::vector<Finding> examine_qemu(const DoctorOptions& options, std::string_view target);

/// Prints all findings; 1 if one failed.
int doctor(const DoctorOptions& options);

}  // namespace qperf::tools
