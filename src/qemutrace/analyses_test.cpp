#include <gtest/gtest.h>

#include <set>

#include "qemutrace/leaks.h"
#include "qemutrace/locks.h"
#include "qemutrace/mmio.h"
#include "qemutrace/ordered.h"
#include "qemutrace/overlaps.h"
#include "qemutrace/requests.h"
#include "qemutrace/trace_builder.h"
#include "qemutrace/trace_script.h"

namespace qperf::qemutrace {
namespace {

using testing::Script;
using testing::TraceBuilder;
using testing::script_declarations;

TEST(Leaks, GradesWhatIsNeverFilled) {
  Script script;
  script.event("virtio_queue_notify", {0xd, 0, 0xa});
  script.event("virtqueue_pop", {0xa, 1, 0, 0}).event("virtqueue_fill", {0xa, 1, 0, 0});
  script.event("virtqueue_pop", {0xa, 1, 0, 0});  // the same address, popped again unfilled
  script.event("virtqueue_pop", {0xa, 1, 0, 0}).event("virtqueue_fill", {0xa, 1, 0, 0});
  script.event("virtqueue_pop", {0xa, 2, 0, 0});
  script.event("virtqueue_pop", {0xb, 3, 0, 0});
  script.event("virtio_set_status", {0xd, 0}).loss(4);
  script.event("virtqueue_fill", {0xa, 9, 0, 0});
  LeakFinder finder(2000);
  script.run_over(finder);
  ASSERT_EQ(finder.leaks().size(), 3U);
  EXPECT_TRUE(finder.leaks()[0].reused);
  EXPECT_FALSE(finder.leaks()[0].open_longer || finder.leaks()[0].reset_seen || finder.leaks()[0].loss_in_span);
  EXPECT_EQ(finder.leaks()[1].element, 2U);
  EXPECT_EQ(finder.leaks()[1].device, 0xdU);
  EXPECT_TRUE(finder.leaks()[1].open_longer && finder.leaks()[1].reset_seen && finder.leaks()[1].loss_in_span);
  EXPECT_EQ(finder.leaks()[2].device, 0U);
  EXPECT_FALSE(finder.leaks()[2].reset_seen);
  EXPECT_EQ(finder.fills_without_pop(), 1U);
  EXPECT_EQ(finder.pops(), 5U);
}

std::vector<Request> requests_of(const Script& script, RequestTracker** out = nullptr) {
  std::vector<Request> requests;
  static std::unique_ptr<RequestTracker> tracker;
  tracker = std::make_unique<RequestTracker>([&](const Request& r) { requests.push_back(r); });
  script.run_over(*tracker);
  if (out != nullptr) *out = tracker.get();
  return requests;
}

TEST(Requests, StampsEveryStage) {
  Script script;
  script.at(100).event("virtio_queue_notify", {0xd, 3, 0xa}).event("virtqueue_pop", {0xa, 1, 0, 0});
  script.event("virtio_blk_handle_write", {0xd, 1, 8, 8}).event("blk_co_pwritev", {0xb, 0, 4096, 4096, 0});
  script.event("thread_pool_submit_aio", {0, 0x77, 0}).at(200).event("thread_pool_complete_aio", {0, 0x77, 0, 0});
  script.event("virtio_blk_rw_complete", {0xd, 1, 0})
      .event("virtqueue_fill", {0xa, 1, 0, 0})
      .event("virtqueue_flush", {0xa, 1});
  script.event("virtio_notify_irqfd", {0xd, 0xa}).event("virtio_notify_irqfd_deferred_fn", {0xd, 0xa});
  const auto requests = requests_of(script);
  ASSERT_EQ(requests.size(), 1U);
  const uint64_t expected_us[] = {100, 101, 102, 103, 104, 200, 201, 202, 205};
  for (size_t i = 0; i < kStages; ++i) EXPECT_EQ(requests[0].at_ns[i], expected_us[i] * 1000) << kStageLetters[i];
  EXPECT_EQ(requests[0].queue_number, 3);
  EXPECT_TRUE(requests[0].is_write);
}

TEST(Requests, JoinsMergedAndParallelRequestsByRange) {
  Script script;
  for (const uint64_t r : {1, 2, 3})
    script.event("virtqueue_pop", {0xa, r, 0, 0}).event("virtio_blk_handle_write", {0xd, r, r * 8, 8});
  script.event("blk_co_pwritev", {0xb, 0, 24 * 512, 8 * 512, 0}).event("luring_co_submit", {0, 0, 0x33, 0, 24 * 512, 4096, 0});
  script.event("blk_co_pwritev", {0xb, 0, 8 * 512, 16 * 512, 0}).event("luring_co_submit", {0, 0, 0x12, 0, 8 * 512, 8192, 0});
  script.event("luring_process_completion", {0, 0x12, 0});
  for (const uint64_t r : {1, 2, 3}) script.event("virtqueue_fill", {0xa, r, 0, 0});
  script.event("virtqueue_flush", {0xa, 3});
  RequestTracker* tracker = nullptr;
  const auto requests = requests_of(script, &tracker);
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0].merged && requests[1].merged && !requests[2].merged);
  EXPECT_TRUE(requests[0].at(Stage::kHostDone) && requests[1].at(Stage::kHostDone) && !requests[2].at(Stage::kHostDone));
  EXPECT_EQ(requests[0].at(Stage::kBlock), requests[1].at(Stage::kBlock));
  EXPECT_TRUE(!requests[0].sequential && requests[1].sequential && requests[2].sequential);
  EXPECT_EQ(tracker->merges(), 1U);
  EXPECT_EQ(tracker->most_in_flight(), 3U);
  EXPECT_FALSE(requests[0].at(Stage::kInterrupt) || requests[0].at(Stage::kNotify));
}

