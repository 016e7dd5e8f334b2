#include "qemutrace/filter.h"

#include <gtest/gtest.h>

#include "qemutrace/glob.h"
#include "qemutrace/trace_builder.h"

namespace qperf::qemutrace {
namespace {

using testing::TraceBuilder;

const Declarations& declarations() {
  static const Declarations kParsed = *Declarations::parse(
      "io(uint64_t sector, size_t nsectors, bool is_write) \"x\"\n"
      "reg(int cpu_index, const char *name) \"x\"\n",
      "events");
  return kParsed;
}

/// Names with time of the events that a filter keeps.
std::string kept(FilterOptions options) {
  auto filter = Filter::make(options, declarations());
  if (!filter) return filter.error().message;
  TraceBuilder trace;
  trace.mapping(0, "io");
  trace.mapping(1, "reg");
  trace.event(0, 1000, {{8, nullptr}, {16, nullptr}, {1, nullptr}});
  trace.event(1, 2000, {{~uint64_t{0}, nullptr}, {6, "serial"}});
  trace.event(0, 3000, {{0, nullptr}, {4, nullptr}, {0, nullptr}});
  trace.loss(3500, 5);
  trace.event(1, 4000, {{1, nullptr}, {10, "virtio-mmi"}});
  auto source = *read_trace(Input::memory(trace.bytes()), declarations());
  std::string out;
  Event event;
  while (source->next(event)) {
    if (filter->keeps(event) && !event.is_loss) out += std::to_string(event.time_ns / 1000);
  }
  return out;
}

std::string where(std::string text) { return kept({.events = {}, .from = {}, .until = {}, .where = std::move(text)}); }

TEST(Filter, ComparesFields) {
  EXPECT_EQ(where("nsectors > 8 && is_write"), "1");
  EXPECT_EQ(where("nsectors > 8 || !is_write"), "13");
  EXPECT_EQ(where("cpu_index == -1"), "2");
  EXPECT_EQ(where("cpu_index < 0"), "2");
  EXPECT_EQ(where("cpu_index > 0"), "4");
  EXPECT_EQ(where("name == \"serial\""), "2");
  EXPECT_EQ(where("name =~ 'virtio*'"), "4");
  EXPECT_EQ(where("event == \"io\" && ts_ns >= 3000"), "3");
  EXPECT_EQ(where("sector == 0x8 && pid == 1"), "1");
  EXPECT_EQ(where("(nsectors == 4 || nsectors == 16) && !(sector != 0)"), "3");
  EXPECT_EQ(where("nsectors == 4 || name == 'serial'"), "23");
  EXPECT_EQ(where("is_write"), "1");
}

TEST(Filter, LacksMakeNothingTrue) {
  EXPECT_EQ(where("!(nsectors > 8)"), "3");  // not 2 and 4, which have no such field
  EXPECT_EQ(where("name == 7"), "");
  EXPECT_EQ(where("tid == 0"), "");
}

TEST(Filter, ExplainsWrongConditions) {
  EXPECT_NE(where("nsectors >").find("expected a field, a number or a \"string\" at column 11"), std::string::npos);
  EXPECT_NE(where("nsectors = 8").find("expected == to compare"), std::string::npos);
  EXPECT_NE(where("nsektors == 8").find("no event has a field 'nsektors'"), std::string::npos);
  EXPECT_NE(where("(sector == 1").find("expected ')'"), std::string::npos);
  EXPECT_NE(where("sector == 99999999999999999999").find("does not fit 64 bits"), std::string::npos);
  EXPECT_NE(where(std::string(200, '(') + "sector").find("nested deeper"), std::string::npos);
  EXPECT_NE(where("name == \"a").find("closing quote"), std::string::npos);
  EXPECT_NE(where("sector == 1 2").find("expected an operator"), std::string::npos);
}

TEST(Filter, ChoosesByNameAndTime) {
  EXPECT_EQ(kept({.events = {"i?"}, .from = {}, .until = {}, .where = {}}), "13");
  EXPECT_EQ(kept({.events = {"*,-io"}, .from = {}, .until = {}, .where = {}}), "24");
  EXPECT_EQ(kept({.events = {"-io"}, .from = {}, .until = {}, .where = {}}), "24");
  EXPECT_EQ(kept({.events = {}, .from = "1us", .until = "3us", .where = {}}), "23");
  EXPECT_NE(kept({.events = {}, .from = "soon", .until = {}, .where = {}}).find("like 1.5s"), std::string::npos);
  EXPECT_EQ(*parse_duration_ns("1.5s"), 1'500'000'000U);
  EXPECT_EQ(*parse_duration_ns("0.25ms"), 250'000U);
  EXPECT_EQ(*parse_duration_ns("3"), 3'000'000'000U);
  EXPECT_FALSE(parse_duration_ns("99999999999999999999").ok());
  EXPECT_FALSE(parse_duration_ns("1.").ok());
}

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(glob_matches("virtio_*", "virtio_notify"));
  EXPECT_TRUE(glob_matches("*_*_*", "a_b_c"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("virtio", "virtio_notify"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
}

}  // namespace
}  // namespace qperf::qemutrace
