#include "qemutrace/simpletrace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "qemutrace/print.h"
#include "qemutrace/trace_builder.h"

namespace qperf::qemutrace {
namespace {

using testing::TraceBuilder;

constexpr std::string_view kEvents =
    "number(int a, uint64_t b) \"a %d b %\"PRIu64\n"
    "disable never(int x) \"x\"\n"
    "text(const char *s, int n) \"s %s n %d\"\n"
    "vcpu old(int a) \"a %d\"\n"
    "plain(void) \"\"\n";

const Declarations& declarations() {
  static const Declarations kParsed = *Declarations::parse(kEvents, "events");
  return kParsed;
}

struct Printed {
  std::string text;
  ReadReport report;
  std::string description;
};

Printed printed(std::string_view bytes, const Declarations& d = declarations(), IdRule ids = IdRule::kDetect) {
  auto source = read_trace(Input::memory(bytes), d, ids);
  if (!source) return {"error: " + source.error().message, {}, {}};
  TextSink sink(-1);
  SimpletracePrinter printer(sink);
  Event event;
  while ((*source)->next(event)) printer.print(event);
  return {std::string(sink.held()), (*source)->report(), (*source)->description()};
}

TEST(Simpletrace, PrintsAsQemusScript) {
  TraceBuilder trace;
  trace.mapping(7, "number");
  trace.event(7, 1000, {{~uint64_t{0}, nullptr}, {0xab, nullptr}});
  trace.mapping(3, "text");  // a module's events are mapped when it is loaded
  trace.event(3, 3500, {{9, "it's \"a\"\n"}, {2, nullptr}});
  trace.event(3, 3000, {{3, "a\\'"}, {0, nullptr}});
  trace.mapping(0, "plain");
  trace.event(0, 3000, {});
  trace.loss(10000, 17);
  const auto out = printed(trace.bytes());
  EXPECT_EQ(out.text,
            "number 0.000 pid=1 a=0xffffffffffffffff b=0xab\n"
            "text 2.500 pid=1 s=b'it\\'s \"a\"\\n' n=0x2\n"
            "text -0.500 pid=1 s=b\"a\\\\'\" n=0x0\n"
            "plain 0.000 pid=1 \n"
            "Dropped_Event 7.000 pid=1 num_events_dropped=0x11\n");
  EXPECT_EQ(out.report.lost_events, 17U);
  EXPECT_TRUE(out.report.incomplete());
}

TEST(Simpletrace, ChecksPayloadsAlikeWithoutTheirValues) {
  const Declarations shapes = *Declarations::parse(
      "numbers(int a, int b) \"x\"\nlast(int a, const char *s) \"x\"\nfirst(const char *s, int a) \"x\"\n"
      "two(const char *s, const char *t) \"x\"\nnone(void) \"\"\n",
      "events");
  TraceBuilder trace;
  uint64_t id = 0;
  for (const Declaration& d : shapes.all()) trace.mapping(id++, d.name);
  for (id = 0; id < shapes.all().size(); ++id) {
    for (size_t size = 0; size <= 40; ++size) {
      for (const char first : {'\0', '\1', '\4', '\x8'}) {
        std::string payload(size, '\0');
        for (size_t at = 0; at < size; at += 4) payload[at] = first;
        trace.event(id, 0, 1, payload);
      }
    }
  }
  trace.loss(0, 7);
  auto plain = *read_trace(Input::memory(trace.bytes()), shapes);
  auto skipping = *read_trace(Input::memory(trace.bytes()), shapes);
  skipping->skip_values();
  Event a;
  Event b;
  while (plain->next(a)) {
    ASSERT_TRUE(skipping->next(b));
    EXPECT_EQ(a.state, b.state);
    EXPECT_EQ(a.info->name, b.info->name);
  }
  EXPECT_FALSE(skipping->next(b));
  EXPECT_EQ(skipping->report().lost_events, 7U);
  EXPECT_EQ(plain->report().mismatched_events, skipping->report().mismatched_events);
  EXPECT_GT(plain->report().mismatched_events, 100U);
}

TEST(Simpletrace, TakesAnIdsLatestName) {
  TraceBuilder trace;
  for (const uint64_t id : {3ULL, 1ULL << 40}) {
    trace.mapping(id, "plain");
    trace.event(id, 0, {});
    trace.mapping(id, "old");
    trace.event(id, 0, {{5, nullptr}});
  }
  EXPECT_EQ(printed(trace.bytes()).text,
            "plain 0.000 pid=1 \nold 0.000 pid=1 a=0x5\nplain 0.000 pid=1 \nold 0.000 pid=1 a=0x5\n");
}

TEST(Simpletrace, LetsNoTerminalCodesThrough) {
  TraceBuilder trace;
  trace.mapping(0, "text");
  trace.mapping(1, "evil\x1b[2J");
  trace.event(0, 0, {{6, "\x1b[2J\x80\x7f"}, {2, nullptr}});
  trace.event(1, 0, {});
  const auto out = printed(trace.bytes());
  EXPECT_EQ(out.text, "text 0.000 pid=1 s=b'\\x1b[2J\\x80\\x7f' n=0x2\n");
  ASSERT_EQ(out.report.undeclared.size(), 1U);
  EXPECT_EQ(out.report.undeclared.begin()->first, "evil\\x1b[2J");
}

TEST(Simpletrace, ReportsMismatchesByEvent) {
  TraceBuilder trace;
  trace.mapping(0, "number");
  trace.event(0, 0, {{1, nullptr}, {2, nullptr}, {3, nullptr}});
  trace.event(0, 0, {{1, nullptr}, {2, nullptr}, {3, nullptr}});
  trace.event(0, 0, {{1, nullptr}, {2, nullptr}});
  trace.mapping(1, "text");
  trace.event(1, 0, 1,
              std::string("\xff\xff\xff\x7f"
                          "abc",
                          7));  // a string longer than its record
  trace.event(9, 0, {});        // an id that nothing names
  const auto out = printed(trace.bytes());
  EXPECT_EQ(out.text, "number 0.000 pid=1 a=0x1 b=0x2\n");
  ASSERT_EQ(out.report.mismatches.size(), 2U);
  EXPECT_EQ(out.report.mismatches.at("number").first, 2U);
  EXPECT_EQ(out.report.mismatches.at("number").second,
            "this file was written by a QEMU whose number has 3 arguments, the declaration has 2");
  EXPECT_EQ(out.report.undeclared_events, 1U);
}

TEST(Simpletrace, StopsWhereTheFramingIsLost) {
  for (const uint32_t length : {0U, 23U, 262145U, 0xffffffffU}) {
    TraceBuilder trace;
    trace.mapping(0, "plain");
    trace.event(0, 0, {});
    trace.u64(1), trace.u64(0), trace.u64(0), trace.u32(length), trace.u32(1);
    const auto out = printed(trace.bytes());
    EXPECT_EQ(out.text, "plain 0.000 pid=1 \n");
    EXPECT_NE(out.report.broken.find("expected 24 to 262144"), std::string::npos) << out.report.broken;
  }
  TraceBuilder trace;
  trace.u64(5);
  trace.u64(0);
  EXPECT_NE(printed(trace.bytes()).report.broken.find("type 0x5"), std::string::npos);
}

TEST(Simpletrace, RefusesUnknownVersionsAndOtherFiles) {
  EXPECT_NE(printed(TraceBuilder(9).bytes()).text.find("version 9"), std::string::npos);
  EXPECT_NE(printed(std::string_view("\x7f"
                                     "ELF\0\0",
                                     6))
                .text.find("neither a simpletrace file"),
            std::string::npos);
  EXPECT_EQ(printed("").report.incomplete(), false);
}

TEST(Simpletrace, TakesTheVcpuOfOldQemusIntoAccount) {
  TraceBuilder trace;
  trace.mapping(0, "old");
  trace.event(0, 0, {{5, nullptr}});
  trace.event(0, 0, {{0x77, nullptr}, {5, nullptr}});
  EXPECT_EQ(printed(trace.bytes()).text, "old 0.000 pid=1 a=0x5\nold 0.000 pid=1 __cpu=0x77 a=0x5\n");
}

TEST(Simpletrace, ReadsFilesThatNumberTheirEvents) {
  for (const bool swapped : {false, true}) {
    for (const uint64_t version : {2U, 3U}) {
      TraceBuilder enabled(version, swapped);  // "never" has no number
      enabled.event(1, 0, {{2, "hi"}, {1, nullptr}});
      const char* pid = version == 3 ? " pid=1" : "";
      EXPECT_EQ(printed(enabled.bytes()).text, std::string("text 0.000") + pid + " s=b'hi' n=0x1\n");
      TraceBuilder all(version, swapped);
      all.event(2, 0, {{2, "hi"}, {1, nullptr}});
      EXPECT_EQ(printed(all.bytes()).text, std::string("text 0.000") + pid + " s=b'hi' n=0x1\n");
    }
    TraceBuilder fixed(0, swapped);
    for (const uint64_t word : {0, 5000, 1, 2, 3, 4, 5, 6}) fixed.u64(word);
    for (const uint64_t word :
         {~uint64_t{0} - 1, uint64_t{6000}, uint64_t{9}, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}})
      fixed.u64(word);
    const auto out = printed(fixed.bytes());
    EXPECT_EQ(out.text, "number 0.000 a=0x1 b=0x2\nDropped_Event 1.000 num_events_dropped=0x9\n");
    EXPECT_EQ(out.description, swapped ? "simpletrace version 0, big-endian" : "simpletrace version 0, little-endian");
  }
}

TEST(Simpletrace, ReadsStapStreams) {
  TraceBuilder trace;
  trace.event(2, 1, {{6, "<null>"}, {1, nullptr}});
  const auto out = printed(std::string_view(trace.bytes()).substr(24));
  EXPECT_EQ(out.text, "text 0.000 pid=1 s=b'<null>' n=0x1\n");
  EXPECT_EQ(out.description, "simpletrace stap stream, little-endian");
}

/// The real files; an absent folder skips.
class RealTrace : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (testing::data_folder().empty()) GTEST_SKIP() << "QPERF_TEST_DATA is not set";
    auto parsed = Declarations::load(testing::data_folder() + "trace-events-all");
    ASSERT_TRUE(parsed.ok());
    declarations_ = *std::move(parsed);
    bytes_ = testing::file_text(testing::data_folder() + GetParam() + ".trace");
    ASSERT_GT(bytes_.size(), 24U);
  }
  std::unique_ptr<EventSource> source(std::string_view bytes) { return *read_trace(Input::memory(bytes), declarations_); }
  Declarations declarations_;
  std::string bytes_;
};

