#include "export/callgrind.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "base/printable.h"

namespace qperf::exporter {
namespace {

using profile::saturating_add;

void add_to(CallgrindCost& sum, CallgrindCost cost) noexcept {
  sum.first = saturating_add(sum.first, cost.first);
  sum.second = saturating_add(sum.second, cost.second);
}

/// A name as the format takes it: in one line, and not like the short form "(7)" of another name.
std::string clean(std::string_view name) {
  std::string text = printable(name);
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "???";  // the format's own word for what is not known
  text = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  if (text.size() > 1 && text[0] == '(' && text[1] >= '0' && text[1] <= '9') text.insert(text.begin(), '_');
  return text;
}

/// Names by number: in full the first time, then the number only.
class ShortNames {
 public:
  std::string of(const std::string& name) {
    const auto [position, added] = numbers_.try_emplace(name, numbers_.size() + 1);
    return added ? fmt::format("({}) {}", position->second, name) : fmt::format("({})", position->second);
  }

 private:
  std::map<std::string, size_t> numbers_;
};

}  // namespace

void CallgrindGraph::add(const profile::LocatedProfile& profile, profile::StackId stack, CallgrindCost cost, uint64_t samples) {
  lines_.clear();
  const auto locations = profile.stacks[stack];
  for (size_t i = locations.size(); i-- > 0;) {
    const auto of_location = profile.locations.lines(locations[i]);
    lines_.insert(lines_.end(), of_location.rbegin(), of_location.rend());
  }
  add_to(total_, cost);
  if (lines_.empty()) return;
  add_to(self_[{lines_.back().frame.raw, lines_.back().line}], cost);
  seen_.clear();
  for (size_t i = 0; i + 1 < lines_.size(); ++i) {
    const CallKey key{lines_[i].frame.raw, lines_[i].line, lines_[i + 1].frame.raw};
    if (std::ranges::find(seen_, key) != seen_.end()) continue;
    seen_.push_back(key);
    Call& call = calls_[key];
    add_to(call.inclusive, cost);
    call.samples = saturating_add(call.samples, samples);
  }
}

class CallgrindGraph::Writer {
 public:
  Writer(const CallgrindGraph& graph, const profile::FrameTable& frames, bool two_events, TextSink& sink)
      : graph_(graph), frames_(frames), two_events_(two_events), sink_(sink) {
    for (const auto& [key, cost] : graph.self_) entries_.push_back({key.frame, key.line, kSelf, cost, 0});
    for (const auto& [key, call] : graph.calls_) entries_.push_back({key.frame, key.line, key.callee, call.inclusive, call.samples});
    rank_frames();
    // A function's own costs before its calls, all by line.
    std::ranges::sort(entries_, {}, [this](const Entry& entry) {
      return std::tuple(rank_[entry.frame], entry.callee != kSelf, entry.line, entry.callee == kSelf ? 0 : rank_[entry.callee]);
    });
  }

  void write() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (i == 0 || entry.frame != entries_[i - 1].frame) begin_function(entry.frame);
      if (entry.callee == kSelf)
        cost_line(entry.line, entry.cost);
      else
        call(entry);
      if (text_.size() >= kFlushBytes) flush();
    }
    flush();
  }

  void cost_text(CallgrindCost cost) {
    fmt::format_to(std::back_inserter(text_), "{}", cost.first);
    if (two_events_) fmt::format_to(std::back_inserter(text_), " {}", cost.second);
  }
  void add(std::string_view text) { text_ += text; }
  void flush() {
    sink_.write(text_);
    text_.clear();
  }

 private:
  static constexpr uint32_t kSelf = 0xffffffff;  // an entry's callee: none
  static constexpr size_t kFlushBytes = size_t{1} << 16;

  struct Entry {
    uint32_t frame;
    uint32_t line;
    uint32_t callee;
    CallgrindCost cost;
    uint64_t samples;
  };

  void rank_frames() {
    std::vector<uint32_t> order(frames_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [this](uint32_t a, uint32_t b) {
      const auto& left = frames_[profile::FrameId{a}];
      const auto& right = frames_[profile::FrameId{b}];
      return std::tie(left.name, left.file) < std::tie(right.name, right.file);
    });
    rank_.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
  }

  void begin_function(uint32_t frame) {
    const auto& of = frames_[profile::FrameId{frame}];
    text_ += fmt::format("\nfl={}\nfn={}\n", files_.of(clean(of.file)), functions_.of(clean(of.name)));
  }

  void cost_line(uint32_t line, CallgrindCost cost) {
    fmt::format_to(std::back_inserter(text_), "{} ", line);
    cost_text(cost);
    text_ += '\n';
  }

  void call(const Entry& entry) {
    const auto& callee = frames_[profile::FrameId{entry.callee}];
    text_ += fmt::format("cfi={}\ncfn={}\ncalls={} {}\n", files_.of(clean(callee.file)), functions_.of(clean(callee.name)),
                         entry.samples, callee.line);
    cost_line(entry.line, entry.cost);
  }

  const CallgrindGraph& graph_;
  const profile::FrameTable& frames_;
  bool two_events_;
  TextSink& sink_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> rank_;  // by frame
  ShortNames files_;
  ShortNames functions_;
  std::string text_;
};

void CallgrindGraph::write(const CallgrindHeader& header, const profile::FrameTable& frames, TextSink& sink) const {
  Writer writer(*this, frames, header.events.size() > 1, sink);
  writer.add(fmt::format("# callgrind format\nversion: 1\ncreator: {}\ncmd: {}\n", clean(header.creator), clean(header.command)));
  for (const std::string& note : header.notes) writer.add(fmt::format("desc: {}\n", clean(note)));
  writer.add("positions: line\n");
  std::string names;
  for (const CallgrindEvent& event : header.events) {
    writer.add(fmt::format("event: {} : {}\n", event.name, clean(event.description)));
    names += ' ' + event.name;
  }
  writer.add(fmt::format("events:{}\nsummary: ", names));
  writer.cost_text(total_);
  writer.add("\n");
  writer.write();
  writer.add("\ntotals: ");
  writer.cost_text(total_);
  writer.add("\n");
  writer.flush();
}

}  // namespace qperf::exporter
