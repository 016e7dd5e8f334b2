#include "qemutrace/input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

namespace qperf::qemutrace {
namespace {

constexpr size_t kBytes = size_t{5} << 20;

TEST(Input, TellsHowFarAFileIsRead) {
  const std::string path = testing::TempDir() + "/input_test.bytes";
  std::ofstream(path) << std::string(kBytes, 'x');
  std::vector<uint64_t> told;
  Input::Options options;
  options.progress = [&](uint64_t done, uint64_t whole) {
    EXPECT_EQ(whole, kBytes);
    told.push_back(done);
  };
  auto opened = Input::open(path, std::move(options));
  ASSERT_TRUE(opened);
  Input input = *std::move(opened);
  for (auto bytes = input.peek(1); !bytes.empty(); bytes = input.peek(1)) input.consume(bytes.size());
  std::remove(path.c_str());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.front(), 0U);
  EXPECT_EQ(told.back(), kBytes);
  // Often enough to be seen, seldom enough to cost nothing.
  EXPECT_GE(told.size(), 4U);
  EXPECT_LE(told.size(), 20U);
}

}  // namespace
}  // namespace qperf::qemutrace
