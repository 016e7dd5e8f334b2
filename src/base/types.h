#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace qperf {

/// An address in the guest's virtual address space. Never converts to a host pointer.
struct GuestVa {
  uint64_t raw = 0;

  friend constexpr auto operator<=>(GuestVa, GuestVa) = default;
  /// Wraps modulo 2^64, as guest arithmetic does.
  friend constexpr GuestVa operator+(GuestVa a, int64_t bytes) noexcept {
    return GuestVa{a.raw + static_cast<uint64_t>(bytes)};
  }
  friend constexpr GuestVa operator-(GuestVa a, int64_t bytes) noexcept {
    return GuestVa{a.raw - static_cast<uint64_t>(bytes)};
  }
};

/// A vCPU as QEMU numbers it, from 0.
struct VcpuIndex {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(VcpuIndex, VcpuIndex) = default;
};

/// A task as the guest's trace marker names it. Untrusted: any value.
struct TaskId {
  uint64_t raw = 0;
  friend constexpr auto operator<=>(TaskId, TaskId) = default;
};

/// A range of guest addresses, both ends inclusive so that it can reach 2^64 - 1.
struct GuestRange {
  GuestVa first;
  GuestVa last;  // inclusive

  [[nodiscard]] constexpr bool contains(GuestVa a) const noexcept { return first <= a && a <= last; }
  friend constexpr bool operator==(GuestRange, GuestRange) = default;
};

/// Clocks. Wall ns: CLOCK_MONOTONIC nanoseconds since the plugin was loaded (a relative, monotonic host clock; what QEMU's
/// simple trace back end stamps with, minus the start). Insns: guest kernel instructions executed by one vCPU since it started.
using WallNs = uint64_t;
using Insns = uint64_t;

}  // namespace qperf

template <>
struct std::hash<qperf::GuestVa> {
  size_t operator()(qperf::GuestVa a) const noexcept { return std::hash<uint64_t>{}(a.raw); }
};