TEST(Requests, FindsTheHostsTimesByWhatFollowsTheCompletion) {
  // The thread pool names no request, and the second was submitted first: throttling held the first one back.
  Script script;
  script.at(10);
  for (const uint64_t r : {1, 2}) script.event("virtqueue_pop", {0xa, r, 0, 0}).event("virtio_blk_handle_write", {0xd, r, r * 8, 8});
  script.event("blk_co_pwritev", {0xb, 0, 8 * 512, 4096, 0}).event("blk_co_pwritev", {0xb, 0, 16 * 512, 4096, 0});
  script.event("virtqueue_pop", {0xa, 3, 0, 0});  // a flush: no header event, no block event
  script.at(100).event("thread_pool_submit_aio", {0, 0x72, 0}).event("thread_pool_submit_aio", {0, 0x73, 0});
  script.at(110).event("thread_pool_submit_aio", {0, 0x71, 0});
  script.at(200).event("thread_pool_complete_aio", {0, 0x73, 0, 0}).event("virtio_blk_req_complete", {0xd, 3, 0});
  script.event("virtqueue_fill", {0xa, 3, 0, 0});
  script.at(210).event("thread_pool_complete_aio", {0, 0x72, 0, 0}).event("virtio_blk_rw_complete", {0xd, 2, 0});
  script.event("virtqueue_fill", {0xa, 2, 0, 0});
  script.at(220).event("thread_pool_complete_aio", {0, 0x71, 0, 0}).event("virtio_blk_rw_complete", {0xd, 1, 0});
  script.event("virtqueue_fill", {0xa, 1, 0, 0}).event("virtqueue_flush", {0xa, 3});
  const auto requests = requests_of(script);
  ASSERT_EQ(requests.size(), 3U);
  const uint64_t submitted_us[] = {101, 100, 110};
  const uint64_t done_us[] = {200, 210, 220};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(requests[i].at(Stage::kSubmit), submitted_us[i] * 1000) << i;
    EXPECT_EQ(requests[i].at(Stage::kHostDone), done_us[i] * 1000) << i;
  }
}

TEST(Requests, LeavesASuppressedInterruptOut) {
  Script script;
  for (const uint64_t r : {1, 2}) {
    script.event("virtqueue_pop", {0xa, r, 0, 0}).event("virtqueue_fill", {0xa, r, 0, 0}).event("virtqueue_flush", {0xa, 1});
  }
  script.event("virtio_notify", {0xd, 0xa});
  const auto requests = requests_of(script);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_FALSE(requests[0].at(Stage::kInterrupt));
  EXPECT_TRUE(requests[1].at(Stage::kInterrupt));
}

TEST(Requests, MarksWhatALossTouches) {
  Script script;
  script.event("virtqueue_pop", {0xa, 1, 0, 0}).event("virtqueue_fill", {0xa, 1, 0, 0});
  script.event("virtqueue_pop", {0xa, 2, 0, 0}).loss(9).event("virtqueue_fill", {0xa, 2, 0, 0});
  const auto requests = requests_of(script);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(requests[1].loss_in_span);
}

