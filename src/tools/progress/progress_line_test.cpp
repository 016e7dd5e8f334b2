#include "tools/progress/progress_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

namespace qperf::tools {
namespace {

/// What appears on a terminal while `draw` writes to it.
template <typename Draw>
std::string seen_on_terminal(Draw draw) {
  int screen = -1;
  int terminal = -1;
  EXPECT_EQ(openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  draw(terminal);
  std::string seen;
  char bytes[4096];
  fcntl(screen, F_SETFL, O_NONBLOCK);
  for (ssize_t count = 0; (count = read(screen, bytes, sizeof(bytes))) > 0;) seen.append(bytes, static_cast<size_t>(count));
  close(terminal);
  close(screen);
  return seen;
}

TEST(ProgressLine, IsDrawnInPlaceAndTakenAway) {
  setenv("TERM", "xterm", 1);
  const std::string seen = seen_on_terminal([](int fd) {
    ProgressLine line("a.bin", fd, std::chrono::seconds(0));
    line.step("reading samples", 43, 100);
  });
  EXPECT_EQ(seen, "\rqperf: a.bin: reading samples 43 %\x1b[K\r\x1b[K");
}

TEST(ProgressLine, IsTakenAwayOnceBeforeOtherOutput) {
  setenv("TERM", "xterm", 1);
  const std::string seen = seen_on_terminal([](int fd) {
    ProgressLine line("a.bin", fd, std::chrono::seconds(0));
    line.clear();
    line.step("reading samples", 1, 2);
    line.clear();
    line.clear();
  });
  EXPECT_EQ(seen, "\rqperf: a.bin: reading samples 50 %\x1b[K\r\x1b[K");
}

TEST(ProgressLine, ShortWorkShowsNothing) {
  setenv("TERM", "xterm", 1);
  EXPECT_EQ(seen_on_terminal([](int fd) {
              ProgressLine line("a.bin", fd, std::chrono::hours(1));
              line.step("reading samples", 43, 100);
            }),
            "");
}

TEST(ProgressLine, OtherTerminalsAndFilesGetNothing) {
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(seen_on_terminal([](int fd) {
              ProgressLine line("a.bin", fd, std::chrono::seconds(0));
              line.step("reading samples", 43, 100);
            }),
            "");
  setenv("TERM", "xterm", 1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ProgressLine line("a.bin", ends[1], std::chrono::seconds(0));
    line.step("reading samples", 43, 100);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(ProgressLine, NamesFromOutsideCannotDriveTheTerminal) {
  setenv("TERM", "xterm", 1);
  const std::string seen = seen_on_terminal([](int fd) {
    ProgressLine line("a\x1b]0;title\a.bin", fd, std::chrono::seconds(0));
    line.step("reading samples", 1, 2);
  });
  EXPECT_EQ(seen.find("\x1b]"), std::string::npos);
}

TEST(ProgressText, FitsOneRowAndNeverExceedsTheWhole) {
  EXPECT_EQ(progress_text("a", "x", 1, 0, 80), "qperf: a: x");
  EXPECT_EQ(progress_text("a", "x", UINT64_MAX, UINT64_MAX, 80), "qperf: a: x 100 %");
  EXPECT_EQ(progress_text("a", "x", 5, 4, 80), "qperf: a: x 100 %");
  EXPECT_EQ(progress_text(std::string(200, 'a'), "x", 1, 2, 80).size(), 79U);
  EXPECT_EQ(progress_text("a", "x", 1, 2, 0), "");
  for (size_t columns = 1; columns < 40; ++columns) EXPECT_LT(progress_text("/some/path/a.bin", "reading", 1, 2, columns).size(), columns);
}

TEST(ProgressText, ALongPathLosesItsBeginning) {
  EXPECT_EQ(progress_text("boot/captures/june/a.bin", "reading samples", 43, 100, 38), "qperf: ...a.bin: reading samples 43 %");
  EXPECT_EQ(progress_text("boot/captures/june/a.bin", "reading samples", 43, 100, 34), "qperf: ...n: reading samples 43 %");
  EXPECT_EQ(progress_text("boot/captures/june/a.bin", "reading samples", 43, 100, 32), "qperf: ..: reading samples 43 %");
  EXPECT_EQ(progress_text("boot/captures/june/a.bin", "reading samples", 43, 100, 22), "qperf: : reading samp");
  // No half of a character.
  EXPECT_EQ(progress_text("/x/\u00e9.bin", "x", 1, 2, 24), "qperf: ....bin: x 50 %");
}

}  // namespace
}  // namespace qperf::tools
