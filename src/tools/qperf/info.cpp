#include "tools/qperf/info.h"

#include <fmt/core.h>

#include <array>
#include <ctime>

#include "analysis/capture_input.h"
#include "base/hex.h"
#include "base/json_quoted.h"
#include "profile/ids.h"
#include "tools/qperf/fact_sheet.h"
#include "tools/qperf/with_trace.h"
#include "tools/qperf/table.h"

namespace qperf::tools {
namespace {

using analysis::CaptureCensus;
using capture::StopReason;
using profile::saturating_add;

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr int kSchemaVersion = 1;

std::string seconds(uint64_t ns) { return fmt::format("{}.{:03} s", ns / kNsPerSecond, ns % kNsPerSecond / 1'000'000); }

/// "2026-03-01 12:00:00.250 UTC".
std::string utc(uint64_t realtime_ns) {
  const auto whole = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&whole, &parts) == nullptr) return "?";
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:03} UTC", std::string_view(text.data(), length), realtime_ns % kNsPerSecond / 1'000'000);
}

std::string end_of(const CaptureCensus& census) {
  if (!census.summary.trailer) return "never finished";
  switch (census.summary.trailer->reason) {
    case capture::EndReason::kExit: return "QEMU ended";
    case capture::EndReason::kControlQuit: return "quit through the control socket";
    case capture::EndReason::kWriteError: return "the file could not be written on";
  }
  return "?";
}

std::string_view stop_name(StopReason reason) {
  switch (reason) {
    case StopReason::kBottom: return "bottom of the stack";
    case StopReason::kNotAscending: return "frame not above the last";
    case StopReason::kUnaligned: return "unaligned frame pointer";
    case StopReason::kLeftStack: return "left the stack";
    case StopReason::kBadReturnAddress: return "root outside the kernel range";
    case StopReason::kNoFramePointer: return "no frame pointer";
    case StopReason::kInterruptFrame: return "interrupt frame";
    case StopReason::kMaxFrames: return "truncated: max_frames";
    case StopReason::kMaxStackBytes: return "truncated: max_stack_bytes";
    case StopReason::kUnreadable: return "truncated: unreadable";
  }
  return "?";
}

analysis::CaptureInput mode_source(const CaptureCensus& census) {
  analysis::CaptureInput input;
  input.legacy = census.legacy;
  input.summary.header = census.summary.header;
  return input;
}

Cell pair(std::string text, std::string json) { return {std::move(text), std::move(json)}; }

FactSheet header_facts(const CaptureCensus& census) {
  const capture::Header& header = census.summary.header;
  FactSheet sheet;
  sheet.add("file", "file", cell_text(census.path));
  sheet.add("size", "file_bytes", pair(fmt::format("{} bytes", census.file_bytes), std::to_string(census.file_bytes)));
  sheet.add("format", "format_version", census.legacy ? pair("older (Rust profiler)", "1") : cell(5));
  if (census.legacy) return sheet;
  sheet.add("recorded by", "qperf_version", cell_text(header.qperf_version));
  sheet.add("QEMU", "qemu_version", cell_text(header.qemu_version));
  sheet.add("plugin API", "plugin_api", cell(header.plugin_api));
  sheet.add("guest", "target", cell_text(guest::info(header.target).name));
  sheet.add("vCPUs", "vcpus", cell(header.vcpus));
  sheet.add("most vCPUs", "max_vcpus", cell(header.max_vcpus));
  sheet.add("mode", "mode",
            pair(analysis::describe_mode(mode_source(census)), json_quoted(guest::mode_name(header.mode))));
  sheet.add("plugin arguments", "plugin_arguments", cell_text(header.plugin_arguments));
  sheet.add("QEMU arguments", "qemu_command_line", cell_text(header.qemu_command_line));
  sheet.add("kernel from", "kernel_first", cell_hex(header.kernel_range.first.raw));
  sheet.add("kernel to", "kernel_last", cell_hex(header.kernel_range.last.raw));
  sheet.add("kernel ELF", "elf_path", header.elf_path.empty() ? pair("not recorded", "null") : cell_text(header.elf_path));
  sheet.add("its build-id", "elf_build_id",
            header.elf_build_id.empty() ? pair("not recorded", "null") : cell_text(hex_digits(header.elf_build_id)));
  sheet.add("trace marker", "trace_address",
            header.trace_address ? cell_hex(header.trace_address->raw) : pair("none", "null"));
  if (const auto trace = recorded_trace(census.path, census.summary.metadata)) sheet.add("QEMU's trace", "trace_file", cell_text(*trace));
  sheet.add("idle time", "idle_known", pair(header.idle_known ? "known" : "unknown", header.idle_known ? "true" : "false"));
  return sheet;
}