TEST(Locks, MeasuresWaitsAndHolds) {
  Script script;
  script.at(0).mutex("qemu_mutex_lock", 5, "a.c", 1).at(2).mutex("qemu_mutex_locked", 5, "a.c", 1);
  script.at(3).mutex("qemu_mutex_lock", 5, "b.c", 2).at(10).mutex("qemu_mutex_locked", 5, "b.c", 2);
  script.at(11).mutex("qemu_mutex_unlock", 5, "a.c", 9).at(14).mutex("qemu_mutex_unlock", 5, "b.c", 9);
  script.mutex("qemu_mutex_unlock", 6, "b.c", 9);
  LockProfile profile;
  script.run_over(profile);
  const auto sites = profile.sites();
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0]->place, "b.c:2");
  EXPECT_EQ(sites[0]->contended, 1U);
  EXPECT_EQ(sites[0]->wait_ns.quantile(1), 7000U);
  EXPECT_EQ(sites[0]->hold_ns.quantile(1), 4000U);
  EXPECT_EQ(sites[1]->contended, 0U);
  EXPECT_EQ(sites[1]->hold_ns.quantile(1), 9000U);
  EXPECT_EQ(profile.unlocks_without_lock(), 1U);
}

TEST(Ordered, PutsALossBeforeTheFirstLaterRecord) {
  TraceBuilder trace;
  trace.mapping(0, "virtqueue_flush");
  trace.event(0, 1000, {{1, nullptr}, {1, nullptr}});
  trace.loss(5000, 3);  // written before what the buffer still held
  for (const uint64_t ns : {2000, 4000, 3000, 6000, 7000}) trace.event(0, ns, {{ns, nullptr}, {1, nullptr}});
  auto source = *read_trace(Input::memory(trace.bytes()), script_declarations());
  OrderedSource ordered(*source, 2);
  std::vector<uint64_t> times;
  Event event;
  while (ordered.next(event)) times.push_back(event.time_ns);
  EXPECT_EQ(times, (std::vector<uint64_t>{1000, 2000, 3000, 4000, 5000, 6000, 7000}));
  EXPECT_EQ(ordered.inversions(), 1U);
  EXPECT_EQ(ordered.too_late(), 0U);
}

class RealAnalyses : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::data_folder().empty()) GTEST_SKIP() << "QPERF_TEST_DATA is not set";
    declarations_ = *Declarations::load(testing::data_folder() + "trace-events-all");
  }
  std::string bytes(const char* name) { return testing::file_text(testing::data_folder() + name); }
  void run_over(const std::string& trace, Analyzer& analyzer) {
    auto source = *read_trace(Input::memory(trace), declarations_);
    OrderedSource ordered(*source);
    run(ordered, analyzer);
  }
  Declarations declarations_;
};

