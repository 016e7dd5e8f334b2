#include "timeline/device_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "qemutrace/source.h"
#include "timeline/stage_spans.h"
#include "timeline/wait_sums.h"

namespace qperf::timeline {
namespace {

using qemutrace::Stage;

std::string trace_folder() {
  const char* data = std::getenv("QPERF_TEST_DATA");
  return data == nullptr || *data == '\0' ? std::string() : std::string(data) + "/qemu-traces/";
}

Result<qemutrace::Trace> open_real(const std::string& name) {
  qemutrace::OpenOptions how;
  how.events_path = trace_folder() + "trace-events-all";
  return qemutrace::open_trace(trace_folder() + name, how);
}

/// A capture of the run, from its first record on: both clocks ran alike.
capture::Summary run_of(uint64_t start_monotonic_ns, uint64_t start_realtime_ns) {
  capture::Summary summary;
  summary.header.start_monotonic_ns = start_monotonic_ns;
  summary.header.start_realtime_ns = start_realtime_ns;
  summary.trailer.emplace();
  summary.trailer->end_wall_ns = 60'000'000'000;
  summary.trailer->end_realtime_ns = start_realtime_ns + summary.trailer->end_wall_ns;
  return summary;
}

/// A run that QEMU's simple and log back ends recorded together: line n is record n.
class RealRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (trace_folder().empty()) GTEST_SKIP() << "QPERF_TEST_DATA is not set";
    auto records = open_real("x86_64-linux-virtioblk.trace");
    auto lines = open_real("x86_64-linux-virtioblk.log");
    ASSERT_TRUE(records.ok() && lines.ok());
    qemutrace::Event record;
    qemutrace::Event line;
    uint64_t first_ns = 0;
    uint64_t offset_ns = ~uint64_t{0};
    while (records->source->next(record) && lines->source->next(line)) {
      if (first_ns == 0) first_ns = record.time_ns;
      offset_ns = std::min(offset_ns, line.time_ns - record.time_ns);  // a line's stamp is taken behind the record's
    }
    capture_ = run_of(first_ns, first_ns + offset_ns);
  }

  DeviceTrace read(const std::string& name) {
    auto opened = open_real(name);
    return *read_device_trace(*opened->source, nullptr, capture_);
  }

  capture::Summary capture_;
};