FactSheet clock_facts(const CaptureCensus& census) {
  const capture::Header& header = census.summary.header;
  const auto& trailer = census.summary.trailer;
  const Cell none = pair("unknown: never finished", "null");
  const uint64_t wall_ns = trailer ? trailer->end_wall_ns : 0;
  FactSheet sheet;
  sheet.add("started", "start_realtime_ns", pair(utc(header.start_realtime_ns), std::to_string(header.start_realtime_ns)));
  sheet.add("ended", "end_realtime_ns",
            trailer ? pair(utc(trailer->end_realtime_ns), std::to_string(trailer->end_realtime_ns)) : none);
  sheet.add("monotonic clock at start", "start_monotonic_ns", cell_time(header.start_monotonic_ns, 0));
  sheet.add("length", "wall_ns", trailer ? pair(seconds(wall_ns), std::to_string(wall_ns)) : none);
  const uint64_t stopped_ns = census.summary.last_ledger ? census.summary.last_ledger->stopped_ns : 0;
  sheet.add("of it stopped", "stopped_ns", pair(seconds(stopped_ns), std::to_string(stopped_ns)));
  return sheet;
}

FactSheet integrity_facts(const CaptureCensus& census) {
  const auto boolean = [](bool value) { return pair(value ? "yes" : "no", value ? "true" : "false"); };
  FactSheet sheet;
  sheet.add("whole", "whole", boolean(census.whole()));
  if (census.legacy) return sheet;
  const capture::Integrity& integrity = census.summary.integrity;
  sheet.add("ended", "end", cell_text(end_of(census)));
  sheet.add("ends inside a chunk", "cut", boolean(integrity.cut));
  sheet.add("whole chunks", "chunks", cell(census.chunks.sum()));
  sheet.add("of samples", "sample_chunks", cell(census.chunks.samples));
  sheet.add("of events", "event_chunks", cell(census.chunks.events));
  sheet.add("damaged chunks", "damaged_chunks", cell(integrity.damaged_chunks));
  sheet.add("missing chunks", "missing_chunks", cell(integrity.missing_chunks));
  sheet.add("bytes between chunks", "skipped_bytes", cell(integrity.skipped_bytes));
  sheet.add("chunks of newer kinds", "unknown_chunks", cell(integrity.unknown_chunks));
  if (!integrity.first_damage.empty()) sheet.add("first damage", "first_damage", cell_text(integrity.first_damage));
  return sheet;
}

FactSheet content_facts(const CaptureCensus& census) {
  FactSheet sheet;
  sheet.add("samples", "samples", cell(census.samples));
  if (census.legacy) return sheet;
  sheet.add("their weight", "weight", cell(census.weight));
  sheet.add("code fingerprints", "fingerprints", cell(census.fingerprints));
  sheet.add("block counts", "counted_blocks", cell(census.counted_blocks));
  sheet.add("instructions in them", "counted_insns", cell(census.counted_insns));
  sheet.add("phases of the guest", "phases", cell(census.phases.size()));
  sheet.add("events in missing chunks", "missing_events", cell(census.missing_events));
  if (const auto& ledger = census.summary.last_ledger) {
    sheet.add("blocks not counted", "blocks_without_slot", cell(ledger->blocks_without_slot));
    sheet.add("fingerprints dropped", "fingerprints_dropped", cell(ledger->fingerprints_dropped));
  }
  return sheet;
}

struct InfoTables {
  Table buckets{{{"vCPU", "vcpu"},
                 {"Ticks", "issued"},
                 {"Kernel", "kernel"},
                 {"User", "user"},
                 {"Idle", "idle"},
                 {"Other privileged", "other_privileged"},
                 {"Lost", "lost"},
                 {"Idle or waiting", "unknown_idle"},
                 {"Kernel instructions", "kernel_insns"}}};
  Table samples{{{"vCPU", "vcpu"},
                 {"Samples taken", "taken"},
                 {"Stored", "stored"},
                 {"Queue full", "dropped_queue_full"},
                 {"Not written", "dropped_writer"},
                 {"In the file", "in_file"}}};
  Table walks{{{"Walks ended by", "reason", true}, {"Samples", "samples"}}};
  Table events{{{"Events", "kind", true},
                {"In the file", "in_file"},
                {"Dropped", "dropped"},
                {"Stored", "stored"},
                {"Queue full", "dropped_queue_full"},
                {"Not written", "dropped_writer"}}};
  Table event_drops{{{"vCPU", "vcpu"}, {"Events", "kind", true}, {"Dropped", "dropped"}}};
};

