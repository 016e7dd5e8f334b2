#pragma once

#include <cstdint>
#include <span>

#include "report/comparison.h"

namespace qperf::report {

/// How much the runs of a side differ from each other, against what drawing their samples from one profile would make them differ
/// by: chi-square of the functions' self weights over its degrees of freedom, both sides together. About 1 where chance explains all,
/// 0 where no side has two runs. Weights without samples behind them (Run::samples 0) are taken as a sample each.
[[nodiscard]] double dispersion(std::span<const Run> before, std::span<const Run> after, const FrameKeys& keys,
                                const profile::NamedStacks& names);

/// As many samples as would tell as little as those of `runs` do, given the dispersion. 0: exact, no error at all.
[[nodiscard]] uint64_t telling_samples(std::span<const Run> runs, double dispersion);

}  // namespace qperf::report
