#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <string>

#include "base/pattern.h"
#include "tools/qperf/record/console.h"
#include "tools/qperf/record/gate.h"
#include "tools/qperf/record/program.h"
#include "tools/qperf/record/qemu_arguments.h"
#include "tools/qperf/record/trace_request.h"

namespace qperf::tools {
namespace {

QemuArguments read(std::vector<std::string> arguments) { return read_qemu_arguments(arguments); }

TEST(QemuArguments, TheAcceleratorIsTheFirstThatIsTried) {
  EXPECT_EQ(read({"-M", "virt", "-nographic"}).accelerator, "tcg");
  EXPECT_EQ(read({"-enable-kvm"}).accelerator, "kvm");
  EXPECT_EQ(read({"--enable-kvm"}).accelerator, "kvm");
  EXPECT_EQ(read({"-accel", "kvm,kernel-irqchip=on"}).accelerator, "kvm");
  EXPECT_EQ(read({"-accel", "accel=kvm"}).accelerator, "kvm");
  EXPECT_EQ(read({"-machine", "q35,accel=kvm:tcg"}).accelerator, "kvm");
  EXPECT_EQ(read({"-M", "accel=tcg:kvm"}).accelerator, "tcg");
  EXPECT_EQ(read({"-accel", "tcg,thread=single", "-accel", "kvm"}).accelerator, "tcg");
  EXPECT_EQ(read({"-M", "virt", "-append", "-enable-kvm"}).accelerator, "tcg") << "the guest's words are not QEMU's";
  EXPECT_EQ(read({"-machine", "q35,accel=kvm"}).accelerator_option, "-machine q35,accel=kvm");
}

TEST(QemuArguments, FilesAndSocketsAreFound) {
  const auto found =
      read({"-kernel", "k,1.elf", "-qmp", "unix:/run/a,,b,server=on,wait=off", "-D", "log", "-append", "root=/dev/vda"});
  EXPECT_EQ(found.kernel, "k,1.elf");
  EXPECT_EQ(found.qmp_socket, "/run/a,b");
  EXPECT_EQ(found.log_file, "log");
  EXPECT_FALSE(found.log_per_thread);
  EXPECT_TRUE(read({"-d", "guest_errors,tid"}).log_per_thread);
  EXPECT_FALSE(found.daemonizes);
  EXPECT_TRUE(read({"-daemonize"}).daemonizes);
  EXPECT_TRUE(read({"-plugin", "/x/libqperf.so,freq=9"}).loads_qperf);
  EXPECT_TRUE(read({"-plugin", "file=libqperf.so"}).loads_qperf);
  EXPECT_FALSE(read({"-plugin", "libhotblocks.so,inline=on"}).loads_qperf);
  EXPECT_FALSE(read({"-kernel"}).kernel);
}

TEST(QemuArguments, CommasAreDoubledAndUndone) {
  EXPECT_EQ(with_commas_doubled("a,b,,c"), "a,,b,,,,c");
  EXPECT_EQ(split_at_commas("a,,b,c,,"), (std::vector<std::string>{"a,b", "c,"}));
  EXPECT_EQ(split_at_commas(with_commas_doubled("x,y")), std::vector<std::string>{"x,y"});
  EXPECT_EQ(split_at_commas(""), std::vector<std::string>{""});
}

Gate::Rules rules(const char* start, const char* stop, uint64_t delay_ns = 0) {
  Gate::Rules out;
  if (start != nullptr) out.start_on = *Pattern::parse(start);
  if (stop != nullptr) out.stop_on = *Pattern::parse(stop);
  out.delay_ns = delay_ns;
  return out;
}

TEST(Gate, OpensAtOnceOrAfterTheDelay) {
  Gate at_once(rules(nullptr, nullptr));
  at_once.begin(5);
  EXPECT_TRUE(at_once.is_open());
  Gate later(rules(nullptr, nullptr, 100));
  later.begin(5);
  EXPECT_FALSE(later.is_open());
  EXPECT_EQ(later.due_ns(), 105U);
  later.tick(104);
  EXPECT_FALSE(later.is_open());
  later.tick(105);
  EXPECT_TRUE(later.is_open());
  EXPECT_EQ(later.first_open_ns(), 105U);
}

TEST(Gate, LinesOpenAndCloseItAgainAndAgain) {
  Gate gate(rules("^begin", "^end"));
  gate.begin(0);
  gate.line("the begin", true, 1);
  EXPECT_FALSE(gate.is_open());
  gate.line("begin 1", true, 2);
  EXPECT_TRUE(gate.is_open());
  gate.line("end 1", true, 3);
  EXPECT_FALSE(gate.is_open());
  gate.line("begin 2", true, 4);
  EXPECT_TRUE(gate.is_open());
  EXPECT_EQ(gate.first_open_ns(), 2U);
}

TEST(Gate, APromptCountsOnceThoughItIsSeenAsItGrows) {
  Gate gate(rules("login:", "login:"));
  gate.begin(0);
  gate.line("log", false, 1);
  gate.line("login:", false, 2);
  EXPECT_TRUE(gate.is_open());
  gate.line("login: root", false, 3);
  gate.line("login: root", true, 4);
  EXPECT_TRUE(gate.is_open()) << "the same line must not close it";
  gate.line("login: again", true, 5);
  EXPECT_FALSE(gate.is_open());
}

TEST(Gate, AStopBeforeTheDelayIsOverCancelsIt) {
  Gate gate(rules("go", "no", 50));
  gate.begin(0);
  gate.line("go", true, 10);
  gate.line("no", true, 20);
  gate.tick(1000);
  EXPECT_FALSE(gate.is_open());
  EXPECT_EQ(gate.first_open_ns(), std::nullopt);
}

std::vector<std::pair<std::string, bool>> lines_of(const std::vector<std::string>& pieces) {
  std::vector<std::pair<std::string, bool>> seen;
  ConsoleLines lines;
  for (const auto& piece : pieces)
    lines.feed(piece, [&seen](std::string_view line, bool whole) { seen.emplace_back(line, whole); });
  return seen;
}

TEST(ConsoleLines, ShowWhatAPersonSees) {
  using Seen = std::vector<std::pair<std::string, bool>>;
  EXPECT_EQ(lines_of({"\x1b[1;32mok\x1b[0m done\r\n"}), (Seen{{"ok done", true}}));
  EXPECT_EQ(lines_of({"pro", "mpt# "}), (Seen{{"pro", false}, {"prompt# ", false}}));
  EXPECT_EQ(lines_of({"a\nb", "c\n"}), (Seen{{"a", true}, {"b", false}, {"bc", true}}));
  EXPECT_EQ(lines_of({"\x1b]0;title\x07text\n"}), (Seen{{"text", true}}));
  EXPECT_EQ(lines_of({"\x1b[3", "1mred\n"}), (Seen{{"red", true}}));
  EXPECT_EQ(lines_of({"\x1b[31\nnext\n"}), (Seen{{"", true}, {"next", true}})) << "a cut sequence ends with its line";
  EXPECT_EQ(lines_of({std::string(5000, 'x') + "\n"}).front().first.size(), ConsoleLines::kMaxLineBytes);
}

TEST(TraceRequest, NamesTheLogAfterTheProcess) {
  TraceRequest log{.patterns = {}, .simple = false, .file = "/tmp/q-%d.log", .options = {}};
  name_log_of(log, 42);
  EXPECT_EQ(log.file, "/tmp/q-42.log");
  TraceRequest simple{.patterns = {}, .simple = true, .file = "/tmp/q-%d.trace", .options = {}};
  name_log_of(simple, 42);
  EXPECT_EQ(simple.file, "/tmp/q-%d.trace") << "the binary back end takes names as they are";
}

std::string script(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << text;
  ::chmod(path.c_str(), 0755);
  return path;
}

TEST(RunCaptured, WaitsNoLongerForOneThatClosesItsOutput) {
  const auto silent = run_captured({script("qperf_silent", "exec >&- 2>&-; exec sleep 600\n")}, {}, 1);
  ASSERT_FALSE(silent);
  EXPECT_NE(silent.error().message.find("did not answer within 1 seconds"), std::string::npos) << silent.error().message;
  const auto late = run_captured({script("qperf_late", "echo said; exec >&- 2>&-; sleep 0.1; exit 7\n")}, {}, 60);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->text, "said\n");
  EXPECT_EQ(WEXITSTATUS(late->status), 7);
}

TEST(TracePatterns, AreCheckedBeforeQemuSeesThem) {
  EXPECT_EQ(*read_trace_patterns("virtio_*,-virtio_console_*,blk_?"),
            (std::vector<std::string>{"virtio_*", "-virtio_console_*", "blk_?"}));
  EXPECT_FALSE(read_trace_patterns(""));
  EXPECT_FALSE(read_trace_patterns("a,,b c"));
  EXPECT_FALSE(read_trace_patterns("file=/etc/passwd"));
  EXPECT_FALSE(read_trace_patterns("events=/no/such/file"));
}

TEST(TracePatterns, AFileMayHaveCommentsBlanksAndNoLastLineEnd) {
  const std::string path = testing::TempDir() + "/qperf_events_list";
  std::ofstream(path) << "# what the disk does\n\n  virtio_blk_*  \n-virtio_blk_data_plane_*\r\nvm_state_notify";
  const auto patterns = read_trace_patterns("events=" + path);
  ASSERT_TRUE(patterns);
  EXPECT_EQ(*patterns, (std::vector<std::string>{"virtio_blk_*", "-virtio_blk_data_plane_*", "vm_state_notify"}));
  std::ofstream(path) << "good_one\nbad one\n";
  const auto bad = read_trace_patterns("events=" + path);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find(":2:"), std::string::npos) << bad.error().message;
}

}  // namespace
}  // namespace qperf::tools