void add_ledger(const CaptureCensus& census, InfoTables& tables) {
  std::array<uint64_t, capture::kStopReasonCount> walks{};
  for (const capture::VcpuLedger& vcpu : census.summary.last_ledger->vcpus) {
    const capture::Ticks& ticks = vcpu.ticks;
    const Cell idle = census.summary.header.idle_known ? cell(ticks.idle) : pair("unknown", "null");
    tables.buckets.add({cell(vcpu.vcpu.raw), cell(ticks.issued), cell(ticks.kernel), cell(ticks.user), idle,
                        cell(ticks.other_privileged), cell(ticks.lost), cell(ticks.unknown_idle), cell(vcpu.kernel_insns)});
    const auto stored = census.stored.find(vcpu.vcpu);
    tables.samples.add({cell(vcpu.vcpu.raw), cell(vcpu.samples_taken), cell(vcpu.samples_stored),
                        cell(vcpu.dropped_queue_full), cell(vcpu.dropped_writer),
                        cell(stored == census.stored.end() ? 0 : stored->second.samples)});
    for (size_t i = 0; i < walks.size(); ++i) walks[i] += vcpu.walks_by_stop[i];
  }
  for (size_t i = 0; i < walks.size(); ++i)
    if (walks[i] != 0) tables.walks.add({cell_text(stop_name(static_cast<StopReason>(i))), cell(walks[i])});
}

/// The recorder's own count of events, of all vCPUs.
struct EventLedger {
  bool counted = false;  // false: by a recorder that did not count them, or none came
  capture::EventCounts stored{};
  capture::EventCounts queue_full{};
  capture::EventCounts not_written{};
};

EventLedger event_ledger(const CaptureCensus& census) {
  EventLedger sum;
  if (!census.summary.last_ledger) return sum;
  for (const capture::VcpuLedger& vcpu : census.summary.last_ledger->vcpus) {
    sum.counted |= vcpu.events_taken != 0;
    for (size_t i = 0; i < sum.stored.size(); ++i) {
      sum.stored[i] = saturating_add(sum.stored[i], vcpu.events_stored[i]);
      sum.queue_full[i] = saturating_add(sum.queue_full[i], vcpu.events_dropped_queue_full[i]);
      sum.not_written[i] = saturating_add(sum.not_written[i], vcpu.events_dropped_writer[i]);
    }
  }
  return sum;
}

InfoTables tables_of(const CaptureCensus& census) {
  InfoTables tables;
  if (census.summary.last_ledger) {
    add_ledger(census, tables);
  } else {
    const Cell unknown = pair("-", "null");
    for (const auto& [vcpu, stored] : census.stored)
      tables.samples.add({cell(vcpu.raw), unknown, unknown, unknown, unknown, cell(stored.samples)});
  }
  capture::EventCounts drops{};
  for (const auto& [vcpu, counts] : census.event_drops) {
    for (size_t i = 0; i < counts.size(); ++i) {
      drops[i] += counts[i];
      if (counts[i] == 0) continue;
      const auto kind = capture::event_class_name(static_cast<capture::EventClass>(i));
      tables.event_drops.add({cell(vcpu.raw), cell_text(kind), cell(counts[i])});
    }
  }
  const EventLedger ledger = event_ledger(census);
  const auto counted = [&](uint64_t count) { return ledger.counted ? cell(count) : pair("-", "null"); };
  for (size_t i = 0; i < drops.size(); ++i) {
    if ((census.events[i] | drops[i] | ledger.stored[i] | ledger.queue_full[i] | ledger.not_written[i]) == 0) continue;
    const auto kind = capture::event_class_name(static_cast<capture::EventClass>(i));
    tables.events.add({cell_text(kind), cell(census.events[i]), cell(drops[i]), counted(ledger.stored[i]), counted(ledger.queue_full[i]),
                       counted(ledger.not_written[i])});
  }
  return tables;
}

}  // namespace

std::string info_text(const CaptureCensus& census) {
  const InfoTables tables = tables_of(census);
  std::string out = header_facts(census).text();
  if (!census.legacy) out += '\n' + clock_facts(census).text();
  out += '\n' + integrity_facts(census).text() + '\n' + content_facts(census).text();
  for (const Table* table : {&tables.buckets, &tables.samples, &tables.walks, &tables.events, &tables.event_drops})
    if (!table->empty()) out += '\n' + table->text(stdout_colours());
  return out;
}

std::string info_json(const CaptureCensus& census) {
  const InfoTables tables = tables_of(census);
  JsonObject out;
  out.raw("format", json_quoted("qperf-info"));
  out.add("version", cell(kSchemaVersion));
  out.raw("header", header_facts(census).json());
  out.raw("clocks", census.legacy ? "null" : clock_facts(census).json());
  out.raw("integrity", integrity_facts(census).json());
  out.raw("contents", content_facts(census).json());
  out.raw("buckets", tables.buckets.json());
  out.raw("samples", tables.samples.json());
  out.raw("walks", tables.walks.json());
  out.raw("events", tables.events.json());
  out.raw("event_drops", tables.event_drops.json());
  return out.text();
}

}  // namespace qperf::tools
