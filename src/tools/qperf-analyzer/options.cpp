#include "options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "base/printable.h"

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
  std::vector<std::string> elfs;
  std::string format = "folded";
  std::string cpu;
  std::string from;
  std::string until;
  std::string baseline;
  std::vector<std::string> baseline_elfs;
  std::string phase;
  std::string occurrence;
  std::string task;
  std::string off_cpu_output;
  std::string sched_output;
  bool group_by_task = false;
  bool wakers = false;
  bool group_by_cpu = false;
  bool split_by_cpu = false;
  bool force = false;
  bool help = false;
  bool version = false;
};

void declare(CLI::App& app, Typed& typed) {
  // The program's own help: CLI11's layout differs between the versions that distributions have.
  app.set_help_flag();
  app.add_option("CAPTURE", typed.capture, "what the plugin wrote");
  app.add_option("OUTPUT", typed.output, "the profile; - is stdout");
  app.add_option("-e,--elf", typed.elfs,
                 "ELF of the kernel that ran, with symbols; repeat for firmware, modules, a loader. @SLIDE: bytes it ran above "
                 "its link address (found out without it). Default: the one that the capture names")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  app.add_option("--format", typed.format, "folded or speedscope [folded]")->type_name("FORMAT");
  app.add_option("--cpu", typed.cpu, "only these vCPUs, such as 0,2-3")->type_name("LIST");
  app.add_option("--from", typed.from,
                 "only samples from N on: wall nanoseconds since the start, or with mode=icount kernel instructions of the "
                 "sample's vCPU")
      ->type_name("N");
  app.add_option("--until", typed.until, "only samples before N, counted as --from")->type_name("N");
  app.add_flag("--group-by-cpu", typed.group_by_cpu, "a root frame (speedscope: a profile) for each vCPU");
  app.add_flag("--split-by-cpu", typed.split_by_cpu, "also a file for each vCPU: .cpuN before OUTPUT's ending");
  app.add_flag("--group-by-task", typed.group_by_task, "a root frame (speedscope: a profile) for each task; this and what follows up to "
               "--sched-output need a capture made with trace=");
  app.add_option("--phase", typed.phase, "only what lies in the guest's phase NAME")->type_name("NAME");
  app.add_option("--phase-occurrence", typed.occurrence, "only its N-th occurrence, from 1 [all]")->type_name("N");
  app.add_option("--task", typed.task, "only tasks in whose label (name[tid]) REGEX is found")->type_name("REGEX");
  app.add_option("--off-cpu-output", typed.off_cpu_output, "where tasks were blocked and waited for a CPU, in wall nanoseconds, "
                 "in the format of OUTPUT")->type_name("FILE");
  app.add_flag("--wakers", typed.wakers, "with --off-cpu-output: append who ended each wait");
  app.add_option("--sched-output", typed.sched_output, "times, switches, latencies of tasks, vCPUs and resources, as JSON")
      ->type_name("FILE");
  app.add_option("--baseline", typed.baseline, "an older capture: write what changed since then")->type_name("OLD");
  app.add_option("--baseline-elf", typed.baseline_elfs, "its ELF, if not --elf's")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  app.add_flag("--force", typed.force, "use ELFs that are not what ran");
  app.add_flag("-h,--help", typed.help, "print this and exit");
  app.add_flag("--version", typed.version, "print the version and exit");
}

/// Breaks at blanks into lines of at most `width` bytes.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (!lines.back().empty() && lines.back().size() + 1 + end > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string help_text(const CLI::App& app) {
  constexpr size_t kColumn = 30;
  constexpr size_t kWidth = 90;
  std::string text(kUsage);
  text += '\n';
  for (const CLI::Option* option : app.get_options()) {
    std::string names;
    if (option->get_positional()) names = option->get_name(true);
    for (const auto& name : option->get_snames()) names += '-' + name + ", ";
    for (const auto& name : option->get_lnames()) names += "--" + name;
    if (!option->get_positional() && option->get_expected_min() > 0) names += ' ' + option->get_type_name();
    bool first = true;
    for (const std::string& line : wrapped(option->get_description(), kWidth - kColumn)) {
      if (first && names.size() + 4 > kColumn) {
        fmt::format_to(std::back_inserter(text), "  {}\n", names);
        names.clear();
      }
      fmt::format_to(std::back_inserter(text), "  {:<{}}{}\n", first ? names : "", kColumn - 2, line);
      first = false;
    }
  }
  text += kEpilogue;
  return text;
}

