#include "analysis/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "analysis/units.h"
#include "base/printable.h"

namespace qperf::analysis {
namespace {

using capture::StopReason;

std::string share(uint64_t part, uint64_t whole) {
  if (whole == 0) return "0 %";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Sums over the vCPUs of the last ledger.
struct Totals {
  capture::Ticks ticks;
  uint64_t dropped_queue_full = 0;
  uint64_t dropped_writer = 0;
};

Totals sum(const capture::Ledger& ledger) {
  Totals totals;
  totals.ticks = sum_of_ticks(ledger, {});
  for (const auto& vcpu : ledger.vcpus) {
    totals.dropped_queue_full += vcpu.dropped_queue_full;
    totals.dropped_writer += vcpu.dropped_writer;
  }
  return totals;
}

std::string describe_ticks(const capture::Ticks& ticks, bool idle_known) {
  std::string text = fmt::format(
      "ticks of all vCPUs: {} = kernel {}, [user] {}, [idle] {}, [other-privileged] {}, [lost] {}", ticks.issued, ticks.kernel,
      ticks.user, idle_known ? fmt::format("{}", ticks.idle) : std::string("unknown"), ticks.other_privileged, ticks.lost);
  if (ticks.unknown_idle != 0) text += fmt::format(", [idle or waiting] {}", ticks.unknown_idle);
  return text;
}

uint64_t truncated_walks(const Tally& tally) {
  uint64_t walks = 0;
  for (size_t i = 0; i < tally.walks_by_stop.size(); ++i)
    if (capture::is_truncated(static_cast<StopReason>(i))) walks += tally.walks_by_stop[i];
  return walks;
}

uint64_t walks(const Tally& tally, StopReason reason) { return tally.walks_by_stop[static_cast<size_t>(reason)]; }

/// What was recorded and how, as the plugin's arguments name it, where the two differ. What only one of the captures says is left
/// out: an older recorder did not write it.
struct Settings {
  std::string before;
  std::string after;

  void add(std::string_view name, uint64_t old_value, uint64_t new_value) {
    if (old_value != new_value && old_value != 0 && new_value != 0) add(name, std::to_string(old_value), std::to_string(new_value));
  }
  void add(std::string_view name, const std::string& old_text, const std::string& new_text) {
    if (old_text == new_text) return;
    before += fmt::format("{}{}={}", before.empty() ? "" : ", ", name, old_text);
    after += fmt::format("{}{}={}", after.empty() ? "" : ", ", name, new_text);
  }
};

Settings different_settings(const capture::Header& before, const capture::Header& after) {
  const auto kernel_range = [](const capture::Header& header) {
    return fmt::format("{:#x}:{:#x}", header.kernel_range.first.raw, header.kernel_range.last.raw);
  };
  Settings settings;
  settings.add("freq", before.freq_hz, after.freq_hz);
  settings.add("period", before.period_insns, after.period_insns);
  settings.add("jitter", std::to_string(before.jitter_percent), std::to_string(after.jitter_percent));
  settings.add("kernel", kernel_range(before), kernel_range(after));
  settings.add("max_frames", before.max_frames, after.max_frames);
  settings.add("max_stack_bytes", before.max_stack_bytes, after.max_stack_bytes);
  settings.add("trace", before.trace_address ? "on" : "off", after.trace_address ? "on" : "off");
  return settings;
}

void warn_of_losses(const CaptureProfile& profile, Messages& messages) {
  const auto& summary = profile.input.summary;
  if (summary.trailer && summary.trailer->reason == capture::EndReason::kWriteError)
    messages.push_back(
        {Severity::kWarning, fmt::format("{}: the capture is incomplete: writing it failed while the guest ran on "
                                         "(disk full?)",
                                         profile.input.path)});
  if (!summary.last_ledger) return;
  const Totals totals = sum(*summary.last_ledger);
  const uint64_t dropped = profile::saturating_add(totals.dropped_queue_full, totals.dropped_writer);
  if (dropped != 0)
    messages.push_back(
        {Severity::kWarning, fmt::format("{} samples were dropped while recording ({} queue full, {} not written): a "
                                         "larger queue= or a lower rate keeps them",
                                         dropped, totals.dropped_queue_full, totals.dropped_writer)});
  if (summary.last_ledger->blocks_without_slot != 0)
    messages.push_back({Severity::kWarning, fmt::format("{} blocks were not counted: the recorder's block table was full",
                                                        summary.last_ledger->blocks_without_slot)});
}

/// A kernel range of the user's is another reason for stacks that are missing.
std::string describe_narrow_range(const CaptureInput& input) {
  if (input.legacy || input.summary.header.kernel_range == guest::kDefaultKernelRange) return {};
  const GuestRange range = input.summary.header.kernel_range;
  return fmt::format(". It was recorded with kernel={:#x}:{:#x}: stacks in the lower half of the addresses count only inside, so they "
                     "may be missing for that, too",
                     range.first.raw, range.last.raw);
}

/// Ticks beyond the first of a sample fell due while the vCPU executed no block.
void warn_of_late_ticks(const CaptureProfile& profile, Messages& messages) {
  constexpr uint64_t kTellingSamples = 200;
  const Tally& tally = profile.tally;
  if (weight_unit(profile.input) != WeightUnit::kTicks || tally.samples < kTellingSamples) return;
  const uint64_t late = tally.weight - std::min(tally.weight, tally.samples);
  if (late <= tally.weight / 4) return;
  messages.push_back(
      {Severity::kWarning, fmt::format("{} of the kernel's ticks came late: the host did not run the vCPUs all the time, or QEMU was busy between "
                                       "two blocks. Such time lies where a vCPU went on, often in its trap entry: trust inclusive weights more "
                                       "than self weights, or use a quieter host, fewer vCPUs or mode=icount",
                                       share(late, tally.weight))});
}

void warn_of_stacks(const CaptureProfile& profile, Messages& messages) {
  const Tally& tally = profile.tally;
  const uint64_t without = walks(tally, StopReason::kNoFramePointer);
  if (tally.samples != 0 && without > tally.samples / 2)
    messages.push_back(
        {Severity::kWarning,
         fmt::format("no frame pointers: {} of {} walks found none, so that callers are missing and only leaves (and "
                     "callers still in the link register) are right. Distribution kernels for loongarch64 and x86_64 "
                     "keep no frame pointers; build the kernel with them (-fno-omit-frame-pointer) to get stacks{}",
                     without, tally.samples, describe_narrow_range(profile.input))});
  if (const uint64_t truncated = truncated_walks(tally); truncated != 0)
    messages.push_back(
        {Severity::kWarning, fmt::format("{} of {} walks are truncated: their roots are missing (max_frames= and "
                                         "max_stack_bytes= set the bounds)",
                                         truncated, tally.samples)});
  if (tally.unknown_addresses > tally.addresses / 100)
    messages.push_back(
        {Severity::kWarning, fmt::format("{} of the addresses have no name", share(tally.unknown_addresses, tally.addresses))});
}

}  // namespace

std::string headline(const CaptureInput& input) {
  const std::string path = printable(input.path);
  if (input.legacy) return fmt::format("{}: {}", path, describe_mode(input));
  const capture::Header& header = input.summary.header;
  std::string head = fmt::format("{}: {}, {}, {} vCPU{}", path, guest::info(header.target).name, describe_mode(input),
                                 header.vcpus, header.vcpus == 1 ? "" : "s");
  if (input.summary.trailer) head += fmt::format(", {:.3f} s", static_cast<double>(input.summary.trailer->end_wall_ns) / 1e9);
  return head;
}

std::string selection_line(const CaptureProfile& profile) {
  const Tally& tally = profile.tally;
  const auto unit = weight_unit(profile.input);
  const bool exact = unit == WeightUnit::kInstructions;
  std::string selected =
      fmt::format("selected: {} of {} {}", tally.samples, tally.samples_in_file, exact ? "block counts" : "samples");
  if (unit != WeightUnit::kSamples)
    selected += fmt::format(", {} of {} {}", tally.weight, tally.weight_in_file, unit_name(unit));
  return selected + fmt::format("; {} distinct {}", tally.distinct_stacks, exact ? "functions" : "stacks");
}

capture::Ticks sum_of_ticks(const capture::Ledger& ledger, const profile::VcpuSet& vcpus) {
  capture::Ticks sum;
  for (const auto& vcpu : ledger.vcpus) {
    if (!vcpus.contains(vcpu.vcpu)) continue;
    sum.issued += vcpu.ticks.issued;
    sum.kernel += vcpu.ticks.kernel;
    sum.user += vcpu.ticks.user;
    sum.idle += vcpu.ticks.idle;
    sum.other_privileged += vcpu.ticks.other_privileged;
    sum.lost += vcpu.ticks.lost;
    sum.unknown_idle += vcpu.ticks.unknown_idle;
  }
  return sum;
}

std::vector<std::string> report_lines(const CaptureProfile& profile) {
  const CaptureInput& input = profile.input;
  const Tally& tally = profile.tally;
  const capture::Header& header = input.summary.header;
  const auto unit = weight_unit(input);
  const bool exact = unit == WeightUnit::kInstructions;
  std::vector<std::string> lines{headline(input), selection_line(profile)};
  if (tally.bad_records != 0) lines.push_back(fmt::format("not counted: {} records without an address", tally.bad_records));
  if (input.summary.last_ledger) {
    const Totals totals = sum(*input.summary.last_ledger);
    if (unit == WeightUnit::kTicks) lines.push_back(describe_ticks(totals.ticks, header.idle_known));
    if (!exact)
      lines.push_back(fmt::format("dropped while recording: {} samples (queue full {}, not written {})",
                                  profile::saturating_add(totals.dropped_queue_full, totals.dropped_writer),
                                  totals.dropped_queue_full, totals.dropped_writer));
    if (input.summary.last_ledger->stopped_ns != 0)
      lines.push_back(
          fmt::format("sampling was stopped for {:.3f} s", static_cast<double>(input.summary.last_ledger->stopped_ns) / 1e9));
  }
  if (!exact)
    lines.push_back(
        fmt::format("walks: {} truncated, {} root-dropped, {} ended at an interrupt frame, {} without frame pointer; {} "
                    "callers restored from the link register",
                    truncated_walks(tally), tally.walks_with_dropped_roots, walks(tally, StopReason::kInterruptFrame),
                    walks(tally, StopReason::kNoFramePointer), tally.walks_with_restored_caller));
  lines.push_back(fmt::format("addresses: {} distinct; unknown {}, in modules {}", tally.distinct_addresses,
                              share(tally.unknown_addresses, tally.addresses), share(tally.module_addresses, tally.addresses)));
  return lines;
}

Messages weaknesses(const CaptureProfile& profile) {
  Messages messages;
  if (!profile.input.legacy) {
    if (auto damage = damage_in(profile.input.path, profile.input.summary.integrity)) messages.push_back(*std::move(damage));
  }
  warn_of_losses(profile, messages);
  warn_of_late_ticks(profile, messages);
  warn_of_stacks(profile, messages);
  if (profile.tally.samples == 0)
    messages.push_back({Severity::kWarning, profile.tally.samples_in_file == 0
                                                ? fmt::format("{}: the capture has no samples", profile.input.path)
                                                : fmt::format("{}: the selection is empty: none of {} samples is in it",
                                                              profile.input.path, profile.tally.samples_in_file)});
  return messages;
}

std::optional<Message> damage_in(const std::string& path, const capture::Integrity& integrity) {
  if (integrity.whole()) return std::nullopt;
  std::string text = fmt::format("{}: the capture is incomplete", path);
  if (!integrity.finished) text += ", it was never finished (was QEMU killed, or the disk full?)";
  if (integrity.cut) text += ", it ends inside a chunk";
  if (integrity.damaged_chunks != 0) text += fmt::format(", {} damaged chunks", integrity.damaged_chunks);
  if (integrity.missing_chunks != 0) text += fmt::format(", {} missing chunks", integrity.missing_chunks);
  if (integrity.skipped_bytes != 0) text += fmt::format(", {} bytes that belong to no chunk", integrity.skipped_bytes);
  if (!integrity.first_damage.empty()) text += fmt::format(" (first: {})", printable(integrity.first_damage));
  return Message{Severity::kWarning, text + "; what is whole is shown"};
}

Messages differences_between(const CaptureInput& before, const CaptureInput& after) {
  Messages messages;
  if (before.legacy || after.legacy) return messages;
  const capture::Header& old_header = before.summary.header;
  const capture::Header& new_header = after.summary.header;
  if (old_header.target != new_header.target)
    messages.push_back(
        {Severity::kWarning, fmt::format("different machines are compared: {} before, {} after",
                                         guest::info(old_header.target).name, guest::info(new_header.target).name)});
  if (old_header.vcpus != new_header.vcpus)
    messages.push_back({Severity::kWarning, fmt::format("different numbers of vCPUs are compared: {} before, {} after",
                                                        old_header.vcpus, new_header.vcpus)});
  if (const Settings settings = different_settings(old_header, new_header); !settings.before.empty())
    messages.push_back({Severity::kWarning, fmt::format("the captures were made with different settings: {} before, {} after",
                                                        settings.before, settings.after)});
  return messages;
}

}  // namespace qperf::analysis
