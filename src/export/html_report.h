#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/column.h"
#include "export/text_sink.h"
#include "export/unit.h"
#include "profile/call_tree.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// Version of the page's data: docs/html-report.md.
inline constexpr uint64_t kHtmlReportVersion = 1;

/// The axis of the timeline: `bins` equal bins over [start, end).
struct HtmlTime {
  enum class Unit : uint8_t { kNone, kWallNs, kPosition };
  Unit unit = Unit::kNone;  // kNone: there is no axis, one bin holds all
  uint64_t start = 0;
  uint64_t end = 1;
  uint32_t bins = 1;
};

/// A tree over frame numbers, as columns. Node 0 is the root.
struct HtmlTree {
  Column parents;
  Column frames;  // index into HtmlFrames
};

/// Samples with equal time bin, node, vCPU and task are one row.
struct HtmlSamples {
  Column bins;
  Column nodes;
  Column cpus;
  Column tasks;  // 0: no task known, else the id of its lane
  Column weights;
};

/// Waits off the CPU, each a row: a node of the off-CPU tree and when.
struct HtmlOffCpu {
  HtmlTree tree;
  Column from_ns;
  Column until_ns;
  Column nodes;
  Column tasks;
};

/// What a stretch of a lane shows.
struct HtmlState {
  std::string name;  // "blocked: mutex"
  std::string kind;  // running, blocked, runnable, idle or unknown; queued, qemu or host: its colour
};

/// A line of the timeline. Without states it shows the samples' weights instead.
struct HtmlLane {
  enum class Kind : uint8_t { kVcpu, kTask };
  Kind kind = Kind::kVcpu;
  uint64_t id = 0;  // of HtmlSamples::cpus or ::tasks
  std::string name;
  bool has_states = false;
  Column from_ns;
  Column until_ns;
  Column states;  // index into HtmlReport::states
  Column requests;  // of a device lane, unless stretches were joined: index into HtmlRequests
};

/// Requests to devices, as columns by request.
struct HtmlRequests {
  Column sectors;        // the first
  Column sector_counts;  // 0: no transfer
  Column lengths_ns;
};

/// What threads of the host were sampled doing meanwhile.
struct HtmlHost {
  struct Thread {
    uint64_t id = 0;  // of `threads`
    std::string name;
  };
  std::string name;  // of its capture
  HtmlTree tree;
  Column bins;  // the samples: equal (bin, node, thread) are one row
  Column nodes;
  Column threads;  // 0: of none that has a lane
  Column weights;
  std::vector<Thread> lanes;
};

struct HtmlPhase {
  std::string name;
  uint64_t from_ns = 0;
  uint64_t until_ns = 0;
  bool complete = true;
};

/// Part of a whole that is shown as a bar: where all ticks went.
struct HtmlBucket {
  std::string name;
  uint64_t weight = 0;
};

/// The profile before, of a comparison.
struct HtmlBase {
  std::string name;             // of the older capture
  Column weights;               // by node: self weights
  uint64_t samples = 0;         // behind them; 0: counted exactly, without a sampling error
  uint64_t samples_of_now = 0;  // behind the page's own
};

/// All that the page shows. Texts are untrusted; whoever fills this keeps it small.
struct HtmlReport {
  std::string title;
  std::string generator;  // "qperf 1.2.3"
  std::vector<std::pair<std::string, std::string>> about;
  std::vector<std::string> warnings;
  std::vector<std::string> left_out;  // what the page does not show, or not as closely as the capture has it
  std::vector<HtmlBucket> buckets;
  Unit unit;
  HtmlTime time;
  std::vector<std::string> frame_names;   // by frame number
  std::vector<std::string> frame_places;  // "file:line" or empty
  HtmlTree tree;
  HtmlSamples samples;
  std::optional<HtmlBase> base;
  std::optional<HtmlOffCpu> off_cpu;
  std::vector<HtmlState> states;
  std::vector<HtmlLane> lanes;
  std::vector<HtmlLane> device_lanes;    // drawn under the vCPUs' lanes; neither kind nor id count
  std::optional<HtmlRequests> requests;  // of the device lanes
  std::optional<HtmlHost> host;
  std::vector<HtmlPhase> phases;
};

/// Writes the page: one file that opens from disk, requests nothing and runs no script but its own.
void write_html_report(const HtmlReport& report, TextSink& sink);

}  // namespace qperf::exporter
