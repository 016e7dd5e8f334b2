#include "tools/qperf/commands.h"

#include <CLI/CLI.hpp>

#include "tools/command_line/help.h"
#include "tools/qperf/reading_commands.h"

namespace qperf::tools {
namespace {

/// Every subcommand, in the order of the help text.
constexpr AddCommand kCommands[] = {
    add_record_command,
    add_top_command,
    add_info_command,
    add_report_command,
    add_annotate_command,
    add_diff_command,
    add_stat_command,
    add_import_command,
    add_export_command,
    add_trace_command,
    add_doctor_command,
    add_completion_command,
};

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", "qperf " QPERF_VERSION, "print the version and exit");
  app.formatter_fn([](const CLI::App* asked, const std::string&, CLI::AppFormatMode) { return command_help(*asked); });
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but data is incomplete.\n"
      "Examples:\n"
      "  qperf record -- qemu-system-riscv64 -M virt -nographic -kernel kernel.elf\n"
      "  qperf info qperf.bin                 how a capture was recorded, whether it is whole\n"
      "  qperf report --tree qperf.bin        where its time went\n"
      "  qperf diff old.bin new.bin           what changed between two recordings\n"
      "  qperf stat qperf.bin                 what tasks waited for, and how long\n"
      "  qperf export qperf.bin --format folded | flamegraph.pl > kernel.svg\n"
      "  qperf trace print trace-1234         what QEMU's devices did, in order\n"
      "'qperf COMMAND --help' describes a command.");
  for (const AddCommand add : kCommands) add(app, action);
}

}  // namespace qperf::tools
