#include "qemutrace/blkparse.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

/// Takes words off the front of a line.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  std::string_view next() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size()));
    const auto word = text_.substr(0, text_.find_first_of(" \t"));
    text_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view text_;
};

template <typename T>
bool whole(std::string_view word, T& value) {
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc{} && end == word.data() + word.size();
}

bool device(std::string_view word, BlkEvent& event) {
  const size_t comma = word.find(',');
  return comma != std::string_view::npos && whole(word.substr(0, comma), event.device_major) &&
         whole(word.substr(comma + 1), event.device_minor);
}

/// "0.000001234": seconds and nanoseconds.
bool stamp(std::string_view word, uint64_t& ns) {
  const size_t dot = word.find('.');
  uint64_t seconds = 0;
  uint64_t part = 0;
  if (dot == std::string_view::npos || word.size() - dot - 1 != 9 || !whole(word.substr(0, dot), seconds) ||
      !whole(word.substr(dot + 1), part) || seconds > 9'000'000'000)
    return false;
  ns = seconds * 1'000'000'000 + part;
  return true;
}

/// RWBS: letters for what is done and how.
bool kind(std::string_view letters, BlkEvent& event) {
  for (const char letter : letters) {
    switch (letter) {
      case 'R': event.is_read = true; break;
      case 'W': event.is_write = true; break;
      case 'D': event.is_discard = true; break;
      case 'F': event.is_flush = true; break;
      case 'S': event.is_sync = true; break;
      case 'A': event.is_readahead = true; break;
      case 'M':                      // metadata
      case 'N':                      // nothing of these
      case 'B':                      // barrier of old kernels
      case 'E':                      // secure erase
      case 'P':                      // poll
      case 'Z': break;               // zone
      default: return false;
    }
  }
  return !letters.empty();
}

}  // namespace

std::optional<BlkEvent> parse_blkparse_line(std::string_view line) {
  BlkEvent event;
  Words words(line);
  if (!device(words.next(), event) || !whole(words.next(), event.cpu) || !whole(words.next(), event.sequence) ||
      !stamp(words.next(), event.time_ns) || !whole(words.next(), event.pid))
    return std::nullopt;
  const std::string_view action = words.next();
  if (action.empty() || action.size() > 2 || action == "m" || !kind(words.next(), event)) return std::nullopt;
  event.action = action.front();
  uint64_t sector = 0;
  uint64_t sectors = 0;
  if (whole(words.next(), sector) && words.next() == "+" && whole(words.next(), sectors) && sectors > 0 &&
      sectors < uint64_t{1} << 32 && sector < ~uint64_t{0} - sectors) {
    event.has_extent = true;
    event.sector = sector;
    event.sectors = sectors;
  }
  return event;
}

BlkTrace parse_blkparse(std::string_view text) {
  BlkTrace trace;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto event = parse_blkparse_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!event) {
      ++trace.other_lines;
    } else if (!event->has_extent) {
      ++trace.other_events;
    } else if (trace.events.size() >= BlkTrace::kMaxEvents) {
      ++trace.left_out;
    } else {
      trace.events.push_back(*event);
    }
  }
  return trace;
}

Result<BlkTrace> load_blkparse(const std::string& path, Input::Options options) {
  constexpr size_t kMaxFileBytes = size_t{2} << 30;
  QPERF_ASSIGN_OR_RETURN(Input input, Input::open(path, std::move(options)));
  std::string text;
  for (;;) {
    const auto bytes = input.peek(1);
    if (bytes.empty()) break;
    if (text.size() + bytes.size() > kMaxFileBytes)
      return Error{ErrorCode::kLimit, printable(path) + ": more than 2 GiB of blkparse text: cut it to the time that is of interest"};
    text.append(bytes.data(), bytes.size());
    input.consume(bytes.size());
  }
  if (!input.read_error().empty()) return Error{ErrorCode::kIo, printable(path) + ": " + input.read_error()};
  BlkTrace trace = parse_blkparse(text);
  if (trace.events.empty())
    return Error{ErrorCode::kBadFormat,
                 printable(path) + ": no request in it: expected lines as blkparse prints them by default (8,0 1 1 0.000000000 697 Q W 223490 + 8 [dd])"};
  return trace;
}

}  // namespace qperf::qemutrace