Error usage(std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; }

Result<std::optional<uint64_t>> parse_bound(std::string_view name, const std::string& text) {
  if (text.empty()) return std::optional<uint64_t>();
  const auto value = analysis::parse_unsigned(text);
  if (!value)
    return usage(
        fmt::format("{} '{}': not a whole number from 0 to 2^64 - 1 (decimal, or hex after 0x)", name, printable(text)));
  return std::optional<uint64_t>(*value);
}

Result<SchedOptions> check_sched(const Typed& typed) {
  const auto given = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  SchedOptions sched;
  sched.group_by_task = typed.group_by_task;
  sched.phase = given(typed.phase);
  sched.task = given(typed.task);
  sched.off_cpu_output = given(typed.off_cpu_output);
  sched.sched_output = given(typed.sched_output);
  sched.wakers = typed.wakers;
  QPERF_ASSIGN_OR_RETURN(sched.occurrence, parse_bound("--phase-occurrence", typed.occurrence));
  if (sched.occurrence && !sched.phase) return usage("--phase-occurrence: there is no --phase");
  if (sched.occurrence == 0U) return usage("--phase-occurrence 0: occurrences count from 1");
  if (sched.wakers && !sched.off_cpu_output) return usage("--wakers: there is no --off-cpu-output to append them to");
  if (sched.any() && !typed.baseline.empty())
    return usage("--baseline: cannot be compared by tasks or phases yet: give neither --group-by-task, --phase, --task, "
                 "--off-cpu-output nor --sched-output with it");
  std::vector<std::string> files{typed.output, typed.off_cpu_output, typed.sched_output};
  std::erase(files, std::string());
  std::ranges::sort(files);
  if (const auto twice = std::ranges::adjacent_find(files); twice != files.end())
    return usage(fmt::format("{}: named for two outputs", printable(*twice)));
  return sched;
}

Result<Options> check(const Typed& typed) {
  if (typed.capture.empty() || typed.output.empty())
    return usage(fmt::format("no {} given: qperf-analyzer [options] CAPTURE OUTPUT (--help shows all)",
                             typed.capture.empty() ? "CAPTURE and OUTPUT" : "OUTPUT"));
  if (typed.capture == "-") return usage("CAPTURE cannot be stdin: the file is read twice");
  Options options;
  options.capture = typed.capture;
  options.output = typed.output;
  for (const auto& elf : typed.elfs) options.elfs.push_back(analysis::parse_elf_argument(elf));
  for (const auto& elf : typed.baseline_elfs) options.baseline_elfs.push_back(analysis::parse_elf_argument(elf));
  if (typed.format == "speedscope")
    options.format = Format::kSpeedscope;
  else if (typed.format != "folded")
    return usage(fmt::format("--format '{}': not known: folded or speedscope", printable(typed.format)));
  if (!typed.cpu.empty()) {
    auto vcpus = profile::VcpuSet::parse(typed.cpu);
    if (!vcpus) return std::move(vcpus).error().in("--cpu");
    options.vcpus = *std::move(vcpus);
  }
  QPERF_ASSIGN_OR_RETURN(options.from, parse_bound("--from", typed.from));
  QPERF_ASSIGN_OR_RETURN(options.until, parse_bound("--until", typed.until));
  QPERF_ASSIGN_OR_RETURN(options.sched, check_sched(typed));
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
  if (typed.force) options.mismatch = analysis::Mismatch::kUseAnyway;
  return options;
}

}  // namespace

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
