#include "report/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "base/keyed_hash.h"

namespace qperf::report {
namespace {

/// Standard errors that a difference of samples must pass, and the chance that Student's t leaves on each side.
constexpr double kSamplingSigmas = 3;

/// Student's t at 97.5 % for 1 to 30 degrees of freedom.
constexpr std::array<double, 30> kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                          2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                          2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kStudentLimit = 1.960;

double student(double degrees) {
  const auto whole = static_cast<size_t>(std::max(degrees, 1.0));
  return whole <= kStudent.size() ? kStudent[whole - 1] : kStudentLimit;
}

/// The values of one side's runs.
struct Sample {
  double mean = 0;
  double variance = 0;  // of one run; 0 with a single one
  double runs = 0;

  explicit Sample(std::span<const double> values) : runs(static_cast<double>(values.size())) {
    for (const double value : values) mean += value / runs;
    if (values.size() < 2) return;
    for (const double value : values) variance += (value - mean) * (value - mean) / (runs - 1);
  }
};

/// Half the width of the interval that the difference of the means lies in by chance (Welch); nullopt: one run a side.
std::optional<double> spread(const Sample& before, const Sample& after) {
  if (before.runs < 2 && after.runs < 2) return std::nullopt;
  if (before.runs < 2 || after.runs < 2) {
    const Sample& known = before.runs < 2 ? after : before;
    return student(known.runs - 1) * std::sqrt(known.variance * (1 / before.runs + 1 / after.runs));
  }
  const double a = before.variance / before.runs;
  const double b = after.variance / after.runs;
  if (a + b == 0) return 0;
  const double degrees = (a + b) * (a + b) / (a * a / (before.runs - 1) + b * b / (after.runs - 1));
  return student(degrees) * std::sqrt(a + b);
}

std::vector<KeyedRun> by_key(std::span<const Run> runs, const FrameKeys& keys, const profile::NamedStacks& names) {
  std::vector<KeyedRun> all;
  for (const Run& run : runs) {
    KeyedRun& keyed = all.emplace_back();
    keyed.value_per_weight = run.value_per_weight;
    keyed.samples = run.samples;
    keyed.self.resize(keys.names.size());
    keyed.total.resize(keys.names.size());
    for (const Cost& cost : costs_by(keys, run.rows, names)) {
      keyed.self[cost.key] = static_cast<double>(cost.self);
      keyed.total[cost.key] = static_cast<double>(cost.total);
    }
    for (const Row& row : run.rows) keyed.sum += static_cast<double>(row.weight);
  }
  return all;
}

/// One side: its runs, and the same pooled.
class Side {
 public:
  explicit Side(std::span<const KeyedRun> runs) : runs_(runs) {
    for (const KeyedRun& run : runs_) {
      samples_ += static_cast<double>(run.samples);
      sum_ += run.sum;
      value_of_all_ += run.sum * run.value_per_weight / static_cast<double>(runs_.size());
    }
  }

  [[nodiscard]] std::vector<double> values(std::vector<double> KeyedRun::* of, uint32_t key) const {
    std::vector<double> values;
    for (const KeyedRun& run : runs_) values.push_back((run.*of)[key] * run.value_per_weight);
    return values;
  }
  [[nodiscard]] std::vector<double> sums() const {
    std::vector<double> values;
    for (const KeyedRun& run : runs_) values.push_back(run.sum * run.value_per_weight);
    return values;
  }
  [[nodiscard]] double weight(std::vector<double> KeyedRun::* of, uint32_t key) const {
    double sum = 0;
    for (const KeyedRun& run : runs_) sum += (run.*of)[key];
    return sum;
  }
  /// The share of the key in all runs together.
  [[nodiscard]] double share(std::vector<double> KeyedRun::* of, uint32_t key) const {
    return sum_ > 0 ? weight(of, key) / sum_ : 0;
  }
  [[nodiscard]] double samples() const noexcept { return samples_; }
  [[nodiscard]] double value_of_all() const noexcept { return value_of_all_; }