TEST_F(RealRun, HasTheSameRequestsThroughEitherClock) {
  const DeviceTrace simple = read("x86_64-linux-virtioblk.trace");
  const DeviceTrace log = read("x86_64-linux-virtioblk.log");
  EXPECT_EQ(simple.clock.residual_ns(), 0U);
  EXPECT_FALSE(simple.report.incomplete());
  ASSERT_EQ(simple.requests.size(), 148U);
  ASSERT_EQ(log.requests.size(), 148U);
  int64_t worst_ns = 0;
  for (size_t i = 0; i < simple.requests.size(); ++i) {
    const PlacedRequest& a = simple.requests[i];
    const PlacedRequest& b = log.requests[i];
    EXPECT_EQ(a.request.sector, b.request.sector);
    EXPECT_EQ(simple.queue_name(a.request), log.queue_name(b.request));
    for (size_t stage = 0; stage < qemutrace::kStages; ++stage) {
      ASSERT_EQ(a.at_ns[stage].has_value(), b.at_ns[stage].has_value());
      if (!a.at_ns[stage]) continue;
      const int64_t later_ns = *b.at_ns[stage] - *a.at_ns[stage];
      EXPECT_GE(later_ns, -1);  // rounding of the map
      worst_ns = std::max(worst_ns, later_ns);
    }
  }
  EXPECT_LT(worst_ns, 100'000) << "wait_split.cpp's slack for log stamps";
}

TEST_F(RealRun, FillsEachRequestWithItsStages) {
  for (const PlacedRequest& request : read("x86_64-linux-virtioblk.trace").requests) {
    const RequestSpan whole = span_of(request);
    int64_t at = whole.from_ns;
    for (const StageSpan& stage : stage_spans(request)) {
      EXPECT_EQ(stage.from_ns, at);
      EXPECT_LT(stage.from_ns, stage.to_ns);
      at = stage.to_ns;
    }
    EXPECT_EQ(at, whole.to_ns);
  }
}

TEST_F(RealRun, WithoutEventsOfTheGuestNobodyIsKnownToWait) {
  const TracedWaits traced = match_waits(read("x86_64-linux-virtioblk.trace"), nullptr, capture_);
  EXPECT_FALSE(traced.has_waits());
  EXPECT_TRUE(traced.split.waits.empty());
  EXPECT_EQ(traced.split.unmatched_requests + traced.split.outside_requests, 148U);
}

TEST_F(RealRun, FindsTheRequestsOfWaitsMadeFromThem) {
  DeviceTrace trace = read("x86_64-linux-virtioblk.trace");
  auto waits = std::make_unique<DiskWaits>();
  for (const PlacedRequest& request : trace.requests) {
    if (!request.request.is_transfer || request.popped_ns() < 1000) continue;
    DiskWait wait;
    wait.is_write = request.request.is_write;
    wait.detail = request.request.sector;
    wait.announced_ns = wait.from_ns = static_cast<WallNs>(request.popped_ns()) - 500;
    wait.woken_ns = static_cast<WallNs>(request.told_ns()) + 300;
    wait.run_ns = wait.woken_ns + 200;
    waits->waits.push_back(wait);
  }
  const size_t made = waits->waits.size();
  ASSERT_GT(made, 100U);
  std::ranges::stable_sort(waits->waits, {}, &DiskWait::woken_ns);
  const TracedWaits traced = match_waits(std::move(trace), std::move(waits), capture_);
  EXPECT_EQ(traced.split.waits.size(), made);
  WaitSums sums;
  WaitTrust trust;
  for (const SplitWait& split : traced.split.waits) {
    EXPECT_EQ(split.wait->detail, split.request->request.sector);
    sums.add(split);
    trust.add(split);
  }
  EXPECT_EQ(trust.by_sector, made);
  EXPECT_EQ(trust.contradictions, 0U);
  double blocked = 0;
  for (size_t part = 0; part + 1 < kWaitParts; ++part) blocked += sums.parts[part].total();
  EXPECT_EQ(blocked, sums.blocked.total());
  EXPECT_EQ(blocked + sums.parts[kWaitParts - 1].total(), sums.total.total());
  EXPECT_EQ(sums.parts[static_cast<size_t>(WaitPart::kQueueing)].total(), 500.0 * static_cast<double>(made));
  EXPECT_EQ(sums.parts[static_cast<size_t>(WaitPart::kInterrupt)].total(), 300.0 * static_cast<double>(made));
}

/// What a loss weakens is said by the trace itself.
TEST(DeviceTrace, TellsOfRecordsThatWereDropped) {
  if (trace_folder().empty()) GTEST_SKIP() << "QPERF_TEST_DATA is not set";
  auto opened = open_real("riscv64-dropped.trace");
  ASSERT_TRUE(opened.ok());
  const auto trace = read_device_trace(*opened->source, nullptr, run_of(1, 1));
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->report.incomplete());
  EXPECT_EQ(trace->report.lost_events, 58709U);
}

TEST(StageSpans, KeepsOrderWhereStampsOfThreadsAreSwapped) {
  PlacedRequest request;
  request.at_ns[static_cast<size_t>(Stage::kPop)] = 100;
  request.at_ns[static_cast<size_t>(Stage::kSubmit)] = 300;
  request.at_ns[static_cast<size_t>(Stage::kHostDone)] = 290;
  request.at_ns[static_cast<size_t>(Stage::kFill)] = 400;
  const auto spans = stage_spans(request);
  ASSERT_EQ(spans.size(), 2U);  // nothing is left of the host's
  EXPECT_EQ(spans[0].from, Stage::kPop);
  EXPECT_EQ(spans[0].to_ns, 300);
  EXPECT_EQ(spans[1].from, Stage::kHostDone);
  EXPECT_EQ(spans[1].from_ns, 300);
  EXPECT_EQ(spans[1].to_ns, 400);
}

TEST(StageSpans, OfARequestWithOneStampAreNone) {
  PlacedRequest request;
  EXPECT_TRUE(stage_spans(request).empty());
  request.at_ns[static_cast<size_t>(Stage::kPop)] = 100;
  EXPECT_TRUE(stage_spans(request).empty());
  EXPECT_EQ(span_of(request).from_ns, 100);
  EXPECT_EQ(span_of(request).to_ns, 100);
}

}  // namespace
}  // namespace qperf::timeline
