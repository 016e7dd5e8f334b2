#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace qperf::sched {

/// Transitions that the convention does not promise. Each has a row of this name in docs/off-cpu.md that says what is done.
enum class Oddity : uint8_t {
  kWakeBeforeSwitchOut,
  kWakeOfCurrentTask,
  kReadyAfterBlock,
  kLateWake,
  kWakeOfRunnable,
  kWakeOfRunning,
  kWakeOfExited,
  kStaleWake,
  kWakeOfLaterBlock,
  kEnqueueWithoutWake,
  kRunWithoutWake,
  kBlockedWithoutBlock,
  kBlockTwice,
  kBlockWhileOffCpu,
  kBlockSequenceJump,
  kSwitchFromOther,
  kSwitchFromNotRunning,
  kRunningTwice,
  kSwitchToItself,
  kLeftRunning,
  kUnknownState,
  kExitedWithoutExit,
  kExitStateMismatch,
  kExitWhileOffCpu,
  kExitTwice,
  kExitWithoutSwitch,
  kRunAfterExit,
  kEventAfterExit,
  kEnqueueWhileRunning,
  kEventWhileHalted,
  kIdleTwice,
  kResumeWithoutIdle,
  kUnknownPhaseMark,
  kClockWentBack,
  kTooManyTasks,
};
inline constexpr size_t kOddityCount = static_cast<size_t>(Oddity::kTooManyTasks) + 1;

using OddCounts = std::array<uint64_t, kOddityCount>;

/// "wake before switch-out".
[[nodiscard]] std::string_view oddity_name(Oddity oddity) noexcept;

}  // namespace qperf::sched
