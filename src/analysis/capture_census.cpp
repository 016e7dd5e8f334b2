#include "analysis/capture_census.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "analysis/capture_input.h"
#include "capture/legacy.h"
#include "profile/ids.h"
#include "sched/survey.h"

namespace qperf::analysis {
namespace {

using profile::saturating_add;
using profile::saturating_multiply;

void add_samples(CaptureCensus& census, const capture::SampleChunk& chunk) {
  ++census.chunks.samples;
  const auto [entry, added] = census.stored.try_emplace(chunk.vcpu);
  CaptureCensus::Stored& stored = entry->second;
  if (added && !chunk.samples.empty()) stored.first_wall_ns = chunk.samples.front().wall_ns;
  for (const capture::Sample& sample : chunk.samples) {
    ++stored.samples;
    stored.weight = saturating_add(stored.weight, sample.weight);
    stored.last_wall_ns = sample.wall_ns;
  }
}

capture::Handlers handlers_for(CaptureCensus& census, sched::Survey& survey) {
  capture::Handlers handlers;
  handlers.samples = [&](const capture::SampleChunk& chunk) -> Result<void> {
    add_samples(census, chunk);
    for (const capture::Sample& sample : chunk.samples) survey.sample(chunk.vcpu, sample.wall_ns, sample.insns);
    return {};
  };
  handlers.events = [&](const capture::EventChunk& chunk) -> Result<void> {
    ++census.chunks.events;
    survey.chunk(chunk);
    return {};
  };
  handlers.counts = [&](std::span<const capture::BlockCount> counts) -> Result<void> {
    ++census.chunks.counts;
    census.counted_blocks += counts.size();
    for (const auto& count : counts)
      census.counted_insns =
          saturating_add(census.counted_insns, saturating_multiply(count.executions, count.block_insns));
    return {};
  };
  handlers.fingerprints = [&](std::span<const capture::Fingerprint> fingerprints) -> Result<void> {
    ++census.chunks.fingerprints;
    census.fingerprints += fingerprints.size();
    return {};
  };
  handlers.ledger = [&](const capture::Ledger&) -> Result<void> {
    ++census.chunks.ledgers;
    return {};
  };
  return handlers;
}

Result<void> read_legacy(CaptureCensus& census) {
  const auto on_sample = [&](VcpuIndex vcpu, std::span<const GuestVa>) -> Result<void> {
    ++census.stored[vcpu].samples;
    return {};
  };
  QPERF_ASSIGN_OR_RETURN(const auto summary, capture::read_legacy_capture(census.path, on_sample));
  census.legacy_cut = summary.cut;
  return {};
}

Result<void> read_present(CaptureCensus& census) {
  sched::Survey survey;
  QPERF_ASSIGN_OR_RETURN(census.summary, capture::read_capture(census.path, handlers_for(census, survey)));
  survey.finish(census.summary.header.vcpus);
  census.events = survey.counts();
  census.event_drops = survey.drops_by_vcpu();
  census.missing_events = survey.missing_events();
  census.phases = survey.phases().all();
  return {};
}

}  // namespace

bool CaptureCensus::whole() const noexcept {
  if (legacy) return !legacy_cut;
  const bool failed = summary.trailer && summary.trailer->reason == capture::EndReason::kWriteError;
  return summary.integrity.whole() && !failed;
}

Result<CaptureCensus> take_census(const std::string& path) {
  CaptureCensus census;
  census.path = path;
  QPERF_ASSIGN_OR_RETURN(census.legacy, is_legacy_file(path));
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (!unknown) census.file_bytes = bytes;
  QPERF_RETURN_IF_ERROR(census.legacy ? read_legacy(census) : read_present(census));
  for (const auto& [vcpu, stored] : census.stored) {
    census.samples = saturating_add(census.samples, stored.samples);
    census.weight = saturating_add(census.weight, stored.weight);
  }
  return census;
}

}  // namespace qperf::analysis
