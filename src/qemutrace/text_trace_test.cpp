#include "qemutrace/text_trace.h"

#include <gtest/gtest.h>

#include "qemutrace/print.h"
#include "qemutrace/trace_builder.h"

namespace qperf::qemutrace {
namespace {

const Declarations& declarations() {
  static const Declarations kParsed = *Declarations::parse(
      "reg(int cpu, void *mr, uint64_t addr, const char *name) \"cpu %d mr %p addr 0x%\"PRIx64\" name '%s'\"\n"
      "short_format(int a, int b) \"a %d\"\n"
      "empty(void *p) \"\"\n",
      "events");
  return kParsed;
}

struct Printed {
  std::string text;
  ReadReport report;
  std::string description;
};

Printed printed(std::string_view lines) {
  auto source = *read_trace(Input::memory(lines), declarations());
  TextSink sink(-1);
  SimpletracePrinter printer(sink);
  Event event;
  while (source->next(event)) printer.print(event);
  return {std::string(sink.held()), source->report(), source->description()};
}

constexpr const char* kReg = "reg cpu -1 mr (nil) addr 0x1f name 'it's'\n";
constexpr const char* kFields = " cpu=0xffffffffffffffff mr=0x0 addr=0x1f name=b\"it's\"\n";

TEST(TextTrace, ReadsBareLinesAmongOthers) {
  const auto out = printed(std::string("qemu-system-x86_64: warning: TCG doesn't support requested feature\n") + kReg +
                           "regular text\nshort_format a 7\nempty \nIN: \n0x1000: nop\n");
  EXPECT_EQ(out.text, std::string("reg -") + kFields + "short_format - a=0x7\nempty -\n");
  EXPECT_EQ(out.report.other_lines, 4U);
  EXPECT_FALSE(out.report.incomplete());
}

TEST(TextTrace, ReadsStampedLines) {
  const auto out = printed(std::string("2026-11-29T23:35:01.000001Z qemu: warning: x\n12@1795990810.848944:") + kReg +
                           "13@1795990810.848946:" + kReg + "13@1795990810.848946:gone a 1\n");
  EXPECT_EQ(out.text, std::string("reg 0.000 tid=12") + kFields + "reg 2.000 tid=13" + kFields);
  EXPECT_EQ(out.report.undeclared_events, 1U);
  EXPECT_EQ(out.report.other_lines, 1U);
  EXPECT_EQ(out.description, "text of the log back end with time stamps");
}

TEST(TextTrace, ShowsTheHostsKvmEventsBesideQemus) {
  const auto out = printed(std::string("  qemu-9 [001] d..1.  5.000001: kvm_exit: vcpu 0 reason MSR_WRITE rip 0x1f\n") +
                           "  qemu-9 (   9) [001] .....  5.000003: tracing_mark_write: " + kReg +
                           "  bash-10 [000] d..2.  5.000004: sched_switch: prev_comm=bash\n"
                           "  qemu-9 [001] d....  5.000005: kvm_exit: evil\x1b[2J\n"
                           "  qemu-9 [001] d....  5.000006: reg: not QEMU's\n"
                           "  (sd-pam)-9 [001] d....  5.000007: kvm_entry: vcpu 0\n");
  EXPECT_EQ(out.text, std::string("kvm_exit 0.000 tid=9 text=b'vcpu 0 reason MSR_WRITE rip 0x1f'\nreg 2.000 tid=9") + kFields +
                          "kvm_exit 2.000 tid=9 text=b'evil\\x1b[2J'\nkvm_entry 2.000 tid=9 text=b'vcpu 0'\n");
  EXPECT_EQ(out.report.other_lines, 2U);
  EXPECT_FALSE(out.report.incomplete());
}

TEST(TextTrace, ReadsWhatOtherToolsPrint) {
  EXPECT_EQ(printed(std::string("7@1795990810848944123 ") + kReg).text, std::string("reg 0.000 pid=7") + kFields);
  EXPECT_EQ(printed(std::string(" qemu-system-x86-27208   [001] .....  1234.567890: tracing_mark_write: ") + kReg).text,
            std::string("reg 0.000 tid=27208") + kFields);
  EXPECT_EQ(
      printed(std::string(" qemu-system-x86-27208 [001]  1234.567890: print:                tracing_mark_write: ") + kReg).text,
      std::string("reg 0.000 tid=27208") + kFields);
  EXPECT_EQ(printed(std::string("Nov 29 23:35:01 host qemu-system-x86_64[27208]: ") + kReg).text,
            std::string("reg 0.000 pid=27208") + kFields);
  EXPECT_EQ(printed(std::string("2026-11-29T23:35:01.5+01:00 host qemu[9]: ") + kReg +
                    "2026-11-29T22:35:01.6+00:00 host qemu[9]: " + kReg)
                .text,
            std::string("reg 0.000 pid=9") + kFields + "reg 100000.000 pid=9" + kFields);
  EXPECT_EQ(printed("[23:35:01.000000001] (+0.000000000) host qemu:reg: { cpu_id = 3 }, { vpid = 5, vtid = 6 }, { cpu = -1, mr "
                    "= 0x0, addr = 0x1F, "
                    "name = \"it's\" }\n")
                .text,
            std::string("reg 0.000 pid=5 tid=6") + kFields);
}

TEST(TextTrace, CountsWhatDoesNotFit) {
  const auto out = printed("reg cpu x\nreg cpu 1 mr 0x1 addr 0x2 name 'a");
  EXPECT_EQ(out.text, "");
  EXPECT_EQ(out.report.mismatches.at("reg").first, 1U);
  EXPECT_EQ(out.report.torn_bytes, 33U);
}

TEST(TextTrace, PassesOverEndlessLines) {
  const auto out = printed(std::string(2'000'000, 'x') + "\nshort_format a 1\n");
  EXPECT_EQ(out.text, "short_format - a=0x1\n");
}

// Each ` b ` could be the one between the first two strings, and for each the rest of the line has no ` c `.
TEST(TextTrace, SearchesALongLineWithinABound) {
  const auto d = Declarations::parse("e(const char *a, const char *b, const char *c) \"a %s b %s c %s\"\n", "events");
  ASSERT_TRUE(d.ok());
  constexpr uint64_t kLines = 40;
  std::string line = "e a";
  while (line.size() < 100'000) line += " b";
  std::string log;
  for (uint64_t i = 0; i < kLines; ++i) log += line + "\n";
  log += line + " c d\n";
  auto source = *read_trace(Input::memory(log), *d);
  Event event;
  while (source->next(event)) {
  }
  EXPECT_EQ(source->report().mismatched_events, kLines);
  EXPECT_EQ(event.values[2].string(), "d");
}

/// Line n of the real log is record n of the real trace.
TEST(TextTrace, AgreesWithTheBinaryTraceOfTheSameRun) {
  if (testing::data_folder().empty()) GTEST_SKIP() << "QPERF_TEST_DATA is not set";
  const auto d = Declarations::load(testing::data_folder() + "trace-events-all");
  ASSERT_TRUE(d.ok());
  const std::string log = testing::file_text(testing::data_folder() + "x86_64-linux-virtioblk.log");
  const std::string trace = testing::file_text(testing::data_folder() + "x86_64-linux-virtioblk.trace");
  auto lines = *read_trace(Input::memory(log), *d);
  auto records = *read_trace(Input::memory(trace), *d);
  Event line;
  Event record;
  size_t count = 0;
  while (records->next(record)) {
    ASSERT_TRUE(lines->next(line));
    ASSERT_EQ(line.name(), record.name());
    ASSERT_EQ(line.value_count, record.value_count);
    for (size_t i = 0; i < line.value_count; ++i) {
      ASSERT_TRUE(line.has_value(i));
      ASSERT_EQ(line.values[i].number, record.values[i].number) << line.name() << " " << i;
    }
    ++count;
  }
  EXPECT_FALSE(lines->next(line));
  EXPECT_EQ(count, 1957U);
}

}  // namespace
}  // namespace qperf::qemutrace