TEST_P(RealTrace, PrintsWhatQemusScriptPrints) {
  EXPECT_EQ(printed(bytes_, declarations_).text, testing::file_text(testing::data_folder() + GetParam() + ".txt"));
}

TEST_P(RealTrace, ReadsAlikeInTheOtherByteOrderAndOlderVersions) {
  const std::string expected = printed(bytes_, declarations_).text;
  EXPECT_EQ(printed(testing::rebuilt(*source(bytes_), 4, true), declarations_).text, expected);
  std::map<std::string_view, uint64_t> numbers;
  for (const Declaration& d : declarations_.all()) {
    if (!d.disabled) numbers.emplace(d.name, numbers.size());
  }
  const auto number = [&](std::string_view name) { return numbers.at(name); };
  EXPECT_EQ(printed(testing::rebuilt(*source(bytes_), 3, false, {}, number), declarations_).text, expected);
}

/// Where the records of a little-endian version 4 file end: all of them (with header and mappings), and the events alone.
struct RecordEnds {
  std::vector<size_t> all = {0, 24};
  std::vector<size_t> events;
};

RecordEnds record_ends(std::string_view bytes) {
  RecordEnds ends;
  for (size_t at = 24; at + 32 <= bytes.size();) {
    uint64_t type = 0;
    uint32_t length = 0;
    std::memcpy(&type, bytes.data() + at, 8);
    std::memcpy(&length, bytes.data() + at + (type == 0 ? 16 : 24), 4);
    at += type == 0 ? 20 + length : 8 + length;
    if (at > bytes.size()) break;
    ends.all.push_back(at);
    if (type == 1) ends.events.push_back(at);
  }
  return ends;
}

