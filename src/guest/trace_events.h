#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The values that a guest passes to its trace marker (docs/guest-trace-abi.md). All of them come from the guest: any number
/// can stand anywhere, and one without a name is shown as a number.
namespace qperf::guest {

/// The exported symbol of the marker function.
inline constexpr std::string_view kTraceMarkerSymbol = "__pulse_qperf_trace_v1";

inline constexpr size_t kTraceArguments = 5;
inline constexpr size_t kTraceNameBytes = 16;

namespace trace_kind {
inline constexpr uint64_t kMetadata = 1;
inline constexpr uint64_t kSwitch = 2;
inline constexpr uint64_t kBlock = 3;
inline constexpr uint64_t kWake = 4;
inline constexpr uint64_t kExit = 5;
inline constexpr uint64_t kEnqueue = 6;
inline constexpr uint64_t kPhase = 7;
}  // namespace trace_kind

namespace task_state {
inline constexpr uint64_t kRunning = 1;
inline constexpr uint64_t kReady = 2;
inline constexpr uint64_t kBlocked = 3;
inline constexpr uint64_t kExited = 4;
}  // namespace task_state

namespace enqueue_reason {
inline constexpr uint64_t kSpawn = 1;
inline constexpr uint64_t kWake = 2;
inline constexpr uint64_t kPreempt = 3;
inline constexpr uint64_t kYield = 4;
inline constexpr uint64_t kAffinityMigration = 5;
inline constexpr uint64_t kDeferredWake = 6;
inline constexpr uint64_t kWorkSteal = 7;
}  // namespace enqueue_reason

namespace phase_mark {
inline constexpr uint64_t kBegin = 1;
inline constexpr uint64_t kEnd = 2;
}  // namespace phase_mark

/// What a block event's resource id is, by its reason: decides whether a profile may show it.
enum class ResourceIdentity : uint8_t {
  kNone,     // a deadline or nothing: no two waits share it
  kAddress,  // a lock, queue or key
  kPid,      // a process
  kUnknown,  // the reason is not known: shown only where it looks like a kernel address
};

/// "switch"; a number without a name comes out as "kind#9".
[[nodiscard]] std::string trace_kind_name(uint64_t kind);
/// "mutex"; else "reason#99".
[[nodiscard]] std::string wait_reason_name(uint64_t reason);
/// "timer"; else "source#99".
[[nodiscard]] std::string wake_source_name(uint64_t source);
/// "preempt"; else "reason#99".
[[nodiscard]] std::string enqueue_reason_name(uint64_t reason);
/// "blocked"; else "state#99".
[[nodiscard]] std::string task_state_name(uint64_t state);

[[nodiscard]] ResourceIdentity resource_identity(uint64_t wait_reason) noexcept;

/// Named values by number, from `first` on: for tables in reports and tests.
struct NameTable {
  uint64_t first;
  std::span<const std::string_view> names;
};
[[nodiscard]] NameTable trace_kinds() noexcept;
[[nodiscard]] NameTable wait_reasons() noexcept;
[[nodiscard]] NameTable wake_sources() noexcept;
[[nodiscard]] NameTable enqueue_reasons() noexcept;
[[nodiscard]] NameTable task_states() noexcept;

/// The bytes of two little-endian argument words without their NUL padding. Untrusted, not yet printable.
[[nodiscard]] std::string trace_name(uint64_t low, uint64_t high);

/// The reverse, for tests and converters: at most kTraceNameBytes are kept.
[[nodiscard]] std::array<uint64_t, 2> trace_name_words(std::string_view name) noexcept;

}  // namespace qperf::guest
