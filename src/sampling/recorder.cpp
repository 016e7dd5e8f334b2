#include "sampling/recorder.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/printable.h"
#include "guest/trace_events.h"
#include "sampling/clock.h"
#include "sampling/worker_thread.h"

namespace qperf::sampling {
namespace {

constexpr uint64_t kFlushNs = 900'000'000;  // with the longest interval still below a second
constexpr int kShortestIntervalMs = 1;
constexpr int kLongestIntervalMs = 80;

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure);
  return failure ? path : absolute.lexically_normal().string();
}

/// Takes every byte.
class NullSink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte>) override { return {}; }
};

/// Finds out whether the header can be written at all, before any file is touched.
Result<void> try_header(const capture::Header& header) {
  NullSink sink;
  return capture::Writer(sink).begin(header);
}

}  // namespace

Recorder::Recorder(Sampler& sampler, Ticker& ticker, Report report)
    : sampler_(sampler), ticker_(ticker), report_(std::move(report)), written_(sampler.max_vcpus()) {
  for (uint32_t i = 0; i < sampler.max_vcpus(); ++i) builders_.emplace_back(VcpuIndex{i});
}

Recorder::~Recorder() {
  finish();
  if (wake_fd_ >= 0) ::close(wake_fd_);
}

Result<void> Recorder::open(const capture::Header& header) {
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return Error{ErrorCode::kIo, std::string("eventfd: ") + std::strerror(errno)};
  if (sampler_.tracer().active())
    for (uint32_t i = 0; i < sampler_.max_vcpus(); ++i) event_builders_.emplace_back(VcpuIndex{i});
  if (sampler_.options().mode == guest::Mode::kExact) executions_written_.resize(sampler_.blocks().capacity());
  QPERF_RETURN_IF_ERROR(try_header(header));
  QPERF_RETURN_IF_ERROR(file_.open(sampler_.options().out_path));
  if (!sampler_.options().control_path.empty()) {
    QPERF_RETURN_IF_ERROR(control_.listen(sampler_.options().control_path));
    set_enabled(false);
  }
  header_ = header;
  writer_ = std::make_unique<capture::Writer>(file_);
  return {};
}

Result<void> Recorder::begin() {
  // Relaxed: a phase that is over is over, and a stale one is looked at again under the mutex.
  if (phase_.load(std::memory_order_relaxed) != Phase::kReady) return {};
  const std::lock_guard lock(phase_mutex_);
  if (phase_.load(std::memory_order_relaxed) != Phase::kReady) return {};
  QPERF_RETURN_IF_ERROR(file_.empty());
  QPERF_RETURN_IF_ERROR(writer_->begin(header_));
  phase_.store(Phase::kRecording, std::memory_order_release);  // pairs with the acquire in recording()
  return {};
}

bool Recorder::recording() const noexcept {
  // Pairs with the release in begin(): the header is written, the writer is ours.
  return phase_.load(std::memory_order_acquire) == Phase::kRecording;
}

void Recorder::start() {
  thread_ = start_worker("qperf-writer", [this] { run(); });
}

void Recorder::finish() {
  wake_to_finish();
  if (thread_.joinable()) thread_.join();
}

void Recorder::abandon(const std::string& why) {
  abandoned_ = why;
  wake_to_finish();
}

void Recorder::wake_to_finish() {
  finishing_.store(true, std::memory_order_release);  // pairs with the acquire in run()
  if (wake_fd_ < 0) return;
  const uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_fd_, &one, sizeof one);  // a full counter wakes as well
}

void Recorder::run() {
  while (!finishing_.load(std::memory_order_acquire) && !ended_) {
    control_.wait(wake_fd_, interval_ms_, [this](std::string_view line) { return command(line); });
    if (ended_) break;
    drain();
    if (now() - last_flush_ns_ >= kFlushNs) flush();
    if (!failure_.empty()) end(capture::EndReason::kWriteError);
  }
  if (!ended_) end(capture::EndReason::kExit);
  control_.close();
}

