#include "report/dispersion.h"

#include <algorithm>
#include <vector>

namespace qperf::report {
namespace {

/// Chi-square is no measure where fewer are expected: such functions are taken together.
constexpr double kLeastExpected = 5;

double weight_of(const Run& run) {
  double sum = 0;
  for (const Row& row : run.rows) sum += static_cast<double>(row.weight);
  return sum;
}

double samples_behind(const Run& run) { return run.samples != 0 ? static_cast<double>(run.samples) : weight_of(run); }

/// Samples by class, a line for each run. Every class has some.
using Counts = std::vector<std::vector<double>>;

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Each function that is expected often enough in every run is a class, all others are one.
Counts counts_of(std::span<const Run> side, const FrameKeys& keys, const profile::NamedStacks& names) {
  Counts by_key;
  std::vector<double> sums(keys.names.size());
  double all = 0;
  double fewest = 0;
  for (const Run& run : side) {
    const double weight = weight_of(run);
    if (weight == 0) continue;
    const double samples = samples_behind(run);
    all += samples;
    fewest = by_key.empty() ? samples : std::min(fewest, samples);
    std::vector<double>& counts = by_key.emplace_back(keys.names.size());
    for (const Cost& cost : costs_by(keys, run.rows, names)) {
      counts[cost.key] = static_cast<double>(cost.self) * samples / weight;
      sums[cost.key] += counts[cost.key];
    }
  }
  Counts classes(by_key.size());
  double rest = 0;
  for (size_t run = 0; run < by_key.size(); ++run) {
    double others = 0;
    for (size_t key = 0; key < sums.size(); ++key) {
      if (sums[key] * fewest >= kLeastExpected * all)
        classes[run].push_back(by_key[run][key]);
      else
        others += by_key[run][key];
    }
    classes[run].push_back(others);
    rest += others;
  }
  if (rest == 0)
    for (auto& line : classes) line.pop_back();
  return classes;
}

struct ChiSquare {
  double sum = 0;
  double degrees = 0;

  void add(const Counts& runs) {
    if (runs.size() < 2 || runs.front().size() < 2) return;
    double all = 0;
    for (const auto& run : runs) all += sum_of(run);
    for (size_t of_class = 0; of_class < runs.front().size(); ++of_class) {
      double in_class = 0;
      for (const auto& run : runs) in_class += run[of_class];
      for (const auto& run : runs) {
        const double expected = in_class * sum_of(run) / all;
        sum += (run[of_class] - expected) * (run[of_class] - expected) / expected;
      }
    }
    degrees += static_cast<double>((runs.size() - 1) * (runs.front().size() - 1));
  }
};

}  // namespace

double dispersion(std::span<const Run> before, std::span<const Run> after, const FrameKeys& keys, const profile::NamedStacks& names) {
  ChiSquare chi_square;
  chi_square.add(counts_of(before, keys, names));
  chi_square.add(counts_of(after, keys, names));
  return chi_square.degrees > 0 ? chi_square.sum / chi_square.degrees : 0;
}

uint64_t telling_samples(std::span<const Run> runs, double dispersion) {
  const bool exact = std::ranges::all_of(runs, [](const Run& run) { return run.samples == 0; });
  double samples = 0;
  for (const Run& run : runs) samples += samples_behind(run);
  if (exact && dispersion == 0) return 0;
  // Samples that differ less than chance would let them tell no more for it; exact counts have no such chance.
  const double telling = samples / (exact ? dispersion : std::max(dispersion, 1.0));
  return static_cast<uint64_t>(std::clamp(telling, 1.0, 9e15));
}

}  // namespace qperf::report
