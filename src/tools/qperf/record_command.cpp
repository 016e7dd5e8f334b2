#include <CLI/CLI.hpp>
#include <memory>

#include "tools/qperf/command.h"
#include "tools/qperf/record/record_options.h"

namespace qperf::tools {

void add_record_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("record", "run QEMU with the profiler and write a capture");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("-e,--elf", options->elf, "the kernel with symbols (default: what -kernel names, if that is an ELF)")
      ->type_name("KERNEL.elf");
  command->add_option("-o,--output", options->output, "the capture to write (default qperf.bin)")->type_name("FILE");
  command
      ->add_option("--mode", options->mode,
                   "what takes a sample: wall (the host's clock, the default), icount (guest kernel "
                   "instructions), exact (every block is counted, no stacks)")
      ->check(CLI::IsMember({"wall", "icount", "exact"}))
      ->type_name("MODE");
  command->add_option("--freq", options->freq, "wall: samples a second and vCPU (default 99)")->type_name("HZ");
  command->add_option("--period", options->period, "icount: instructions between samples (default 100000)")->type_name("N");
  command->add_option("--jitter", options->jitter, "icount: draw each gap evenly from the period -/+ PERCENT")
      ->type_name("PERCENT");
  command->add_flag("--trace", options->trace, "record the guest's trace marker: tasks, switches, waits, phases");
  command
      ->add_option(
          "--trace-events", options->trace_events,
          "also record QEMU's own events: names and globs between commas, a leading '-' takes away; or events=FILE with "
          "one a line")
      ->type_name("PATTERNS");
  command->add_option("--duration", options->duration_s, "stop QEMU after S seconds of recording")->type_name("S");
  command->add_option("--delay", options->delay_s, "begin S seconds after the start, or after the line of --start-on")
      ->type_name("S");
  command->add_option("--start-on", options->start_on, "begin when a line of the guest's console matches")->type_name("REGEX");
  command->add_option("--stop-on", options->stop_on, "pause when a line of the guest's console matches; the guest goes on")
      ->type_name("REGEX");
  command->add_option("--control", options->control, "where the plugin's control socket is made, for others to use as well")
      ->type_name("SOCKET");
  command->add_option("--plugin", options->plugin, "libqperf.so (default: the one that came with qperf)")->type_name("FILE");
  command->add_option("--plugin-argument", options->plugin_arguments, "any other argument of the plugin; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("-q,--quiet", options->quiet, "no summary at the end");
  command->add_option("QEMU", options->command, "qemu-system-ARCH and its arguments, after --")->required();
  command->footer(
      "QEMU keeps the terminal: a serial console works as without qperf, Ctrl-C goes where QEMU's options send it.\n"
      "The exit code is QEMU's own, 128 + N if signal N ended it; 1 or 2 if QEMU could not be run.\n"
      "Examples:\n"
      "  qperf record -- qemu-system-riscv64 -M virt -nographic -kernel kernel.elf\n"
      "  qperf record -e vmlinux -o boot.bin --duration 10 -- qemu-system-aarch64 -M virt -cpu max -nographic -kernel Image\n"
      "  qperf record --start-on 'login:' --trace-events 'virtio_*,blk_*' -- qemu-system-x86_64 ...");
  command->callback([&action, options] { action = [options] { return record(*options); }; });
}

}  // namespace qperf::tools
