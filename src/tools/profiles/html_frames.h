#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "export/html_report.h"
#include "profile/call_tree.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// Numbers the frames that a report uses, and holds their texts.
class HtmlFrames {
 public:
  HtmlFrames(profile::FrameTable& table, size_t name_bytes) : table_(table), name_bytes_(name_bytes) {}

  uint32_t number_of(profile::FrameId frame);
  /// A frame that is no function's: "[rare]".
  [[nodiscard]] profile::FrameId synthetic(std::string name) { return table_.intern({.name = std::move(name), .file = "", .line = 0}); }
  [[nodiscard]] exporter::HtmlTree encode(const profile::CallTree& tree);
  void move_into(exporter::HtmlReport& report);

 private:
  profile::FrameTable& table_;
  size_t name_bytes_;
  tsl::robin_map<uint32_t, uint32_t, KeyedHash> numbers_;
  std::vector<std::string> names_;
  std::vector<std::string> places_;
};

}  // namespace qperf::tools