std::string Recorder::command(std::string_view line) {
  if (ended_) return "err: the capture has ended";
  if (line == "start" || line == "stop") {
    set_enabled(line == "start");
    return enabled_ ? "ok: started" : "ok: stopped";
  }
  if (line == "status") {
    const auto ledger = make_ledger(sampler_, written_, Moment::kRunning, now(), stopped_ns());
    return fmt::format("ok: {}, {}{}", enabled_ ? "started" : "stopped", describe(ledger, sampler_.options().mode, idle_known()),
                       event_builders_.empty() ? "" : ", " + describe_events(ledger));
  }
  if (line == "file" && !recording()) return "err: the guest has not started yet, the capture is not there";
  if (line == "file") return "ok: " + absolute_path(sampler_.options().out_path);
  if (line == "exit" || line == "quit") {
    end(capture::EndReason::kControlQuit);
    return failure_.empty() ? "ok: finished" : "err: " + failure_;
  }
  return "err: unknown command: " + printable(line.substr(0, 80)) + " (start, stop, status, file, exit and quit are known)";
}

void Recorder::set_enabled(bool enabled) {
  if (enabled == enabled_) return;
  // What was executed so far belongs to the time before the change.
  ticker_.catch_up();
  drain();
  if (sampler_.options().mode == guest::Mode::kExact && recording()) write_counts();
  if (sampler_.options().mode != guest::Mode::kExact) note_insns_at_switch(enabled);
  if (enabled) stopped_before_ns_ += now() - stopped_since_ns_;
  if (!enabled) stopped_since_ns_ = now();
  enabled_ = enabled;
  sampler_.set_enabled(enabled);
}

void Recorder::note_insns_at_switch(bool enabled) {
  for (uint32_t i = 0; i < sampler_.max_vcpus(); ++i) {
    const Insns insns = sampler_.kernel_insns(VcpuIndex{i});
    WrittenCounts& written = written_[i];
    if (enabled) written.insns_while_off += insns - written.insns_at_stop.value_or(insns);
    written.insns_at_stop = enabled ? std::nullopt : std::optional(insns);
  }
}

void Recorder::drain() {
  if (phase_.load(std::memory_order_acquire) == Phase::kReady) return;  // see recording()
  for (uint32_t i = 0; i < sampler_.max_vcpus(); ++i) {
    drain_vcpu(i);
    if (!event_builders_.empty()) drain_events(i);
  }
  write_fingerprints();
}

void Recorder::drain_vcpu(uint32_t index) {
  auto& ring = sampler_.vcpu(VcpuIndex{index}).samples;
  const size_t capacity = ring.capacity();
  size_t drained = 0;
  // At most one queue's worth, so that a fast vCPU does not keep the others waiting.
  for (const std::byte* memory = nullptr; drained < capacity && (memory = ring.front()) != nullptr; ++drained) {
    builders_[index].add(*reinterpret_cast<const SampleSlot*>(memory));
    ring.pop();
    if (builders_[index].is_large()) write_samples(builders_[index]);
  }
  adapt_interval(drained, capacity, index == 0);
}

void Recorder::adapt_interval(size_t drained, size_t capacity, bool may_slow) {
  // Look more often while any queue fills up, more seldom while all stay nearly empty.
  if (drained > capacity / 4) interval_ms_ = std::max(kShortestIntervalMs, interval_ms_ / 2);
  if (drained <= capacity / 32 && may_slow) interval_ms_ = std::min(kLongestIntervalMs, interval_ms_ + 1);
}

void Recorder::drain_events(uint32_t index) {
  auto& queue = sampler_.tracer().queue(VcpuIndex{index});
  EventChunkBuilder& builder = event_builders_[index];
  size_t drained = 0;
  for (const EventSlot* slot = nullptr; drained < queue.capacity() && (slot = queue.front()) != nullptr; ++drained) {
    builder.add(*slot);
    queue.pop();
    if (builder.is_large()) write_events(builder);
  }
  adapt_interval(drained, queue.capacity(), false);
}

