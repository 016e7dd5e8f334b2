#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/text_sink.h"
#include "profile/frame_table.h"
#include "profile/ids.h"

namespace qperf::exporter {

/// A stack and how long it lasted, in the document's unit.
struct SpeedscopeSample {
  profile::StackId stack;
  uint64_t weight = 0;
};

/// One entry of the viewer's profile list.
struct SpeedscopeProfile {
  std::string name;
  std::vector<SpeedscopeSample> samples;  // in the order to be drawn
};

enum class SpeedscopeUnit : uint8_t { kNone, kNanoseconds };

/// The whole file. `active` is the profile that is shown first.
struct SpeedscopeDocument {
  std::string name;
  std::string exporter;  // "qperf@1.2.3"
  SpeedscopeUnit unit = SpeedscopeUnit::kNone;
  size_t active = 0;
  std::vector<SpeedscopeProfile> profiles;
};

/// Writes speedscope's JSON ("sampled" profiles). Neighbours with equal stacks are joined, zero weights left out; a frame is
/// written once and only if used.
void write_speedscope(const profile::NamedStacks& names, const SpeedscopeDocument& document, TextSink& sink);

}  // namespace qperf::exporter
