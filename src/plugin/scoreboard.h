#pragma once

#include "plugin/host.h"
#include "plugin/qemu_api.h"
#include "sampling/block_table.h"
#include "sampling/words.h"

namespace qperf::plugin {

/// QEMU's per-vCPU memory that generated code can reach. One scoreboard, allocated at install: doing so later, inside a
/// translation callback, deadlocks some versions. QEMU moves it when a vCPU with the index 16, 32, 64 ... comes, at the start or
/// plugged in later; the vCPUs stand still then, the plugin's own threads do not: see hold_still().
class Scoreboard final : public sampling::WordsSource {
 public:
  enum class Content : uint8_t { kWords, kExecutions };

  explicit Scoreboard(Content content)
      : score_(qemu_plugin_scoreboard_new(content == Content::kWords ? sizeof(sampling::Words)
                                                                     : kExecutions * sizeof(uint64_t))) {}

  sampling::Words& words(VcpuIndex vcpu) noexcept override {
    return *static_cast<sampling::Words*>(qemu_plugin_scoreboard_find(score_, vcpu.raw));
  }
  std::span<uint64_t> executions(VcpuIndex vcpu) noexcept override {
    return {static_cast<uint64_t*>(qemu_plugin_scoreboard_find(score_, vcpu.raw)), kExecutions};
  }

  [[nodiscard]] qemu_plugin_u64 insns() const noexcept { return {score_, offsetof(sampling::Words, insns)}; }
  [[nodiscard]] qemu_plugin_u64 due() const noexcept { return {score_, offsetof(sampling::Words, due)}; }
  [[nodiscard]] qemu_plugin_u64 executions_of(uint32_t block_index) const noexcept {
    return {score_, block_index * sizeof(uint64_t)};
  }

 private:
  void hold_still(void (*work)(void*), void* argument) noexcept override { run_while_no_vcpu_comes(work, argument); }

  static constexpr size_t kExecutions = sampling::BlockTable::kExactCapacity;

  qemu_plugin_scoreboard* score_;  // never freed: vCPUs may run until the process ends
};

}  // namespace qperf::plugin
