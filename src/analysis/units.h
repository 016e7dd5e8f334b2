#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/capture_input.h"

namespace qperf::analysis {

/// What a capture's weights count.
enum class WeightUnit : uint8_t { kTicks, kPeriods, kInstructions, kSamples };

[[nodiscard]] WeightUnit weight_unit(const CaptureInput& input) noexcept;
[[nodiscard]] std::string_view unit_name(WeightUnit unit) noexcept;

/// Nanoseconds per tick, instructions per period: a weight as a quantity that does not depend on the rate. Rounded down,
/// stops at the largest value.
[[nodiscard]] uint64_t weight_as_quantity(const CaptureInput& input, uint64_t weight) noexcept;

}  // namespace qperf::analysis
