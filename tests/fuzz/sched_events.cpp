#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "capture/events.h"
#include "sched/replay.h"
#include "sched/report_json.h"

/// Events payloads of several vCPUs through decoder and analysis: nothing crashes, and whatever the events say the sums of
/// docs/off-cpu.md hold. First a byte of options, then chunks: vCPU, u8; number of events, u8; payload size, u16; payload.
namespace {

using namespace qperf;

constexpr uint32_t kVcpus = 4;
constexpr uint8_t kWithWakers = 1;
constexpr uint8_t kWithInsnsWindow = 2;
constexpr uint8_t kWithWindow = 4;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<capture::EventChunk> read_chunks(ByteReader& in) {
  std::vector<capture::EventChunk> chunks;
  capture::EventDecoder decoder;
  for (;;) {
    const auto vcpu = in.u8();
    const auto events = in.u8();
    const auto size = in.u16();
    if (!vcpu || !events || !size) return chunks;
    const auto payload = in.bytes(std::min<size_t>(*size, in.remaining()));
    const auto chunk = decoder.decode(*payload, VcpuIndex{*vcpu % kVcpus}, *events);
    if (chunk) chunks.push_back(**chunk);
  }
}

void require_sums(const sched::Survey& survey, const sched::Replay& replay, sched::FrameNames& names) {
  uint64_t waiting = 0;
  std::vector<uint64_t> running(survey.vcpus());
  const auto& tasks = replay.statistics().tasks();
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const sched::TaskStatistics& task = tasks[i];
    require(task.lifetime_ns == task.unknown.ns + task.running.ns + task.blocked.ns + task.runnable.ns);
    uint64_t by_reason = task.blocked.uncertain_ns;
    for (const auto& time : task.by_reason) by_reason += time.ns;
    require(by_reason == task.blocked.ns);
    if (!replay.is_idle(sched::TaskIndex{i})) waiting += task.blocked.ns + task.runnable.ns;
    for (const auto& [vcpu, ns] : task.running_by_vcpu) running.at(vcpu.raw) += ns;
  }
  uint64_t weights = 0;
  for (const auto& line : replay.off_cpu_lines(nullptr, names)) weights += line.weight_ns;
  require(weights == waiting);
  for (uint32_t i = 0; i < survey.vcpus(); ++i) {
    const sched::VcpuStatistics& vcpu = replay.statistics().vcpus()[i];
    require(vcpu.running_ns == running[i] && vcpu.running_ns + vcpu.unknown_ns == vcpu.window_ns);
    require(replay.busy_ns(VcpuIndex{i}) <= vcpu.running_ns);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in(std::as_bytes(std::span(data, size)));
  const uint8_t options = in.u8().value_or(0);
  const auto chunks = read_chunks(in);
  sched::Survey survey((options & kWithInsnsWindow) != 0 ? std::optional(sched::InsnsWindow{100, 5000}) : std::nullopt);
  for (const auto& chunk : chunks) survey.chunk(chunk);
  survey.finish(1);
  const sched::SpanSet everywhere = (options & kWithWindow) != 0 ? sched::SpanSet({{50, 900}, {2000, 1'000'000}}) : sched::SpanSet();
  const sched::Window window = survey.window(everywhere);
  sched::Replay replay(survey, window, (options & kWithWakers) != 0 ? sched::WakerSide::kAppend : sched::WakerSide::kLeaveOut);
  for (const auto& chunk : chunks) replay.chunk(chunk);
  replay.finish();
  sched::HexFrameNames names;
  require_sums(survey, replay, names);
  for (const char c : sched::report_json(survey, window, replay, nullptr, names))
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  return 0;
}
