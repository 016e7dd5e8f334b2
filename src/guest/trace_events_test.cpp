#include "guest/trace_events.h"

#include <gtest/gtest.h>

namespace qperf::guest {
namespace {

TEST(TraceEvents, NamesEveryValueOfTheConvention) {
  EXPECT_EQ(trace_kind_name(1), "metadata");
  EXPECT_EQ(trace_kind_name(7), "phase");
  EXPECT_EQ(wait_reason_name(1), "wait queue");
  EXPECT_EQ(wait_reason_name(9), "futex-waitv");
  EXPECT_EQ(wait_reason_name(12), "gc");
  EXPECT_EQ(wait_reason_name(17), "virtio-blk queue full");
  EXPECT_EQ(wake_source_name(0), "unknown");
  EXPECT_EQ(wake_source_name(7), "interrupt");
  EXPECT_EQ(enqueue_reason_name(1), "spawn");
  EXPECT_EQ(enqueue_reason_name(7), "work steal");
  EXPECT_EQ(task_state_name(4), "exited");
}

TEST(TraceEvents, ShowsUnknownValuesAsNumbers) {
  EXPECT_EQ(trace_kind_name(0), "kind#0");
  EXPECT_EQ(trace_kind_name(8), "kind#8");
  EXPECT_EQ(wait_reason_name(18), "reason#18");
  EXPECT_EQ(wake_source_name(8), "source#8");
  EXPECT_EQ(enqueue_reason_name(UINT64_MAX), "reason#18446744073709551615");
  EXPECT_EQ(task_state_name(0), "state#0");
}

TEST(TraceEvents, ASleepsDeadlineIsNoIdentity) {
  EXPECT_EQ(resource_identity(4), ResourceIdentity::kNone);
  EXPECT_EQ(resource_identity(5), ResourceIdentity::kAddress);
  EXPECT_EQ(resource_identity(13), ResourceIdentity::kPid);
  EXPECT_EQ(resource_identity(0), ResourceIdentity::kUnknown);
  EXPECT_EQ(resource_identity(18), ResourceIdentity::kUnknown);
}

TEST(TraceEvents, NamesArePaddedNotTerminated) {
  EXPECT_EQ(trace_name(1701602409, 0), "idle");
  const auto full = trace_name_words("0123456789abcdefX");
  EXPECT_EQ(trace_name(full[0], full[1]), "0123456789abcdef");
  EXPECT_EQ(trace_name(0, 0x41), "");
}

}  // namespace
}  // namespace qperf::guest
