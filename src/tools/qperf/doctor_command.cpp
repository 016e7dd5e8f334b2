#include <CLI/CLI.hpp>
#include <memory>

#include "tools/qperf/command.h"
#include "tools/qperf/doctor/doctor.h"

namespace qperf::tools {

void add_doctor_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("doctor", "say whether a kernel and a QEMU are fit for profiling, and what to change");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("-e,--elf", options->elf, "the kernel with symbols")->type_name("KERNEL.elf");
  command->add_option("--plugin", options->plugin, "libqperf.so (default: the one that came with qperf)")->type_name("FILE");
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("QEMU", options->command,
                      "qemu-system-ARCH and its arguments, after -- (default: the one in PATH for the ELF)");
  command->footer(
      "Each line is ok, note, warning (results will be weaker) or failed (no recording, or no names). Exit code 1 if one "
      "failed.\n"
      "Examples:\n"
      "  qperf doctor -e vmlinux\n"
      "  qperf doctor -e kernel.elf -- qemu-system-riscv64 -M virt -kernel kernel.elf");
  command->callback([&action, options] { action = [options] { return doctor(*options); }; });
}

}  // namespace qperf::tools
