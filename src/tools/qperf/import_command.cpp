#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "analysis/capture_input.h"
#include "capture/reader.h"
#include "tools/profiles/selection.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/import_job.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/words.h"

namespace qperf::tools {
namespace {

constexpr Words<ForeignFormat, 4> kFormats{{{"auto", ForeignFormat::kDetect},
                                            {"perf", ForeignFormat::kPerfScript},
                                            {"folded", ForeignFormat::kFolded},
                                            {"older", ForeignFormat::kOlderCapture}}};

struct ImportText {
  std::string file;
  std::string output;
  std::string format;
  std::string beside;
  std::string elf;
};

/// When the capture's clock was 0, of CLOCK_MONOTONIC.
Result<uint64_t> start_of(const std::string& path) {
  QPERF_ASSIGN_OR_RETURN(const auto input, analysis::survey_capture(path));
  if (input.legacy || input.summary.header.start_monotonic_ns == 0)
    return Error{ErrorCode::kUsage, fmt::format("--beside {}: does not tell when it was recorded: only captures of libqperf.so do", path)};
  return input.summary.header.start_monotonic_ns;
}

Result<int> import(const ImportText& typed) {
  ImportJob job;
  job.input = typed.file;
  job.output = !typed.output.empty() ? typed.output : typed.file + ".qperf";
  if (typed.file == "-" && typed.output.empty()) return Error{ErrorCode::kUsage, "FILE is standard input: say with -o where to write"};
  if (job.output == "-") return Error{ErrorCode::kUsage, "-o cannot be standard output: two files are written"};
  if (!typed.format.empty()) {
    QPERF_ASSIGN_OR_RETURN(job.format, one_of("--format", typed.format, kFormats));
  }
  job.elf = typed.elf;
  QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten({typed.file, typed.beside, typed.elf}, {job.output, names_path(job)}));
  if (!typed.beside.empty()) {
    QPERF_ASSIGN_OR_RETURN(job.start_monotonic_ns, start_of(typed.beside));
  }
  ProgressLine progress(typed.file, STDERR_FILENO);
  job.progress = &progress;
  QPERF_ASSIGN_OR_RETURN(const ImportResult result, run_import(job));
  progress.clear();
  for (const std::string& warning : result.warnings) report_warning(warning);
  const int written = write_out(result.summary);
  return written != kDone ? written : result.complete ? kDone : kIncomplete;
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("import", "make a capture of a profile that other tools wrote");
  auto typed = std::make_shared<ImportText>();
  command->add_option("FILE", typed->file, "text of perf script, folded stacks, or a capture of the older profiler; - is standard input")
      ->required();
  command->add_option("-o,--output", typed->output, "the capture to write; its names go to a file beside it that ends in .elf [FILE.qperf]")
      ->type_name("OUT");
  command->add_option("--format", typed->format, "auto, perf, folded or older [auto: by what the file begins with]")->type_name("FORMAT");
  command->add_option("--beside", typed->beside, "count time from the start of this capture, so that both stand on one timeline (perf)")
      ->type_name("CAPTURE");
  command->add_option("-e,--elf", typed->elf, "the kernel's ELF, recorded in the capture (older)")->type_name("ELF");
  command->footer(
      "Record the host with the clock that captures have:\n"
      "  perf record -k CLOCK_MONOTONIC -g -p $(pidof qemu-system-riscv64) sleep 10\n"
      "  perf script -F +tid,+time > host.txt\n"
      "Threads become tasks and CPUs vCPUs: qperf report --by task, --cpu, --from and the exports work as for a guest (docs/import.md).\n"
      "Examples:\n"
      "  qperf import host.txt --beside qperf.bin -o host.qperf && qperf report --by task host.qperf\n"
      "  qperf export qperf.bin --with-host host.qperf --format html -o run.html\n"
      "  qperf import stacks.folded && qperf report --tree stacks.folded.qperf\n"
      "  qperf import -e kernel.elf old.bin -o old.qperf");
  command->callback([&action, typed] {
    action = [typed] {
      const auto code = import(*typed);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