void Recorder::write_events(EventChunkBuilder& builder) {
  if (builder.empty()) return;
  if (failure_.empty()) check(writer_->events(builder.chunk()));
  auto& written = written_[builder.chunk().vcpu.raw];
  auto& counts = failure_.empty() ? written.events_stored : written.events_dropped;
  for (const auto& event : builder.chunk().events) ++counts[static_cast<size_t>(capture::event_class(event.type, event.kind))];
  builder.clear();
}

/// What the user must know about the trace marker, at the end.
void Recorder::report_trace(const capture::Ledger& ledger) {
  if (event_builders_.empty()) return;
  if (!sampler_.tracer().ever_executed())
    report_(fmt::format("qperf: trace={:#x}: never executed; give the address of the first instruction of {} in the kernel that runs "
                        "(of a slid kernel, the slid one)",
                        sampler_.options().trace_address->raw, guest::kTraceMarkerSymbol));
  report_("QPerf trace: " + describe_events(ledger));
}

void Recorder::write_samples(ChunkBuilder& builder) {
  if (builder.empty()) return;
  const auto& chunk = builder.chunk();
  auto& written = written_[chunk.vcpu.raw];
  if (failure_.empty()) check(writer_->samples(chunk));
  if (failure_.empty()) {
    written.stored += chunk.samples.size();
    for (const auto& sample : chunk.samples) {
      written.weight_stored += sample.weight;
      ++written.walks_by_stop[static_cast<size_t>(chunk.sites[sample.site].stop)];
    }
  } else {
    written.dropped += chunk.samples.size();
  }
  builder.clear();
}

Insns Recorder::add_executions(VcpuIndex vcpu) {
  Insns insns = 0;
  const auto counters = sampler_.words().executions(vcpu);
  for (size_t block = 0; block < counters.size(); ++block) {
    // Relaxed: generated code adds to it; any recent value will do, the next flush has the rest.
    const uint64_t count = std::atomic_ref(counters[block]).load(std::memory_order_relaxed);
    if (count == 0) continue;
    executions_[block] += count;
    insns += count * sampler_.blocks().at(static_cast<uint32_t>(block)).insns;
  }
  return insns;
}

void Recorder::write_counts() {
  executions_.assign(executions_written_.size(), 0);
  std::vector<Insns> insns(sampler_.max_vcpus());
  for (uint32_t i = 0; i < sampler_.max_vcpus(); ++i) {
    if (!sampler_.vcpu(VcpuIndex{i}).ever_online.load(std::memory_order_acquire)) continue;  // pairs with vcpu_online()
    sampler_.words().while_still([&] { insns[i] = add_executions(VcpuIndex{i}); });
  }
  std::vector<capture::BlockCount> changed;
  for (size_t block = 0; block < executions_.size(); ++block) {
    if (executions_[block] == executions_written_[block]) continue;
    const Block& entry = sampler_.blocks().at(static_cast<uint32_t>(block));
    // Relaxed: both are final since the block was translated.
    changed.push_back({.pc = GuestVa{entry.pc.load(std::memory_order_relaxed)},
                       .block_insns = entry.insns.load(std::memory_order_relaxed),
                       .executions = executions_[block] - executions_written_[block]});
  }
  executions_written_ = executions_;
  if (enabled_ && !changed.empty() && failure_.empty()) check(writer_->counts(changed));
  insns_seen_.resize(insns.size());
  if (enabled_ && failure_.empty())
    for (size_t i = 0; i < insns.size(); ++i) written_[i].exact_insns += insns[i] - insns_seen_[i];
  insns_seen_ = std::move(insns);
}

void Recorder::write_fingerprints() {
  std::vector<capture::Fingerprint> fingerprints;
  FingerprintQueue::Item item;
  while (fingerprints.size() < FingerprintQueue::kCapacity && sampler_.fingerprints().pop(item))
    fingerprints.push_back({.wall_ns = item.wall_ns,
                            .address = item.address,
                            .bytes = {item.bytes.begin(), item.bytes.begin() + item.size_bytes}});
  if (!fingerprints.empty() && failure_.empty()) check(writer_->fingerprints(fingerprints));
}

