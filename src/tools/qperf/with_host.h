#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "profile/frame_table.h"
#include "tools/profiles/host_view.h"
#include "tools/qperf/capture_options.h"

namespace qperf::tools {

/// What the host did while a capture was recorded. Not moved: the view points into it.
struct WithHost {
  std::string name;  // of its capture, without folders: untrusted
  LoadedCapture capture;
  HostView view;

  WithHost(std::string of_name, LoadedCapture of_host, sched::SpanSet window)
      : name(std::move(of_name)), capture(std::move(of_host)), view{.name = name, .profile = capture.profile, .sched = *capture.sched, .window = std::move(window)} {}
  WithHost(const WithHost&) = delete;
  WithHost& operator=(const WithHost&) = delete;
};

/// Adds --with-host.
void add_with_host_option(CLI::App& command, std::string& path);

/// Reads a profile that `qperf import --beside` made for this capture, which was loaded with LoadNeeds::replay_if_events or
/// timeline_if_events; its stacks go to `names`. nullptr where `path` is empty.
[[nodiscard]] Result<std::unique_ptr<WithHost>> load_with_host(const std::string& path, const LoadedCapture& guest,
                                                               profile::NamedStacks& names);

}  // namespace qperf::tools
