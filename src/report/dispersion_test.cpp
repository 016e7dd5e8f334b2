#include "report/dispersion.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace qperf::report {
namespace {

using Side = std::vector<Run>;  // inside a test "Run" is GoogleTest's

constexpr size_t kFunctions = 20;

class Runs {
 public:
  Runs() {
    for (size_t i = 0; i < kFunctions; ++i) {
      const std::vector stack{names.frames.intern({.name = "f" + std::to_string(i), .file = "", .line = 0})};
      stacks.push_back(names.stacks.intern(stack));
    }
  }

  /// Samples drawn from a profile that is the same for all runs but for a part of each, which is the run's own.
  Run draw(uint64_t samples, double own) {
    std::vector<double> shares;
    std::uniform_real_distribution<double> any(0, 1);
    for (size_t i = 0; i < kFunctions; ++i) shares.push_back(1.0 / kFunctions + own * any(random));
    std::discrete_distribution<size_t> one(shares.begin(), shares.end());
    std::vector<uint64_t> weights(kFunctions);
    for (uint64_t i = 0; i < samples; ++i) ++weights[one(random)];
    return of(weights, samples);
  }

  Run of(const std::vector<uint64_t>& weights, uint64_t samples) {
    Run run;
    for (size_t i = 0; i < weights.size(); ++i)
      if (weights[i] != 0) run.rows.push_back({0, stacks[i], weights[i]});
    run.samples = samples;
    return run;
  }

  double of_side(const Side& side) { return dispersion(side, {}, keys_by_stable_name(names.frames), names); }

  profile::NamedStacks names;
  std::vector<profile::StackId> stacks;
  std::mt19937_64 random{7};
};

TEST(Dispersion, IsOneWhereChanceExplainsAll) {
  Runs runs;
  Side side;
  for (int i = 0; i < 10; ++i) side.push_back(runs.draw(10'000, 0));
  // 171 degrees of freedom: a standard deviation of 0.11.
  EXPECT_NEAR(runs.of_side(side), 1, 0.4);
}

TEST(Dispersion, GrowsWithWhatRunsDifferBy) {
  Runs runs;
  Side side;
  for (int i = 0; i < 5; ++i) side.push_back(runs.draw(10'000, 0.02));
  EXPECT_GT(runs.of_side(side), 5);
}

TEST(Dispersion, IsNoneWithoutTwoRunsOfASideOrTwoFunctions) {
  Runs runs;
  const Side one{runs.draw(1000, 0)};
  const Side other{runs.draw(1000, 1)};
  const FrameKeys keys = keys_by_stable_name(runs.names.frames);
  EXPECT_EQ(dispersion(one, other, keys, runs.names), 0);
  EXPECT_EQ(runs.of_side({runs.of({50}, 50), runs.of({80}, 80)}), 0);
  EXPECT_EQ(runs.of_side({runs.of({}, 0), runs.of({}, 0)}), 0);
  EXPECT_EQ(runs.of_side({}), 0);
}

TEST(Dispersion, KnownValue) {
  Runs runs;
  // 30:70 and 50:50 of 100 each: chi-square 8.333 with one degree of freedom.
  EXPECT_NEAR(runs.of_side({runs.of({30, 70}, 100), runs.of({50, 50}, 100)}), 8.333, 0.001);
  // The same with weights of ten ticks a sample.
  EXPECT_NEAR(runs.of_side({runs.of({300, 700}, 100), runs.of({500, 500}, 100)}), 8.333, 0.001);
}

TEST(TellingSamples, AreFewerTheMoreRunsDiffer) {
  Runs runs;
  const Side side{runs.of({30, 70}, 100), runs.of({50, 50}, 100)};
  EXPECT_EQ(telling_samples(side, 4), 50U);
  EXPECT_EQ(telling_samples(side, 0.5), 200U);
  EXPECT_EQ(telling_samples(side, 0), 200U);
  const Side exact{runs.of({3000, 7000}, 0), runs.of({3001, 7001}, 0)};
  EXPECT_EQ(telling_samples(exact, 0), 0U);
  EXPECT_EQ(telling_samples(exact, 2), 10001U);
  EXPECT_EQ(telling_samples(exact, 1e300), 1U);
}

}  // namespace
}  // namespace qperf::report
