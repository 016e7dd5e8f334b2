#include <CLI/CLI.hpp>
#include <memory>

#include "tools/qperf/command.h"
#include "tools/qperf/top/top.h"

namespace qperf::tools {

void add_top_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("top", "show the hottest functions of the last seconds while a recording runs");
  auto options = std::make_shared<TopOptions>();
  command->add_option("FILE", options->file, "the capture that is being written");
  command->add_option("--control", options->control, "the plugin's control socket instead: it tells which file that is")
      ->type_name("SOCKET");
  command->add_option("-e,--elf", options->elfs, "ELF of the kernel that runs (default: the one that the capture names)")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  command->add_option("--window", options->window_s, "how many of the last seconds count (default 5)")->type_name("S");
  command->add_option("--interval", options->interval_s, "seconds between two looks (default 1)")->type_name("S");
  command->add_option("--iterations", options->iterations, "end after N looks, printed one below the other")->type_name("N");
  command->add_flag("--once", options->once, "print one look and end");
  command->footer(
      "q ends it. Where standard output is no terminal, looks are printed one below the other until the recording ends.\n"
      "Examples:\n"
      "  qperf record -o run.bin -- qemu-system-riscv64 ...      in one window\n"
      "  qperf top run.bin                                       in another");
  command->callback([&action, options] { action = [options] { return top(*options); }; });
}

}  // namespace qperf::tools
