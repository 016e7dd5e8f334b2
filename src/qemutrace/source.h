#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "qemutrace/declarations.h"
#include "qemutrace/event.h"
#include "qemutrace/input.h"

namespace qperf::qemutrace {

/// What a reader met that a result must own up to.
struct ReadReport {
  uint64_t events = 0;       // records handed out, loss records not counted
  uint64_t lost_events = 0;  // as the trace itself says
  uint64_t loss_records = 0;
  uint64_t undeclared_events = 0;
  uint64_t mismatched_events = 0;
  uint64_t torn_bytes = 0;   // after the last whole record
  uint64_t other_lines = 0;  // of a text trace: not an event
  std::string broken;        // framing lost, or the system refused to read: where and what was found; empty if neither
  /// One line per event whose records do not fit the declaration, sorted by name.
  std::map<std::string, std::pair<uint64_t, std::string>> mismatches;  // name -> count, what was found
  std::map<std::string, uint64_t> undeclared;                          // name -> count

  /// Records are missing, or some could not be read: exit code 3.
  [[nodiscard]] bool incomplete() const noexcept {
    return lost_events > 0 || loss_records > 0 || torn_bytes > 0 || undeclared_events > 0 || mismatched_events > 0 ||
           !broken.empty();
  }
};

/// The forms in which QEMU's trace events reach a file.
enum class TraceKind : uint8_t { kSimpletrace, kStapStream, kText };

/// Events of one trace, in the file's order.
class EventSource {
 public:
  virtual ~EventSource() = default;
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// Fills `event` with the next record; false at the end, for good.
  virtual bool next(Event& event) = 0;

  /// Nobody will look at values: a reader may then check that payloads fit without taking them apart, and leave value_count 0
  /// (a loss record keeps its value).
  virtual void skip_values() noexcept {}

  [[nodiscard]] virtual const ReadReport& report() const noexcept = 0;
  [[nodiscard]] virtual TraceClock clock() const noexcept = 0;
  /// "simpletrace version 4, little-endian".
  [[nodiscard]] virtual std::string description() const = 0;
  /// How many EventInfo::index values are in use so far.
  [[nodiscard]] virtual size_t event_kinds() const noexcept = 0;
};

/// How ids of files without names (versions 0, 2, 3 and stap streams) count the declarations.
enum class IdRule : uint8_t {
  kDetect,       // whichever lets more of the first records fit
  kAll,          // every declaration has a number
  kEnabledOnly,  // those marked `disable` have none
};

struct OpenOptions {
  std::string events_path;  // empty: find_trace_events()
  IdRule ids = IdRule::kDetect;
  Input::Options input;
};

/// An open trace: owns its declarations, its bytes and its reader.
struct Trace {
  std::unique_ptr<Declarations> declarations;  // not moved: EventInfo points into it
  std::unique_ptr<EventSource> source;
};

/// Opens a trace of any kind, which is detected. `path` "-" is standard input.
Result<Trace> open_trace(const std::string& path, const OpenOptions& options);

/// The same over bytes, with declarations at hand (tests, fuzzing). Both must outlive the source.
Result<std::unique_ptr<EventSource>> read_trace(Input input, const Declarations& declarations, IdRule ids = IdRule::kDetect);

}  // namespace qperf::qemutrace
