#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "sampling/guest_cpu.h"
#include "sampling/words.h"

namespace qperf::sampling {

/// Per-vCPU words as a plain array, for tests.
class FakeWords final : public WordsSource {
 public:
  explicit FakeWords(size_t vcpus) : words_(vcpus) {}
  Words& words(VcpuIndex vcpu) noexcept override { return words_[vcpu.raw]; }
  std::span<uint64_t> executions(VcpuIndex) noexcept override { return {}; }

 private:
  std::vector<Words> words_;
};

/// A vCPU with a two-frame stack in one page of memory.
class FakeCpu final : public GuestCpu {
 public:
  static constexpr GuestVa kSp{0xffffffd000001000};
  static constexpr GuestVa kCaller{0xffffffff80000100};
  static constexpr GuestVa kRoot{0xffffffff80000200};
  static constexpr uint64_t kLink = 0xffffffff80000300;

  FakeCpu() : page_(unwind::kPageBytes) {
    // riscv64's layout: both links below the frame pointer.
    put(0x10, kSp.raw + 0x40);
    put(0x18, kCaller.raw);
    put(0x30, 0);
    put(0x38, kRoot.raw);
  }

  std::optional<uint64_t> frame_pointer() noexcept override { return kSp.raw + 0x20; }
  std::optional<uint64_t> stack_pointer() noexcept override { return kSp.raw; }
  std::optional<uint64_t> link() noexcept override { return kLink; }
  std::optional<uint64_t> privilege() noexcept override { return privilege_register; }
  std::optional<uint64_t> argument(size_t index) noexcept override { return arguments[index]; }
  std::span<const std::byte> read(GuestVa address, size_t size_bytes) noexcept override {
    if (address < kSp || address.raw + size_bytes > kSp.raw + page_.size()) return {};
    return std::span(page_).subspan(address.raw - kSp.raw, size_bytes);
  }

  std::optional<uint64_t> privilege_register = 0;
  std::array<uint64_t, 6> arguments{};

 private:
  void put(size_t offset, uint64_t word) {
    for (size_t i = 0; i < 8; ++i) page_[offset + i] = static_cast<std::byte>(word >> (8 * i));
  }
  std::vector<std::byte> page_;
};

}  // namespace qperf::sampling
