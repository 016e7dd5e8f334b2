#include "options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/printable.h"
#include "tools/command_line/help.h"

namespace qperf::tools {
namespace {

constexpr std::string_view kUsage =
    "usage: qperf-analyzer -e KERNEL.elf[@SLIDE] [options] CAPTURE OUTPUT\n"
    "\n"
    "Turns a capture of libqperf.so and the kernel's ELF into a profile. A report goes to stderr.\n";

constexpr std::string_view kEpilogue =
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 done but the capture is incomplete.\n";

/// The values as typed; checked after the parse, so that the messages are ours on every CLI11.
struct Typed {
  std::string capture;
  std::string output;
  SelectionText selection;
  std::string format = "folded";
  std::string baseline;
  std::vector<std::string> baseline_elfs;
  std::string off_cpu_output;
  std::string sched_output;
  bool wakers = false;
  bool group_by_cpu = false;
  bool split_by_cpu = false;
  bool help = false;
  bool version = false;
};

void declare(CLI::App& app, Typed& typed) {
  // The program's own help: CLI11's layout differs between the versions that distributions have.
  app.set_help_flag();
  app.add_option("CAPTURE", typed.capture, "what the plugin wrote");
  app.add_option("OUTPUT", typed.output, "the profile; - is stdout");
  app.add_option("-e,--elf", typed.selection.elfs,
                 "ELF of the kernel that ran, with symbols; repeat for firmware, a loader (linked ELFs: no .ko). @SLIDE: bytes it ran above "
                 "its link address (found out without it). Default: the one that the capture names")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  app.add_option("--format", typed.format, "folded or speedscope [folded]")->type_name("FORMAT");
  app.add_option("--cpu", typed.selection.cpu, "only these vCPUs, such as 0,2-3")->type_name("LIST");
  app.add_option("--from", typed.selection.from,
                 "only samples from N on: wall nanoseconds since the start, or with mode=icount kernel instructions of the "
                 "sample's vCPU")
      ->type_name("N");
  app.add_option("--until", typed.selection.until, "only samples before N, counted as --from")->type_name("N");
  app.add_flag("--group-by-cpu", typed.group_by_cpu, "a root frame (speedscope: a profile) for each vCPU");
  app.add_flag("--split-by-cpu", typed.split_by_cpu, "also a file for each vCPU: .cpuN before OUTPUT's ending");
  app.add_flag("--group-by-task", typed.selection.group_by_task, "a root frame (speedscope: a profile) for each task; this and what follows up to "
               "--sched-output need a capture made with trace=");
  app.add_option("--phase", typed.selection.phase, "only what lies in the guest's phase NAME")->type_name("NAME");
  app.add_option("--phase-occurrence", typed.selection.occurrence, "only its N-th occurrence, from 1 [all]")->type_name("N");
  app.add_option("--task", typed.selection.task, "only tasks in whose label (name[tid]) REGEX is found")->type_name("REGEX");
  app.add_option("--off-cpu-output", typed.off_cpu_output, "where tasks were blocked and waited for a CPU, in wall nanoseconds, "
                 "in the format of OUTPUT")->type_name("FILE");
  app.add_flag("--wakers", typed.wakers, "with --off-cpu-output: append who ended each wait");
  app.add_option("--sched-output", typed.sched_output, "times, switches, latencies of tasks, vCPUs and resources, as JSON")
      ->type_name("FILE");
  app.add_option("--baseline", typed.baseline, "an older capture: write what changed since then")->type_name("OLD");
  app.add_option("--baseline-elf", typed.baseline_elfs, "its ELF, if not --elf's")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  app.add_flag("--force", typed.selection.force, "use ELFs that are not what ran");
  app.add_flag("-h,--help", typed.help, "print this and exit");
  app.add_flag("--version", typed.version, "print the version and exit");
}

std::string help_text(const CLI::App& app) {
  std::string text(kUsage);
  text += '\n';
  text += option_rows(app);
  text += kEpilogue;
  return text;
}

Error usage(std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; }

/// The files of the scheduler's events.
Result<void> check_sched(const Typed& typed, Options& options) {
  const auto given = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  options.off_cpu_output = given(typed.off_cpu_output);
  options.sched_output = given(typed.sched_output);
  options.wakers = typed.wakers;
  if (options.wakers && !options.off_cpu_output) return usage("--wakers: there is no --off-cpu-output to append them to");
  if ((options.off_cpu_output || options.sched_output) && !typed.baseline.empty())
    return usage(fmt::format("--baseline: {} is of one capture: give it in a run for each (difffolded.pl compares off-CPU files); "
                             "--group-by-task, --phase and --task work, on both captures",
                             options.off_cpu_output ? "--off-cpu-output" : "--sched-output"));
  std::vector<std::string> files{typed.output, typed.off_cpu_output, typed.sched_output};
  std::erase(files, std::string());
  std::ranges::sort(files);
  if (const auto twice = std::ranges::adjacent_find(files); twice != files.end())
    return usage(fmt::format("{}: named for two outputs", printable(*twice)));
  return {};
}

Result<Options> check(const Typed& typed) {
  if (typed.capture.empty() || typed.output.empty())
    return usage(fmt::format("no {} given: qperf-analyzer [options] CAPTURE OUTPUT (--help shows all)",
                             typed.capture.empty() ? "CAPTURE and OUTPUT" : "OUTPUT"));
  if (typed.capture == "-") return usage("CAPTURE cannot be stdin: the file is read twice");
  Options options;
  options.capture = typed.capture;
  options.output = typed.output;
  for (const auto& elf : typed.baseline_elfs) options.baseline_elfs.push_back(analysis::parse_elf_argument(elf));
  if (typed.format == "speedscope")
    options.format = Format::kSpeedscope;
  else if (typed.format != "folded")
    return usage(fmt::format("--format '{}': not known: folded or speedscope", printable(typed.format)));
  QPERF_ASSIGN_OR_RETURN(options.selection, check_selection(typed.selection));
  QPERF_RETURN_IF_ERROR(check_sched(typed, options));
  options.group_by_cpu = typed.group_by_cpu;
  options.split_by_cpu = typed.split_by_cpu;
  if (typed.split_by_cpu && typed.output == "-") return usage("--split-by-cpu: OUTPUT must be a file, stdout is one stream");
  if (!typed.baseline.empty()) options.baseline = typed.baseline;
  if (typed.baseline == "-") return usage("--baseline cannot be stdin: the file is read twice");
  if (!options.baseline && !options.baseline_elfs.empty()) return usage("--baseline-elf: there is no --baseline");
  if (options.baseline && options.format == Format::kSpeedscope && options.group_by_cpu)
    return usage(
        "--group-by-cpu: with --baseline a speedscope file has its profiles before, after, increase and decrease "
        "already; --cpu and --split-by-cpu work");
  return options;
}

}  // namespace

void declare_options(CLI::App& app) {
  static Typed typed;  // the parser keeps references to it
  declare(app, typed);
}

Result<Options> parse_options(int argc, const char* const* argv) {
  CLI::App app;
  Typed typed;
  try {
    declare(app, typed);
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    const auto extra = app.remaining();
    return usage(fmt::format("'{}': {} (--help shows all)", extra.empty() ? "" : printable(extra.front()),
                             !extra.empty() && extra.front().starts_with('-') ? "no such option" : "one argument too many"));
  } catch (const CLI::ParseError& error) {
    return usage(fmt::format("{} (--help shows all)", printable(error.what())));
  }
  if (typed.help || typed.version) {
    Options options;
    options.only_print = typed.help ? help_text(app) : "qperf-analyzer " QPERF_VERSION "\n";
    return options;
  }
  return check(typed);
}

}  // namespace qperf::tools
