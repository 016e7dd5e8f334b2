#include "foreign/perf_script.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace qperf::foreign {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

template <typename Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1234.567890:" or, with --ns, nine digits.
std::optional<uint64_t> time_of(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  word.remove_suffix(1);
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto seconds = number<uint64_t>(word.substr(0, dot));
  const std::string_view digits = word.substr(dot + 1);
  const auto fraction = number<uint64_t>(digits);
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  if (!seconds || !fraction || digits.size() > 9 || *seconds > UINT64_MAX / kNsPerSecond - 1) return std::nullopt;
  uint64_t ns = *fraction;
  for (size_t i = digits.size(); i < 9; ++i) ns *= 10;
  return *seconds * kNsPerSecond + ns;
}

/// "[003]".
std::optional<uint32_t> cpu_of(std::string_view word) {
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') return std::nullopt;
  return number<uint32_t>(word.substr(1, word.size() - 2));
}

struct Word {
  size_t begin;
  std::string_view text;
};

/// A head has a handful of words; a thread's name can have some more.
constexpr size_t kMaxWords = 64;

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos && words.size() < kMaxWords;) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back({at, line.substr(at, end - at)});
    at = line.find_first_not_of(kBlank, end);
  }
  return words;
}

/// "1234" or "1233/1234".
bool parse_ids(std::string_view word, PerfScriptReader::Head& head) {
  const size_t slash = word.find('/');
  const auto last = number<uint64_t>(slash == std::string_view::npos ? word : word.substr(slash + 1));
  const auto first = slash == std::string_view::npos ? last : number<uint64_t>(word.substr(0, slash));
  if (!first || !last) return false;
  head.pid = *first;
  head.tid = *last;
  return true;
}

bool is_address(std::string_view word) { return number<uint64_t>(word, 16).has_value(); }

/// What stands behind "period event:": the first word that ends in ':' ends it. Without an event, all of it if it is a frame.
std::string_view behind_event(std::string_view text) {
  const std::vector<Word> words = words_of(text);
  for (size_t i = 0; i < words.size() && i < 3; ++i)
    if (words[i].text.ends_with(':')) return trimmed(text.substr(words[i].begin + words[i].text.size()));
  return words.size() > 1 && is_address(words.front().text) ? trimmed(text) : std::string_view();
}

/// "symbol+0x1f" without the offset.
std::string_view without_offset(std::string_view symbol) {
  const size_t plus = symbol.rfind("+0x");
  return plus == std::string_view::npos || plus == 0 || !is_address(symbol.substr(plus + 3)) ? symbol : symbol.substr(0, plus);
}

}  // namespace

std::optional<PerfScriptReader::Head> PerfScriptReader::parse_head(std::string_view line) {
  const std::vector<Word> words = words_of(line);
  for (size_t i = 1; i < words.size(); ++i) {
    const auto time_ns = time_of(words[i].text);
    if (!time_ns) continue;
    Head head;
    head.time_ns = *time_ns;
    size_t ids = i - 1;
    head.cpu = cpu_of(words[ids].text);
    if (head.cpu) {
      if (ids == 0) continue;
      --ids;
    }
    // A thread's name may look like anything, so all in front of the ids is it.
    if (!parse_ids(words[ids].text, head)) continue;
    head.thread = trimmed(line.substr(0, words[ids].begin));
    head.rest = behind_event(line.substr(words[i].begin + words[i].text.size()));
    return head;
  }
  return std::nullopt;
}

Result<void> PerfScriptReader::line(std::string_view line, bool cut) {
  ++lines_;
  if (cut) ++counts_.cut_lines;
  if (trimmed(line).empty()) return flush();
  if (line.front() == '#') return {};
  if (line.front() == ' ' || line.front() == '\t') {
    // A short thread name is padded on the left, so that a head may be indented too, and a name can look like an address.
    const std::string_view text = trimmed(line);
    if (open_ && is_address(text.substr(0, std::min(text.find_first_of(kBlank), text.size()))) && !parse_head(line)) {
      add_frame(text);
      return {};
    }
  }
  const auto head = parse_head(line);
  if (!head) {
    if (counts_.bad_lines++ == 0) counts_.first_bad_line = lines_;
    return {};
  }
  QPERF_RETURN_IF_ERROR(flush());
  open_ = true;
  too_deep_ = false;
  head_ = *head;
  thread_ = head->thread;
  frame_count_ = 0;
  if (!head->rest.empty()) add_frame(head->rest);
  return {};
}

void PerfScriptReader::add_frame(std::string_view text) {
  if (frame_count_ == kMaxHostFrames) {
    if (!too_deep_) ++counts_.cut_stacks;
    too_deep_ = true;
    return;
  }
  if (frames_.size() == frame_count_) frames_.emplace_back();
  OwnedFrame& frame = frames_[frame_count_++];
  const size_t address_end = std::min(text.find_first_of(kBlank), text.size());
  std::string_view symbol = is_address(text.substr(0, address_end)) ? trimmed(text.substr(address_end)) : text;
  frame.module.clear();
  // "(module)" or, for inlined functions, "(inlined)" at the end; a C++ symbol has brackets of its own before.
  if (const size_t open = symbol.rfind(" ("); symbol.ends_with(')') && (open != std::string_view::npos || symbol.front() == '(')) {
    const size_t begin = open == std::string_view::npos ? 1 : open + 2;
    const std::string_view module = symbol.substr(begin, symbol.size() - begin - 1);
    if (module != "inlined") frame.module = module;
    symbol = trimmed(symbol.substr(0, open == std::string_view::npos ? 0 : open));
  }
  symbol = without_offset(symbol);
  frame.function = symbol == "[unknown]" ? std::string_view() : symbol;
}

Result<void> PerfScriptReader::flush() {
  if (!open_) return {};
  open_ = false;
  ++counts_.samples;
  HostSample sample;
  sample.thread = thread_;
  sample.pid = head_.pid;
  sample.tid = head_.tid;
  sample.cpu = head_.cpu;
  sample.time_ns = head_.time_ns;
  for (size_t i = 0; i < frame_count_; ++i) sample.frames.push_back({frames_[i].function, frames_[i].module});
  return sink_.sample(sample);
}

Result<void> PerfScriptReader::finish() { return flush(); }

}  // namespace qperf::foreign
