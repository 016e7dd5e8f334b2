#include "tools/qperf/top/top.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "base/printable.h"
#include "tools/qperf/command.h"
#include "tools/qperf/record/plugin_control.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/top/live_profile.h"
#include "tools/qperf/top/screen.h"

namespace qperf::tools {
namespace {

constexpr ScreenSize kPaper{.rows = 40, .columns = 200};

uint64_t to_ns(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

Result<void> check(const TopOptions& options) {
  if (options.file.empty() == options.control.empty())
    return Error{ErrorCode::kUsage, "give one of a capture that is being recorded and --control SOCKET"};
  if (!(options.window_s >= 0.1 && options.window_s <= 3600))
    return Error{ErrorCode::kUsage, fmt::format("--window {}: seconds from 0.1 to 3600 are allowed", options.window_s)};
  if (!(options.interval_s >= 0.1 && options.interval_s <= 3600))
    return Error{ErrorCode::kUsage, fmt::format("--interval {}: seconds from 0.1 to 3600 are allowed", options.interval_s)};
  return {};
}

/// The running top: where it reads, what it says.
class Top {
 public:
  static Result<Top> open(const TopOptions& options) {
    QPERF_RETURN_IF_ERROR(check(options));
    std::optional<PluginControl> control;
    std::string path = options.file;
    if (!options.control.empty()) {
      QPERF_ASSIGN_OR_RETURN(PluginControl connected, PluginControl::connect(options.control));
      control.emplace(std::move(connected));
      QPERF_ASSIGN_OR_RETURN(path, control->ask("file"));
    }
    std::vector<analysis::ElfArgument> elfs;
    for (const std::string& elf : options.elfs) elfs.push_back(analysis::parse_elf_argument(elf));
    QPERF_ASSIGN_OR_RETURN(LiveProfile profile, LiveProfile::open(path, std::move(elfs), to_ns(options.window_s)));
    return Top(options, std::move(path), std::move(control), std::move(profile));
  }

  Result<int> run() { return !options_.once && options_.iterations == 0 && on_terminal() ? run_on_screen() : run_on_paper(); }

 private:
  Top(const TopOptions& options, std::string path, std::optional<PluginControl> control, LiveProfile profile)
      : options_(options), path_(std::move(path)), control_(std::move(control)), profile_(std::move(profile)) {}

  static bool on_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

  Result<std::vector<std::string>> look(ScreenSize size) {
    QPERF_ASSIGN_OR_RETURN(const Snapshot snapshot, profile_.refresh());
    finished_ = snapshot.finished;
    damaged_ = snapshot.damaged_chunks != 0;
    return draw(snapshot, fmt::format("qperf top: {}, last {} s", printable(path_), options_.window_s), note(), size);
  }

  [[nodiscard]] int code() const noexcept { return damaged_ ? kIncomplete : kDone; }

  std::string note() {
    if (!control_) return "";
    const auto status = control_->ask("status");
    if (!status) control_.reset();  // the recording has ended, which the capture says as well
    return status ? printable(*status) : "";
  }

  Result<int> run_on_screen() {
    const FullScreen screen;
    while (!FullScreen::must_end()) {
      QPERF_ASSIGN_OR_RETURN(const auto lines, look(FullScreen::size()));
      FullScreen::show(lines);
      const auto key = FullScreen::key(static_cast<int>(options_.interval_s * 1000));
      if (key == 'q' || key == 'Q') break;
    }
    return code();
  }

  /// Frame after frame as plain lines: for pipes and scripts.
  Result<int> run_on_paper() {
    const uint64_t frames = options_.once ? 1 : options_.iterations;
    for (uint64_t i = 0; frames == 0 || i < frames; ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(to_ns(options_.interval_s)));
      QPERF_ASSIGN_OR_RETURN(const auto lines, look(kPaper));
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      if (const int written = write_out(text); written != kDone) return written;
      if ((frames == 0 && finished_) || std::ferror(stdout) != 0) break;  // also if the reader has closed its end
    }
    return code();
  }

  TopOptions options_;
  std::string path_;
  std::optional<PluginControl> control_;
  LiveProfile profile_;
  bool finished_ = false;
  bool damaged_ = false;
};

}  // namespace

int top(const TopOptions& options) {
  auto opened = Top::open(options);
  if (!opened) return report_error(opened.error());
  const auto code = opened->run();
  return code ? *code : report_error(code.error());
}

}  // namespace qperf::tools
