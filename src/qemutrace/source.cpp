#include "qemutrace/source.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "qemutrace/simpletrace.h"
#include "qemutrace/text_trace.h"

namespace qperf::qemutrace {
namespace {

constexpr size_t kDetectBytes = 64;

/// The first bytes of a header that was cut: still a trace, with nothing in it.
bool cut_header(std::span<const char> bytes) {
  constexpr std::array<unsigned char, 16> kLittle = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                     0xb4, 0x29, 0xa4, 0x0a, 0xcb, 0x77, 0xb1, 0xf2};
  if (bytes.empty() || bytes.size() >= 24) return false;
  for (size_t i = 0; i < std::min(bytes.size(), kLittle.size()); ++i) {
    const unsigned char mirrored = i < 8 ? 0xff : kLittle[kLittle.size() - 1 - (i - 8)];
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte != kLittle[i] && byte != mirrored) return false;
  }
  return true;
}

Result<std::unique_ptr<EventSource>> reader_for(Input input, const Declarations& declarations, IdRule ids) {
  const auto first = input.peek(kDetectBytes);
  QPERF_ASSIGN_OR_RETURN(std::optional<SimpletraceLayout> layout, detect_simpletrace(first, declarations));
  if (!layout && cut_header(first)) layout = SimpletraceLayout{};
  if (layout)
    return std::unique_ptr<EventSource>(std::make_unique<SimpletraceReader>(std::move(input), *layout, declarations, ids));
  if (std::find(first.begin(), first.end(), '\0') != first.end()) {
    return Error{
        ErrorCode::kBadFormat,
        "neither a simpletrace file (no header of any version in either byte order, no stap stream) nor lines of text"};
  }
  return std::unique_ptr<EventSource>(std::make_unique<TextTraceReader>(std::move(input), declarations));
}

/// Declarations of QEMU before 2.8 name types that today's parser refuses; the file's own version tells.
TypeRule rule_for(Input& input) {
  const auto layout = detect_simpletrace(input.peek(kDetectBytes), Declarations());
  return layout && *layout && (*layout)->version < 4 ? TypeRule::kHistoric : TypeRule::kToday;
}

}  // namespace

Result<std::unique_ptr<EventSource>> read_trace(Input input, const Declarations& declarations, IdRule ids) {
  return reader_for(std::move(input), declarations, ids);
}

Result<Trace> open_trace(const std::string& path, const OpenOptions& options) {
  QPERF_ASSIGN_OR_RETURN(Input input, Input::open(path, options.input));
  std::string events_path = options.events_path;
  if (events_path.empty()) {
    QPERF_ASSIGN_OR_RETURN(events_path, find_trace_events());
  }
  QPERF_ASSIGN_OR_RETURN(Declarations parsed, Declarations::load(events_path, rule_for(input)));
  Trace trace;
  trace.declarations = std::make_unique<Declarations>(std::move(parsed));
  auto source = read_trace(std::move(input), *trace.declarations, options.ids);
  if (!source) return std::move(source).error().in(printable(path));
  trace.source = *std::move(source);
  return trace;
}

}  // namespace qperf::qemutrace
