#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// Names for the addresses by which QEMU's events tell devices apart, learned from the events themselves: "virtio-blk0" for the
/// first device that a virtio_blk_* event mentions, its queues by the numbers in notifications, block nodes by the files that
/// they were opened with (bdrv_open_common).
class DeviceNames {
 public:
  /// Every event in order; costs a table look-up for those that say nothing of devices.
  void learn(const Event& event);
  /// A device's requests were seen to go to a block node.
  void uses_node(uint64_t device, uint64_t node);

  /// "virtio-blk0", with its file where that is known "virtio-blk0 (disk.img)"; nullopt: not yet known. Printable.
  [[nodiscard]] std::optional<std::string> device(uint64_t address) const;
  /// "virtio-blk0 queue 1".
  [[nodiscard]] std::optional<std::string> queue(uint64_t address) const;
  /// The file's name without its folder.
  [[nodiscard]] std::optional<std::string> node(uint64_t address) const;
  /// What is known of the devices, queues and nodes in the event's fields, commas between; empty: nothing.
  [[nodiscard]] std::string describe(const Event& event);

  /// More are not remembered: a damaged trace names any number.
  static constexpr size_t kMaxNames = 10'000;

 private:
  /// Where an event has the fields that matter.
  struct Fields {
    const EventInfo* info = nullptr;
    std::optional<size_t> device, queue, number, node, file;
    std::string kind;  // "virtio-blk"
    [[nodiscard]] bool any() const noexcept { return device || queue || node; }
  };
  struct Queue {
    uint64_t device = 0;
    uint64_t number = 0;
  };

  const Fields& fields_of(const Event& event);
  static std::optional<uint64_t> value(const Event& event, std::optional<size_t> index) noexcept;

  std::vector<Fields> fields_;  // by EventInfo::index
  std::map<std::string, uint64_t> devices_of_kind_;
  std::unordered_map<uint64_t, std::string> devices_;
  std::unordered_map<uint64_t, Queue> queues_;
  std::unordered_map<uint64_t, std::string> nodes_;
  std::unordered_map<uint64_t, uint64_t> node_of_device_;
};

}  // namespace qperf::qemutrace
