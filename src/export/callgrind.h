#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "export/text_sink.h"
#include "profile/frame_table.h"
#include "profile/located.h"

namespace qperf::exporter {

/// One of the costs that every line of the file has.
struct CallgrindEvent {
  std::string name;         // letters and digits: it stands in the list of events
  std::string description;  // what the viewer shows
};

struct CallgrindHeader {
  std::string creator;              // "qperf 1.2.3"
  std::string command;              // what was profiled
  std::vector<std::string> notes;   // lines for a person
  std::vector<CallgrindEvent> events;
};

/// Two costs at most, as the header's events say.
struct CallgrindCost {
  uint64_t first = 0;
  uint64_t second = 0;
};

/// A call graph with its costs by function and line. Memory: one entry per distinct (function, line) and per distinct call
/// (caller, line, callee).
class CallgrindGraph {
 public:
  /// A stack of `profile`, whose lines are frames of `frames`. A function that is in the stack several times has its
  /// inclusive cost counted once.
  void add(const profile::LocatedProfile& profile, profile::StackId stack, CallgrindCost cost, uint64_t samples);

  /// Writes the file: functions in order of their names, lines ascending.
  void write(const CallgrindHeader& header, const profile::FrameTable& frames, TextSink& sink) const;

 private:
  struct LineKey {
    uint32_t frame = 0;
    uint32_t line = 0;
    friend bool operator==(LineKey, LineKey) = default;
  };
  struct CallKey {
    uint32_t frame = 0;
    uint32_t line = 0;
    uint32_t callee = 0;
    friend bool operator==(CallKey, CallKey) = default;
  };
  struct Call {
    CallgrindCost inclusive;
    uint64_t samples = 0;
  };
  struct Hash {
    size_t operator()(LineKey key) const noexcept { return KeyedHash{}(uint64_t{key.frame} << 32 | key.line); }
    size_t operator()(CallKey key) const noexcept {
      return keyed_hash(uint64_t{key.frame} << 32 | key.line, key.callee);
    }
  };
  class Writer;

  tsl::robin_map<LineKey, CallgrindCost, Hash> self_;
  tsl::robin_map<CallKey, Call, Hash> calls_;
  CallgrindCost total_;
  std::vector<profile::SourceLine> lines_;  // reused: the stack, root first
  std::vector<CallKey> seen_;               // reused: the calls of the stack
};

}  // namespace qperf::exporter
