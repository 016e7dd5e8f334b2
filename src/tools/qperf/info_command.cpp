#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report.h"
#include "tools/qperf/info.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

struct InfoOptions {
  std::string file;
  bool json = false;
};

int run(const InfoOptions& options) {
  const auto census = analysis::take_census(options.file);
  if (!census) return report_error(census.error());
  const int written = write_out(options.json ? info_json(*census) : info_text(*census));
  if (census->legacy && census->legacy_cut)
    report_warning(census->path + ": the capture is incomplete: it ends inside a record");
  if (!census->legacy) {
    if (const auto damage = analysis::damage_in(census->path, census->summary.integrity))
      report_warning(damage->text);
  }
  if (written != kDone) return written;
  return census->whole() ? kDone : kIncomplete;
}

}  // namespace

void add_info_command(CLI::App& app, Action& action) {
  CLI::App* info = app.add_subcommand("info", "what is in a capture: how it was recorded, whether it is whole, what was lost");
  auto options = std::make_shared<InfoOptions>();
  info->add_option("FILE", options->file, "the capture")->required();
  info->add_flag("--json", options->json, "print JSON (docs/json.md)");
  info->footer(
      "Needs no kernel ELF. Exit code 3: the capture is cut, damaged or was never finished.\n"
      "Examples:\n"
      "  qperf info qperf.bin\n"
      "  qperf info --json qperf.bin | jq .samples");
  info->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace qperf::tools
