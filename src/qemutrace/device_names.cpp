#include "qemutrace/device_names.h"

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

/// "virtio-blk" of virtio_blk_rw_complete; empty for events of virtio's common code, whose second word is no kind of device.
std::string kind_of(std::string_view event_name) {
  constexpr std::array<std::string_view, 16> kKinds = {"blk",   "net",     "scsi", "serial", "balloon", "mem",  "iommu", "crypto",
                                                       "gpu",   "input",   "rng",  "pmem",   "snd",     "fs",   "9p",    "vsock"};
  constexpr std::string_view kPrefix = "virtio_";
  if (!event_name.starts_with(kPrefix)) return {};
  const std::string_view rest = event_name.substr(kPrefix.size());
  for (const std::string_view kind : kKinds) {
    if (rest.starts_with(kind) && rest.size() > kind.size() && rest[kind.size()] == '_') return "virtio-" + std::string(kind);
  }
  return {};
}

}  // namespace

const DeviceNames::Fields& DeviceNames::fields_of(const Event& event) {
  if (event.info->index >= fields_.size()) fields_.resize(std::max<size_t>(event.info->index + size_t{1}, fields_.size() * 2));
  Fields& fields = fields_[event.info->index];
  if (fields.info == event.info) return fields;
  const EventInfo& info = *event.info;
  fields = {.info = event.info, .device = info.argument_index("vdev"), .queue = info.argument_index("vq"), .number = {},
            .node = info.argument_index("bs"), .file = {}, .kind = {}};
  if (fields.device) fields.kind = kind_of(info.name);
  if (fields.device && fields.queue) fields.number = info.argument_index("n");
  if (info.name == "bdrv_open_common") fields.file = info.argument_index("filename");
  return fields;
}

std::optional<uint64_t> DeviceNames::value(const Event& event, std::optional<size_t> index) noexcept {
  if (!index || !event.has_value(*index) || event.values[*index].is_string()) return std::nullopt;
  return event.values[*index].number;
}

void DeviceNames::learn(const Event& event) {
  if (event.is_loss || event.state != ValueState::kDecoded) return;
  const Fields& fields = fields_of(event);
  if (!fields.any()) return;
  const auto device = value(event, fields.device);
  if (device && !fields.kind.empty() && devices_.size() < kMaxNames && !devices_.contains(*device))
    devices_.emplace(*device, fields.kind + std::to_string(devices_of_kind_[fields.kind]++));
  const auto queue = value(event, fields.queue);
  const auto number = value(event, fields.number);
  if (device && queue && number && (queues_.size() < kMaxNames || queues_.contains(*queue)))
    queues_[*queue] = {*device, *number};
  const auto node = value(event, fields.node);
  if (node && fields.file && event.has_value(*fields.file) && event.values[*fields.file].is_string() &&
      (nodes_.size() < kMaxNames || nodes_.contains(*node))) {
    const std::string_view path = event.values[*fields.file].string();
    const std::string_view name = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
    if (!name.empty()) nodes_[*node] = printable(name);
  }
}

void DeviceNames::uses_node(uint64_t device, uint64_t node) {
  if (node_of_device_.size() < kMaxNames || node_of_device_.contains(device)) node_of_device_[device] = node;
}

std::optional<std::string> DeviceNames::device(uint64_t address) const {
  const auto found = devices_.find(address);
  if (found == devices_.end()) return std::nullopt;
  if (const auto used = node_of_device_.find(address); used != node_of_device_.end()) {
    if (const auto file = node(used->second)) return found->second + " (" + *file + ")";
  }
  return found->second;
}

std::optional<std::string> DeviceNames::queue(uint64_t address) const {
  const auto found = queues_.find(address);
  if (found == queues_.end()) return std::nullopt;
  const auto name = device(found->second.device);
  if (!name) return std::nullopt;
  return *name + " queue " + std::to_string(found->second.number);
}

std::optional<std::string> DeviceNames::node(uint64_t address) const {
  const auto found = nodes_.find(address);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

std::string DeviceNames::describe(const Event& event) {
  const Fields& fields = fields_of(event);
  if (!fields.any()) return {};
  std::optional<std::string> name;
  if (const auto address = value(event, fields.queue)) name = queue(*address);
  if (!name) {
    if (const auto address = value(event, fields.device)) name = device(*address);
  }
  if (const auto address = value(event, fields.node)) {
    if (const auto file = node(*address)) name = name ? *name + ", " + *file : *file;
  }
  return name.value_or(std::string());
}

}  // namespace qperf::qemutrace
