#include <cstdio>
#include <string>

#include "capture/reader.h"
#include "sched/replay.h"
#include "sched/survey.h"

/// sched_intervals CAPTURE: every interval of the analysis as a line of JSON, in order of their ends. Tests compare single
/// waits with what a guest says about them; the analyzer's own output has sums only.
namespace qperf::sched {
namespace {

constexpr const char* kStates[] = {"unknown", "running", "blocked", "runnable", "exited"};
constexpr const char* kEnds[] = {"other", "preempted", "yielded", "blocked", "exit", "wake", "run", "requeue", "unfinished"};

class Printer final : public IntervalSink {
 public:
  explicit Printer(const Replay& replay) : replay_(replay) {}

  void interval(const Interval& one) override {
    std::printf("{\"task\": %llu, \"state\": \"%s\", \"ended_by\": \"%s\", \"certain\": %s, \"from_ns\": %llu, \"to_ns\": %llu, ",
                number(replay_.tasks()[one.task].id.raw), kStates[static_cast<size_t>(one.state)],
                kEnds[static_cast<size_t>(one.ended_by)], one.certain ? "true" : "false", number(one.from_ns), number(one.to_ns));
    std::printf("\"reason\": %llu, \"from_wake\": %s, \"enqueue\": %llu, \"since_ns\": %llu}\n", number(one.has_block ? one.reason : 0),
                one.from_wake ? "true" : "false", number(one.has_enqueue ? one.enqueue.reason : 0), number(one.runnable_since_ns));
  }
  void halted(VcpuIndex, WallNs, WallNs) override {}
  void unknown_task(VcpuIndex, WallNs, WallNs) override {}
  void enqueued(VcpuIndex, WallNs, const Enqueue&) override {}

 private:
  static unsigned long long number(uint64_t value) { return value; }

  const Replay& replay_;
};

template <typename OnChunk>
Result<void> read(const std::string& path, OnChunk on_chunk) {
  capture::Handlers handlers;
  handlers.events = [&](const capture::EventChunk& chunk) -> Result<void> {
    on_chunk(chunk);
    return {};
  };
  QPERF_ASSIGN_OR_RETURN(const auto summary, capture::read_capture(path, handlers));
  if (summary.integrity.whole()) return {};
  return Error{ErrorCode::kBadFormat, path + ": not whole: " + summary.integrity.first_damage};
}

Result<void> print_intervals(const std::string& path) {
  Survey survey;
  QPERF_RETURN_IF_ERROR(read(path, [&](const auto& chunk) { survey.chunk(chunk); }));
  survey.finish(0);
  const Window window;
  Replay replay(survey, window, WakerSide::kLeaveOut);
  Printer printer(replay);
  replay.set_listener(&printer);
  QPERF_RETURN_IF_ERROR(read(path, [&](const auto& chunk) { replay.chunk(chunk); }));
  replay.finish();
  return {};
}

}  // namespace
}  // namespace qperf::sched

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sched_intervals CAPTURE\n", stderr);
    return 2;
  }
  const auto result = qperf::sched::print_intervals(argv[1]);
  if (result) return 0;
  std::fprintf(stderr, "sched_intervals: %s\n", result.error().message.c_str());
  return 1;
}
