#include "guest/trace_events.h"

#include <fmt/core.h>

#include <algorithm>

namespace qperf::guest {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKinds = {"metadata"sv, "switch"sv, "block"sv, "wake"sv, "exit"sv, "enqueue"sv, "phase"sv};

struct WaitReason {
  std::string_view name;
  ResourceIdentity resource;
};
constexpr std::array kWaitReasonFacts = {
    WaitReason{"wait queue"sv, ResourceIdentity::kAddress},
    WaitReason{"future"sv, ResourceIdentity::kAddress},
    WaitReason{"multi-wait"sv, ResourceIdentity::kAddress},
    WaitReason{"sleep"sv, ResourceIdentity::kNone},
    WaitReason{"mutex"sv, ResourceIdentity::kAddress},
    WaitReason{"rwlock read"sv, ResourceIdentity::kAddress},
    WaitReason{"rwlock write"sv, ResourceIdentity::kAddress},
    WaitReason{"futex"sv, ResourceIdentity::kAddress},
    WaitReason{"futex-waitv"sv, ResourceIdentity::kAddress},
    WaitReason{"virtio-blk read"sv, ResourceIdentity::kAddress},
    WaitReason{"virtio-blk write"sv, ResourceIdentity::kAddress},
    WaitReason{"gc"sv, ResourceIdentity::kAddress},
    WaitReason{"child wait"sv, ResourceIdentity::kPid},
    WaitReason{"vfork"sv, ResourceIdentity::kPid},
    WaitReason{"signal"sv, ResourceIdentity::kPid},
    WaitReason{"network poll"sv, ResourceIdentity::kAddress},
    WaitReason{"virtio-blk queue full"sv, ResourceIdentity::kAddress},
};
constexpr std::array kWaitReasons = [] {
  std::array<std::string_view, kWaitReasonFacts.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kWaitReasonFacts[i].name;
  return names;
}();

constexpr std::array kWakeSources = {"unknown"sv, "task"sv, "timer"sv, "future"sv, "futex"sv, "device"sv, "signal"sv, "interrupt"sv};
constexpr std::array kEnqueueReasons = {"spawn"sv, "wake"sv, "preempt"sv, "yield"sv, "affinity migration"sv, "deferred wake"sv,
                                        "work steal"sv};
constexpr std::array kTaskStates = {"running"sv, "ready"sv, "blocked"sv, "exited"sv};

std::string name_in(NameTable table, uint64_t value, std::string_view what) {
  // '#' and no space before the number: a folded line's leaf that ended in " 99" would be read as a count.
  if (value < table.first || value - table.first >= table.names.size()) return fmt::format("{}#{}", what, value);
  return std::string(table.names[value - table.first]);
}

}  // namespace

NameTable trace_kinds() noexcept { return {1, kKinds}; }
NameTable wait_reasons() noexcept { return {1, kWaitReasons}; }
NameTable wake_sources() noexcept { return {0, kWakeSources}; }
NameTable enqueue_reasons() noexcept { return {1, kEnqueueReasons}; }
NameTable task_states() noexcept { return {1, kTaskStates}; }

std::string trace_kind_name(uint64_t kind) { return name_in(trace_kinds(), kind, "kind"); }
std::string wait_reason_name(uint64_t reason) { return name_in(wait_reasons(), reason, "reason"); }
std::string wake_source_name(uint64_t source) { return name_in(wake_sources(), source, "source"); }
std::string enqueue_reason_name(uint64_t reason) { return name_in(enqueue_reasons(), reason, "reason"); }
std::string task_state_name(uint64_t state) { return name_in(task_states(), state, "state"); }

ResourceIdentity resource_identity(uint64_t wait_reason) noexcept {
  if (wait_reason < 1 || wait_reason > kWaitReasonFacts.size()) return ResourceIdentity::kUnknown;
  return kWaitReasonFacts[wait_reason - 1].resource;
}

std::string trace_name(uint64_t low, uint64_t high) {
  std::string name;
  for (size_t i = 0; i < kTraceNameBytes; ++i) {
    const uint64_t word = i < 8 ? low : high;
    name.push_back(static_cast<char>(static_cast<uint8_t>(word >> (8 * (i % 8)))));
  }
  name.resize(std::min(name.find('\0'), name.size()));
  return name;
}

std::array<uint64_t, 2> trace_name_words(std::string_view name) noexcept {
  std::array<uint64_t, 2> words{};
  for (size_t i = 0; i < std::min(name.size(), kTraceNameBytes); ++i)
    words[i / 8] |= uint64_t{static_cast<uint8_t>(name[i])} << (8 * (i % 8));
  return words;
}

}  // namespace qperf::guest