TEST_F(RealAnalyses, CountsPopsAndFills) {
  struct Case {
    const char* file;
    uint64_t pops;
    size_t addresses;
    size_t most_open;
    double us[3];
  };
  for (const Case& c : {Case{"x86_64-seabios-virtioblk.trace", 205, 1, 1, {29.9, 71.0, 1233}},
                        Case{"x86_64-linux-virtioblk.trace", 148, 4, 2, {20.5, 36.4, 1952}}}) {
    LeakFinder finder(1'000'000'000);
    run_over(bytes(c.file), finder);
    EXPECT_EQ(finder.pops(), c.pops);
    EXPECT_EQ(finder.fills(), c.pops);
    EXPECT_EQ(finder.addresses(), c.addresses);
    EXPECT_EQ(finder.most_open(), c.most_open);
    EXPECT_TRUE(finder.leaks().empty());
    const uint64_t found_ns[] = {finder.open_ns().quantile(0), finder.open_ns().median(), finder.open_ns().quantile(1)};
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(static_cast<double>(found_ns[i]) / 1000, c.us[i], c.us[i] < 100 ? 0.05 : 0.5);
  }
}

TEST_F(RealAnalyses, ReportsExactlyTheFillsTakenAway) {
  for (const char* file : {"x86_64-seabios-virtioblk.trace", "x86_64-linux-virtioblk.trace"}) {
    const std::string whole = bytes(file);
    auto source = *read_trace(Input::memory(whole), declarations_);
    std::map<uint64_t, uint64_t> open;  // element -> time of its pop
    std::set<std::pair<uint64_t, uint64_t>> expected;
    uint64_t fills = 0;
    const std::string robbed = testing::rebuilt(*source, 4, false, [&](const Event& event) {
      if (event.name() == "virtqueue_pop") open[*event.number("elem")] = event.time_ns;
      if (event.name() != "virtqueue_fill" || ++fills % 37 != 0) return true;
      const uint64_t element = *event.number("elem");
      expected.emplace(open.at(element), element);
      return false;
    });
    LeakFinder finder(1'000'000'000);
    run_over(robbed, finder);
    std::set<std::pair<uint64_t, uint64_t>> found;
    for (const auto& leak : finder.leaks()) found.emplace(leak.popped_ns, leak.element);
    EXPECT_GE(expected.size(), 4U);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(RealAnalyses, FindsTheOverlappingWrites) {
  OverlapFinder finder(OverlapFinder::Range{4096 * 512, 4104 * 512}, std::nullopt);
  run_over(bytes("x86_64-seabios-virtioblk.trace"), finder);
  std::vector<uint64_t> sectors;
  for (const auto& record : finder.in_range()) sectors.push_back(record.begin_byte / 512);
  EXPECT_EQ(sectors, (std::vector<uint64_t>{4096, 4100, 4103}));
  EXPECT_EQ(finder.writes(), 4U);
  EXPECT_EQ(finder.layer(), OverlapFinder::Layer::kVirtio);
  OverlapFinder linux_writes(OverlapFinder::Range{4160 * 512, 4161 * 512}, std::nullopt);
  run_over(bytes("x86_64-linux-virtioblk.trace"), linux_writes);
  EXPECT_EQ(linux_writes.in_range().size(), 2U);
}

TEST_F(RealAnalyses, FollowsEveryRequestThroughItsStages) {
  for (const auto& [file, count, reads, writes] : {std::tuple{"x86_64-seabios-virtioblk.trace", 205U, 201U, 4U},
                                                   std::tuple{"x86_64-linux-virtioblk.trace", 148U, 146U, 2U}}) {
    uint64_t seen[3] = {};  // read, write, other
    uint64_t complete = 0;
    RequestTracker tracker([&](const Request& request) {
      ++seen[request.is_transfer ? (request.is_write ? 1 : 0) : 2];
      uint64_t last = 0;
      for (const auto& at : request.at_ns) {
        if (!at) continue;
        EXPECT_GE(*at, last);
        last = *at;
      }
      if (request.is_transfer && request.at(Stage::kNotify) && request.at(Stage::kBlock) && request.at(Stage::kComplete))
        ++complete;
    });
    run_over(bytes(file), tracker);
    EXPECT_EQ(seen[0] + seen[1] + seen[2], count);
    EXPECT_EQ(seen[0], reads);
    EXPECT_EQ(seen[1], writes);
    EXPECT_EQ(tracker.unfinished(), 0U);
    EXPECT_GE(complete, (reads + writes) * 9 / 10);
  }
}

TEST_F(RealAnalyses, CountsRegistersAndLocks) {
  MmioCounter mmio;
  run_over(bytes("riscv64-dropped.trace"), mmio);
  const auto registers = mmio.registers();
  ASSERT_FALSE(registers.empty());
  EXPECT_EQ(registers[0].region, "serial");
  uint64_t total = 0;
  for (const auto& r : registers) total += r.total();
  EXPECT_EQ(total, 6774U);
  LockProfile locks;
  run_over(bytes("x86_64-mt-cut.trace"), locks);
  uint64_t acquired = 0;
  uint64_t waits = 0;
  for (const auto* site : locks.sites()) {
    acquired += site->acquired;
    waits += site->wait_ns.count();
  }
  EXPECT_EQ(acquired, 2659U);
  EXPECT_LE(waits, 2651U);
  EXPECT_GE(waits, 2640U);
}

TEST_F(RealAnalyses, OrdersThreadsThatOvertookEachOther) {
  const std::string trace = bytes("x86_64-mt-cut.trace");
  auto source = *read_trace(Input::memory(trace), declarations_);
  OrderedSource ordered(*source);
  Event event;
  uint64_t last = 0;
  uint64_t count = 0;
  while (ordered.next(event)) {
    ASSERT_GE(event.time_ns, last);
    last = event.time_ns;
    ++count;
  }
  EXPECT_EQ(count, 8000U);
  EXPECT_GE(ordered.inversions(), 13U);
  EXPECT_EQ(ordered.too_late(), 0U);
}

}  // namespace
}  // namespace qperf::qemutrace