/// Cut at each byte of [0, bytes.size()]: every whole record is there, the rest is reported as torn, nothing else is said.
void expect_whole_records_at_every_cut(std::string_view bytes, const Declarations& declarations) {
  const RecordEnds ends = record_ends(bytes);
  size_t last_end = 0;  // places in `ends` that move on with the cut
  size_t events_before = 0;
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    while (last_end + 1 < ends.all.size() && ends.all[last_end + 1] <= cut) ++last_end;
    while (events_before < ends.events.size() && ends.events[events_before] <= cut) ++events_before;
    // A copy of its own size: a read behind the cut is then a read behind the allocation, which the sanitizers see.
    const std::vector<char> prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut));
    auto reader = *read_trace(Input::memory({prefix.data(), prefix.size()}), declarations);
    Event event;
    uint64_t events = 0;
    while (reader->next(event)) ++events;
    ASSERT_EQ(events, events_before) << cut;
    ASSERT_EQ(reader->report().torn_bytes, cut - ends.all[last_end]) << cut;
    ASSERT_EQ(reader->report().broken, "") << cut;
  }
}

constexpr size_t kCutBytes = 65536;

/// The file as QEMU wrote it: its first 64 KiB are the header and mappings.
TEST_P(RealTrace, KeepsWholeRecordsWhereverTheFileIsCut) {
  static std::set<std::string> tested;  // files of the same QEMU begin with the same mappings
  const std::string start = bytes_.substr(0, kCutBytes);
  if (!tested.insert(start).second) GTEST_SKIP() << "begins with the same 64 KiB as a file tested before";
  expect_whole_records_at_every_cut(start, declarations_);
}

/// The same for the events behind them: only events that occur get a mapping here.
TEST_P(RealTrace, KeepsWholeRecordsWhereverItsEventsAreCut) {
  const std::string compact = testing::rebuilt(*source(bytes_), 4, false).substr(0, kCutBytes);
  ASSERT_GT(record_ends(compact).events.size(), 400U);
  expect_whole_records_at_every_cut(compact, declarations_);
}

INSTANTIATE_TEST_SUITE_P(Files, RealTrace,
                         ::testing::Values("riscv64-dropped", "x86_64-linux-virtioblk", "x86_64-mt-cut",
                                           "x86_64-seabios-virtioblk"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace qperf::qemutrace