 private:
  std::span<const KeyedRun> runs_;
  double samples_ = 0;
  double sum_ = 0;
  double value_of_all_ = 0;
};

/// What sampling alone makes two equal functions differ by: docs/accuracy.md's formula, with the share of both sides together, and one
/// sample of the side that has fewer: where hardly any are expected the formula's error is no longer normal, and a single one would count.
double sampling_noise(const Side& before, const Side& after, std::vector<double> KeyedRun::* of, uint32_t key) {
  const double samples = before.samples() + after.samples();
  if (samples == 0) return 0;
  const double share =
      (before.share(of, key) * before.samples() + after.share(of, key) * after.samples()) / samples;
  const auto variance = [&](const Side& side) {
    if (side.samples() == 0) return 0.0;
    return share * (1 - share) / side.samples() * side.value_of_all() * side.value_of_all();
  };
  const auto one_sample = [](const Side& side) { return side.samples() == 0 ? 0.0 : side.value_of_all() / side.samples(); };
  return kSamplingSigmas * std::sqrt(std::max(0.0, variance(before) + variance(after))) + std::max(one_sample(before), one_sample(after));
}

Change change_of(const Side& before, const Side& after, std::vector<double> KeyedRun::* of, uint32_t key) {
  const Sample old_values(before.values(of, key));
  const Sample new_values(after.values(of, key));
  // Few runs can agree by chance: the noise is never less than that of sampling.
  const double sampling = sampling_noise(before, after, of, key);
  return {old_values.mean, new_values.mean, std::max(spread(old_values, new_values).value_or(0), sampling)};
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Where the suffix ".NNN" begins; npos: there is none.
size_t number_suffix(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot != std::string_view::npos && is_number(name.substr(dot + 1)) ? dot : std::string_view::npos;
}

}  // namespace

std::string stable_name(std::string_view name) {
  constexpr std::string_view kNumbered[] = {".llvm", ".constprop", ".isra", ".part", ".lto_priv", ".cold"};
  for (size_t dot = number_suffix(name); dot != std::string_view::npos; dot = number_suffix(name)) {
    const std::string_view stem = name.substr(0, dot);
    const auto* word = std::ranges::find_if(kNumbered, [&](std::string_view suffix) { return stem.ends_with(suffix); });
    if (word == std::end(kNumbered)) break;
    name = stem.substr(0, stem.size() - word->size());
  }
  constexpr size_t kHash = 19;  // "::h" and 16 digits
  if (name.size() > kHash && name.substr(name.size() - kHash).starts_with("::h") && is_hex(name.substr(name.size() - kHash + 3)))
    name.remove_suffix(kHash);
  return std::string(name);
}

FrameKeys keys_by_stable_name(const profile::FrameTable& frames) {
  FrameKeys keys;
  std::unordered_map<std::string, uint32_t, KeyedHash> known;
  for (uint32_t i = 0; i < frames.size(); ++i) {
    std::string name = stable_name(frames[profile::FrameId{i}].name);
    const auto [entry, added] = known.try_emplace(name, static_cast<uint32_t>(keys.names.size()));
    if (added) {
      keys.names.push_back(std::move(name));
      keys.first_frame.push_back(profile::FrameId{i});
    }
    keys.of_frame.push_back(entry->second);
  }
  return keys;
}

Comparison compare(std::span<const KeyedRun> before, std::span<const KeyedRun> after) {
  const Side old_side(before);
  const Side new_side(after);
  Comparison comparison;
  for (uint32_t key = 0; key < after.front().self.size(); ++key) {
    FunctionChange change;
    change.key = key;
    change.in_before = old_side.weight(&KeyedRun::total, key) > 0;
    change.in_after = new_side.weight(&KeyedRun::total, key) > 0;
    if (!change.in_before && !change.in_after) continue;
    change.self = change_of(old_side, new_side, &KeyedRun::self, key);
    change.total = change_of(old_side, new_side, &KeyedRun::total, key);
    comparison.functions.push_back(change);
  }
  const Sample old_sums(old_side.sums());
  const Sample new_sums(new_side.sums());
  comparison.all = {old_sums.mean, new_sums.mean, spread(old_sums, new_sums)};
  return comparison;
}

Comparison compare(std::span<const Run> before, std::span<const Run> after, const FrameKeys& keys,
                   const profile::NamedStacks& names) {
  return compare(by_key(before, keys, names), by_key(after, keys, names));
}

}  // namespace qperf::report
