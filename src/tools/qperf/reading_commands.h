#pragma once

#include "tools/qperf/command.h"

/// The commands that answer from a capture, and the one that makes captures of other tools' profiles.
namespace qperf::tools {

void add_info_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_annotate_command(CLI::App& app, Action& action);
void add_diff_command(CLI::App& app, Action& action);
void add_stat_command(CLI::App& app, Action& action);
void add_import_command(CLI::App& app, Action& action);

}  // namespace qperf::tools
