#include "report/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace qperf::report {
namespace {

using profile::FrameId;
using Side = std::vector<Run>;  // inside a test "Run" is GoogleTest's

class Runs {
 public:
  FrameId frame(const std::string& name) { return names.frames.intern({.name = name, .file = "", .line = 0}); }

  /// Functions called by main, each with a weight; the value is a share in percent.
  Run run(const std::vector<std::pair<std::string, uint64_t>>& weights, uint64_t samples) {
    Run run;
    uint64_t sum = 0;
    for (const auto& [name, weight] : weights) {
      const std::vector<FrameId> stack{frame("main"), frame(name)};
      run.rows.push_back({0, names.stacks.intern(stack), weight});
      sum += weight;
    }
    run.samples = samples;
    run.value_per_weight = 100.0 / static_cast<double>(sum);
    return run;
  }

  FunctionChange change(const std::vector<Run>& before, const std::vector<Run>& after, std::string_view name) {
    const FrameKeys keys = keys_by_stable_name(names.frames);
    for (const FunctionChange& change : compare(before, after, keys, names).functions)
      if (keys.names[change.key] == name) return change;
    ADD_FAILURE() << "no function " << name;
    return {};
  }

  profile::NamedStacks names;
};

TEST(StableName, LeavesOutWhatChangesBetweenBuilds) {
  EXPECT_EQ(stable_name("core::fmt::write::h0123456789abcdef"), "core::fmt::write");
  EXPECT_EQ(stable_name("do_read.llvm.1234567890"), "do_read");
  EXPECT_EQ(stable_name("do_read.isra.0.constprop.3"), "do_read");
  EXPECT_EQ(stable_name("version.2"), "version.2");
  EXPECT_EQ(stable_name("::h0123456789abcdef"), "::h0123456789abcdef");
  EXPECT_EQ(stable_name("hash::h0123456789abcdeg"), "hash::h0123456789abcdeg");
}

TEST(Compare, ExactCountsCountEveryDifference) {
  Runs runs;
  const Side before{runs.run({{"a", 500}, {"b::h0000000000000001", 500}}, 0)};
  const Side after{runs.run({{"a", 500}, {"b::h0000000000000002", 499}, {"c", 1}}, 0)};
  EXPECT_FALSE(runs.change(before, after, "a").self.counts());
  const auto b = runs.change(before, after, "b");
  EXPECT_NEAR(b.self.delta(), -0.1, 1e-9);
  EXPECT_TRUE(b.self.counts());
  const auto c = runs.change(before, after, "c");
  EXPECT_FALSE(c.in_before);
  EXPECT_TRUE(c.in_after);
  EXPECT_TRUE(c.self.counts());
  const auto all = runs.change(before, after, "main");
  EXPECT_NEAR(all.total.delta(), 0, 1e-9);
  EXPECT_FALSE(all.total.counts());
}

TEST(Compare, SampledSharesNeedMoreThanTheSamplingError) {
  Runs runs;
  // 10 % of 1000 samples on both sides: 3 sigma of the difference is 3 * sqrt(0.1 * 0.9 * 2 / 1000) = 4.02 points, a sample 0.1.
  const Side before{runs.run({{"a", 100}, {"b", 900}}, 1000)};
  const Side close{runs.run({{"a", 130}, {"b", 870}}, 1000)};
  const Side far{runs.run({{"a", 160}, {"b", 840}}, 1000)};
  const Side same{runs.run({{"a", 100}, {"b", 900}}, 1000)};
  EXPECT_NEAR(*runs.change(before, same, "a").self.noise, 4.12, 0.01);
  EXPECT_FALSE(runs.change(before, close, "a").self.counts());
  EXPECT_TRUE(runs.change(before, far, "a").self.counts());
  EXPECT_TRUE(runs.change(before, far, "b").self.counts());
}

TEST(Compare, SeveralRunsTellTheirSpread) {
  Runs runs;
  const auto noisy = [&](std::initializer_list<uint64_t> weights) {
    Side side;
    for (const uint64_t weight : weights) side.push_back(runs.run({{"a", weight}, {"b", 1000000 - weight}}, 1000000));
    return side;
  };
  // Sampling alone would call a difference of one point a change; the runs differ by more than that among themselves.
  const auto before = noisy({100000, 120000, 140000});
  EXPECT_FALSE(runs.change(before, noisy({110000, 130000, 150000}), "a").self.counts());
  EXPECT_TRUE(runs.change(before, noisy({400000, 420000, 440000}), "a").self.counts());
  // One run on one side: the other's spread is taken for both.
  EXPECT_FALSE(runs.change(before, noisy({150000}), "a").self.counts());
  EXPECT_TRUE(runs.change(before, noisy({400000}), "a").self.counts());
}

TEST(Compare, SumsOfSingleRunsHaveNoKnownNoise) {
  Runs runs;
  const Side one{runs.run({{"a", 10}}, 10)};
  const FrameKeys keys = keys_by_stable_name(runs.names.frames);
  EXPECT_FALSE(compare(one, one, keys, runs.names).all.noise);
}

TEST(Compare, TakesWeightsByAnyKey) {
  const auto run = [](double first, double second) {
    return KeyedRun{.self = {first, second}, .total = {first + second, second}, .sum = first + second, .value_per_weight = 1, .samples = 0};
  };
  const std::vector<KeyedRun> before{run(10, 30)};
  const std::vector<KeyedRun> after{run(10, 50)};
  const Comparison comparison = compare(before, after);
  ASSERT_EQ(comparison.functions.size(), 2U);
  EXPECT_FALSE(comparison.functions[0].self.counts());
  EXPECT_EQ(comparison.functions[0].total.delta(), 20);
  EXPECT_TRUE(comparison.functions[1].self.counts());
  EXPECT_EQ(comparison.all.after, 60);
}

// Both sides are drawn from one distribution: hardly anything may count as a change.
TEST(Compare, EqualSidesDifferSeldom) {
  std::mt19937 random(11);
  std::discrete_distribution<int> draw({1, 2, 3, 5, 8, 13, 21, 34});
  int counted = 0;
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    Runs runs;
    const auto side = [&] {
      std::vector<std::pair<std::string, uint64_t>> weights;
      for (int i = 0; i < 8; ++i) weights.emplace_back(std::string(1, static_cast<char>('a' + i)), 0);
      for (int i = 0; i < 2000; ++i) ++weights[static_cast<size_t>(draw(random))].second;
      return Side{runs.run(weights, 2000)};
    };
    const auto before = side();
    const auto after = side();
    const FrameKeys keys = keys_by_stable_name(runs.names.frames);
    for (const auto& change : compare(before, after, keys, runs.names).functions) {
      ++compared;
      counted += change.self.counts() ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 1000);
  EXPECT_LT(counted, compared / 100);
}

// The same with a short run against a long one, and many functions that have a sample now and then.
TEST(Compare, RareFunctionsOfAShortRunAreNoChange) {
  std::mt19937 random(7);
  std::vector<double> weights;
  for (int i = 1; i <= 300; ++i) weights.push_back(1.0 / i);
  std::discrete_distribution<int> draw(weights.begin(), weights.end());
  int counted = 0;
  int compared = 0;
  for (int round = 0; round < 40; ++round) {
    Runs runs;
    const auto side = [&](int samples) {
      std::vector<std::pair<std::string, uint64_t>> drawn;
      for (int i = 0; i < 300; ++i) drawn.emplace_back("f" + std::to_string(i), 0);
      for (int i = 0; i < samples; ++i) ++drawn[static_cast<size_t>(draw(random))].second;
      return Side{runs.run(drawn, static_cast<uint64_t>(samples))};
    };
    const auto before = side(5000);
    const auto after = side(50);
    const FrameKeys keys = keys_by_stable_name(runs.names.frames);
    for (const auto& change : compare(before, after, keys, runs.names).functions) {
      ++compared;
      counted += change.self.counts() ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 5000);
  EXPECT_LT(counted, compared / 200) << compared;
}

}  // namespace
}  // namespace qperf::report
