#include "export/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace qperf::exporter {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "qperf-output-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string contents(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsOnlyWhenCommitted) {
  const auto path = folder_ / "out";
  {
    auto file = OutputFile::create(path.string());
    ASSERT_TRUE(file.ok());
    (*file)->write("half");
  }
  EXPECT_EQ(entries(), 0U);
  auto file = OutputFile::create(path.string());
  ASSERT_TRUE(file.ok());
  (*file)->write(std::string(1 << 20, 'x'));
  (*file)->write("end");
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE((*file)->commit().ok());
  EXPECT_EQ(contents(path).size(), (1U << 20) + 3);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, LeavesNothingBehindHoweverTheProgramEnds) {
  const auto path = folder_ / "out";
  std::ofstream(path) << "old";
  // Where a file cannot be without a name there is one to be left.
  const int unnamed = open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (unnamed < 0) GTEST_SKIP() << folder_ << " has no unnamed files";
  close(unnamed);
  const pid_t child = fork();
  if (child == 0) {
    const auto file = OutputFile::create(path.string());
    if (file.ok()) (*file)->write(std::string(1 << 20, 'x'));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(contents(path), "old");
}

TEST_F(OutputFileTest, ReplacesAnOlderFileAfterItWasFinished) {
  const auto path = folder_ / "out";
  std::ofstream(path) << "older and longer";
  auto file = OutputFile::create(path.string());
  ASSERT_TRUE(file.ok());
  (*file)->write("new");
  ASSERT_TRUE((*file)->finish().ok());
  EXPECT_EQ(contents(path), "older and longer");
  ASSERT_TRUE((*file)->commit().ok());
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFileTest, KeepsThePermissionsAndTheLinkOfAnOlderFile) {
  const auto path = folder_ / "real";
  std::ofstream(path) << "old";
  fs::permissions(path, fs::perms(0640));
  fs::create_symlink("real", folder_ / "link");
  auto file = OutputFile::create((folder_ / "link").string());
  ASSERT_TRUE(file.ok());
  (*file)->write("new");
  ASSERT_TRUE((*file)->commit().ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, WritesDevicesDirectlyAndTellsWhenTheyAreFull) {
  auto null = OutputFile::create("/dev/null");
  ASSERT_TRUE(null.ok());
  (*null)->write("x");
  EXPECT_TRUE((*null)->commit().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  auto full = OutputFile::create("/dev/full");
  ASSERT_TRUE(full.ok());
  (*full)->write("x");
  const auto result = (*full)->commit();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("/dev/full: cannot be written: No space left"), std::string::npos);
}

TEST_F(OutputFileTest, RefusesAFolderThatIsNotThere) {
  const auto file = OutputFile::create((folder_ / "no" / "out").string());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace qperf::exporter
