#include "sched/oddity.h"

namespace qperf::sched {

std::string_view oddity_name(Oddity oddity) noexcept {
  switch (oddity) {
    case Oddity::kWakeBeforeSwitchOut: return "wake before switch-out";
    case Oddity::kWakeOfCurrentTask: return "wake of the current task";
    case Oddity::kReadyAfterBlock: return "ready after a block";
    case Oddity::kLateWake: return "late wake";
    case Oddity::kWakeOfRunnable: return "wake of a runnable task";
    case Oddity::kWakeOfRunning: return "wake of a running task";
    case Oddity::kWakeOfExited: return "wake of an exited task";
    case Oddity::kStaleWake: return "wake of an earlier block";
    case Oddity::kWakeOfLaterBlock: return "wake of a later block";
    case Oddity::kEnqueueWithoutWake: return "enqueue without wake";
    case Oddity::kRunWithoutWake: return "run without wake";
    case Oddity::kBlockedWithoutBlock: return "blocked without block event";
    case Oddity::kBlockTwice: return "block twice";
    case Oddity::kBlockWhileOffCpu: return "block while off the CPU";
    case Oddity::kBlockSequenceJump: return "block sequence jump";
    case Oddity::kSwitchFromOther: return "switch from another task";
    case Oddity::kSwitchFromNotRunning: return "switch from a task that was not running";
    case Oddity::kRunningTwice: return "running on two vCPUs";
    case Oddity::kSwitchToItself: return "switch to itself";
    case Oddity::kLeftRunning: return "left in state running";
    case Oddity::kUnknownState: return "left in an unknown state";
    case Oddity::kExitedWithoutExit: return "exited without exit event";
    case Oddity::kExitStateMismatch: return "left in another state after exit";
    case Oddity::kExitWhileOffCpu: return "exit while off the CPU";
    case Oddity::kExitTwice: return "exit twice";
    case Oddity::kExitWithoutSwitch: return "exit without switch";
    case Oddity::kRunAfterExit: return "run after exit";
    case Oddity::kEventAfterExit: return "event after exit";
    case Oddity::kEnqueueWhileRunning: return "enqueue while running";
    case Oddity::kEventWhileHalted: return "event while halted";
    case Oddity::kIdleTwice: return "idle twice";
    case Oddity::kResumeWithoutIdle: return "resume without idle";
    case Oddity::kUnknownPhaseMark: return "unknown phase mark";
    case Oddity::kClockWentBack: return "clock went back";
    case Oddity::kTooManyTasks: return "too many tasks";
  }
  return "";
}

}  // namespace qperf::sched
