#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "guest/target.h"
#include "plugin/qemu_api.h"
#include "sampling/guest_cpu.h"

namespace qperf::plugin {

/// One vCPU's registers and memory through the plugin interface. Its buffers are allocated once.
class QemuCpu final : public sampling::GuestCpu {
 public:
  QemuCpu();
  ~QemuCpu() override;
  QemuCpu(const QemuCpu&) = delete;
  QemuCpu& operator=(const QemuCpu&) = delete;

  /// Finds the registers of the vCPU on whose thread this runs, in its init callback. The name of the first one that the vCPU
  /// lacks; nullopt if it has all.
  /// `arguments`: the argument registers, too.
  enum class Arguments : uint8_t { kNo, kYes };
  std::optional<std::string_view> find_registers(const guest::TargetInfo& target, Arguments arguments);
  /// find_registers() has found all of them.
  [[nodiscard]] bool is_known() const noexcept { return is_known_; }

  std::optional<uint64_t> frame_pointer() noexcept override { return read(frame_pointer_); }
  std::optional<uint64_t> stack_pointer() noexcept override { return read(stack_pointer_); }
  std::optional<uint64_t> link() noexcept override { return read(link_); }
  std::optional<uint64_t> privilege() noexcept override { return read(privilege_); }
  std::optional<uint64_t> argument(size_t index) noexcept override { return read(arguments_[index]); }
  std::span<const std::byte> read(GuestVa address, size_t size_bytes) noexcept override;

 private:
  /// Zero may be a valid handle, so "none" is a state of its own.
  using Handle = std::optional<qemu_plugin_register*>;

  std::optional<uint64_t> read(Handle handle) noexcept;

  bool is_known_ = false;
  Handle frame_pointer_;
  Handle stack_pointer_;
  Handle link_;
  Handle privilege_;
  std::array<Handle, 6> arguments_;
  GByteArray* register_bytes_;
  GByteArray* memory_bytes_;
};

}  // namespace qperf::plugin
