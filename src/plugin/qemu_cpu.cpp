#include "plugin/qemu_cpu.h"

#include <algorithm>
#include <vector>

#include "plugin/host.h"

namespace qperf::plugin {
namespace {

constexpr guint kRegisterBufferBytes = 64;  // the largest register asked for has 8

}  // namespace

QemuCpu::QemuCpu()
    : register_bytes_(g_byte_array_sized_new(kRegisterBufferBytes)),
      memory_bytes_(g_byte_array_sized_new(unwind::kPageBytes)) {}

QemuCpu::~QemuCpu() {
  g_byte_array_free(register_bytes_, TRUE);
  g_byte_array_free(memory_bytes_, TRUE);
}

std::optional<std::string_view> QemuCpu::find_registers(const guest::TargetInfo& target, Arguments arguments) {
  struct Wanted {
    std::string_view name;
    Handle* handle;
  };
  std::vector<Wanted> wanted{{target.frame_pointer, &frame_pointer_},
                             {target.stack_pointer, &stack_pointer_},
                             {target.link, &link_},
                             {target.privilege, &privilege_}};
  if (arguments == Arguments::kYes) {
    for (size_t i = 0; i < arguments_.size(); ++i) wanted.push_back({target.arguments[i], &arguments_[i]});
  }
  is_known_ = false;
  for (const auto& [name, handle] : wanted) handle->reset();  // another CPU may have been plugged in with this index before
  GArray* const registers = qemu_plugin_get_registers();
  const size_t stride = g_array_get_element_size(registers);  // differs between API versions
  for (guint i = 0; i < registers->len; ++i) {
    const auto& entry = *reinterpret_cast<const qemu_plugin_reg_descriptor*>(registers->data + i * stride);
    for (const auto& [name, handle] : wanted)
      if (!handle->has_value() && name == entry.name) *handle = entry.handle;
  }
  g_array_free(registers, TRUE);
  for (const auto& [name, handle] : wanted)
    if (!name.empty() && !handle->has_value()) return name;
  is_known_ = true;
  return std::nullopt;
}

std::optional<uint64_t> QemuCpu::read(Handle handle) noexcept {
  if (!handle) return std::nullopt;
  g_byte_array_set_size(register_bytes_, 0);  // QEMU appends
  if (!read_register(*handle, register_bytes_)) return std::nullopt;
  const guint size_bytes = std::min<guint>(register_bytes_->len, 8);
  uint64_t value = 0;
  for (guint i = 0; i < size_bytes; ++i) value |= uint64_t{register_bytes_->data[i]} << (8 * i);
  return value;
}

std::span<const std::byte> QemuCpu::read(GuestVa address, size_t size_bytes) noexcept {
  if (!qemu_plugin_read_memory_vaddr(address.raw, memory_bytes_, size_bytes)) return {};
  return {reinterpret_cast<const std::byte*>(memory_bytes_->data), std::min<size_t>(memory_bytes_->len, size_bytes)};
}

}  // namespace qperf::plugin