void Recorder::flush() {
  if (!recording()) return;
  last_flush_ns_ = now();
  for (auto& builder : builders_) write_samples(builder);
  for (auto& builder : event_builders_) write_events(builder);
  if (sampler_.options().mode == guest::Mode::kExact) write_counts();
  if (idle_unknown_.load(std::memory_order_relaxed) && !idle_unknown_written_ && failure_.empty()) {
    idle_unknown_written_ = true;
    check(writer_->metadata({{"sampling.idle_known", false}}));
  }
  if (failure_.empty())
    check(writer_->ledger(make_ledger(sampler_, written_, Moment::kRunning, now(), stopped_ns())));
}

void Recorder::end(capture::EndReason reason) {
  ticker_.stop();
  sampler_.quiesce();
  Phase before = Phase::kReady;
  {
    const std::lock_guard lock(phase_mutex_);
    before = phase_.exchange(Phase::kEnded, std::memory_order_relaxed);  // changes only under the mutex
  }
  if (before == Phase::kReady) return end_unused();
  drain();
  for (auto& builder : builders_) write_samples(builder);
  for (auto& builder : event_builders_) {
    builder.add_trailing(sampler_.tracer().queue(builder.chunk().vcpu).trailing_loss());
    write_events(builder);
  }
  if (sampler_.options().mode == guest::Mode::kExact) write_counts();
  capture::Trailer trailer{.reason = reason,
                           .end_wall_ns = now(),
                           .end_realtime_ns = clock_ns(CLOCK_REALTIME),
                           .ledger = make_ledger(sampler_, written_, Moment::kEnd, now(), stopped_ns())};
  if (failure_.empty()) check(writer_->finish(trailer));
  if (!failure_.empty()) finish_what_is_whole(trailer);
  check(file_.close());
  ended_ = true;
  report_trace(trailer.ledger);
  const char* const outcome = !failure_.empty()     ? "INCOMPLETE (it could not be written)"
                              : !abandoned_.empty() ? "INCOMPLETE (a vCPU cannot be profiled)"
                                                    : "complete";
  report_(fmt::format("QPerf capture {}: {}: {}", outcome, printable(sampler_.options().out_path),
                      describe(trailer.ledger, sampler_.options().mode, idle_known())));
}

void Recorder::finish_what_is_whole(capture::Trailer trailer) {
  trailer.reason = capture::EndReason::kWriteError;
  // A full disk holds the beginning of a chunk that is of no use: the trailer is far smaller than most.
  const uint64_t whole_bytes = writer_->bytes_written();
  if (!file_.cut(whole_bytes)) return;
  if (writer_->finish_after_cut(trailer)) return;
  [[maybe_unused]] const auto still_whole = file_.cut(whole_bytes);  // nothing is left to try
}

void Recorder::end_unused() {
  ended_ = true;
  check(file_.close());
  report_(fmt::format("QPerf capture NONE ({}): nothing was written to {}",
                      abandoned_.empty() ? "the guest has not run" : "this guest cannot be profiled",
                      printable(sampler_.options().out_path)));
}

void Recorder::check(Result<void> result) {
  if (result || !failure_.empty()) return;
  failure_ = result.error().message;
  report_("qperf: " + failure_ + "; the capture ends here, the guest goes on");
}

WallNs Recorder::now() const noexcept { return clock_ns() - sampler_.start_ns(); }

WallNs Recorder::stopped_ns() const noexcept {
  return stopped_before_ns_ + (enabled_ ? 0 : now() - stopped_since_ns_) + ticker_.standstill_ns();
}

bool Recorder::idle_known() const noexcept { return sampler_.threading() == Threading::kPerVcpu; }

}  // namespace qperf::sampling
