#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "tools/qperf/top/screen.h"

namespace qperf::tools {
namespace {

constexpr size_t kMostVcpuRows = 8;
constexpr size_t kMostTaskRows = 6;

/// At most `columns` characters; what is cut ends in '~'. A byte that continues a character takes no column.
std::string fitted(std::string_view text, size_t columns) {
  size_t width = 0;
  size_t last_start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (width == columns) return columns == 0 ? std::string() : std::string(text.substr(0, last_start)) + "~";
    last_start = i;
    ++width;
  }
  return std::string(text);
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string vcpu_line(const VcpuLoad& load, uint64_t weight) {
  const capture::Ticks& ticks = load.ticks;
  if (ticks.issued == 0) return fmt::format("{:>6} {:>7.1f}%", load.vcpu, percent(load.weight, weight));
  const uint64_t idle = ticks.idle + ticks.unknown_idle;
  return fmt::format("{:>6} {:>7.1f}% {:>7.1f}% {:>7.1f}% {:>7.1f}% {:>7.1f}% {:>7.1f}%", load.vcpu,
                     percent(load.weight, weight), percent(ticks.kernel, ticks.issued), percent(ticks.user, ticks.issued),
                     percent(idle, ticks.issued), percent(ticks.other_privileged, ticks.issued),
                     percent(ticks.lost, ticks.issued));
}

class Lines {
 public:
  explicit Lines(ScreenSize size) : size_(size) {}
  [[nodiscard]] size_t left() const noexcept { return size_.rows - std::min(size_.rows, lines_.size()); }
  void add(std::string_view text) {
    if (left() > 0) lines_.push_back(fitted(text, size_.columns));
  }
  std::vector<std::string> take() && { return std::move(lines_); }

 private:
  ScreenSize size_;
  std::vector<std::string> lines_;
};

void add_vcpus(Lines& lines, const Snapshot& snapshot) {
  if (snapshot.vcpus.empty()) return;
  lines.add(
      fmt::format("{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}", "vCPU", "samples", "kernel", "user", "idle", "other", "lost"));
  const size_t shown = std::min(kMostVcpuRows, snapshot.vcpus.size());
  for (size_t i = 0; i < shown; ++i) lines.add(vcpu_line(snapshot.vcpus[i], snapshot.weight));
  if (shown < snapshot.vcpus.size()) lines.add(fmt::format("{:>6} more vCPUs", snapshot.vcpus.size() - shown));
}

void add_tasks(Lines& lines, const Snapshot& snapshot) {
  if (snapshot.tasks.empty()) return;
  lines.add("");
  lines.add(fmt::format("{:>8}  task", "share"));
  for (size_t i = 0; i < std::min(kMostTaskRows, snapshot.tasks.size()); ++i)
    lines.add(fmt::format("{:>7.1f}%  {}", percent(snapshot.tasks[i].weight, snapshot.weight), snapshot.tasks[i].label));
}

void add_functions(Lines& lines, const Snapshot& snapshot) {
  lines.add("");
  lines.add(fmt::format("{:>8} {:>9}  function", "self", "inclusive"));
  for (const HotFunction& function : snapshot.functions) {
    if (lines.left() == 0) return;
    lines.add(fmt::format("{:>7.1f}% {:>8.1f}%  {}", percent(function.self, snapshot.weight),
                          percent(function.inclusive, snapshot.weight), function.name));
  }
}

}  // namespace

std::vector<std::string> draw(const Snapshot& snapshot, const std::string& title, const std::string& note, ScreenSize size) {
  Lines lines(size);
  lines.add(title);
  lines.add(fmt::format("{}; at {:.1f} s; {} samples in the window, {} dropped{}", snapshot.guest,
                        static_cast<double>(snapshot.end_ns) * 1e-9, snapshot.samples, snapshot.dropped,
                        snapshot.finished ? "; the recording has ended" : ""));
  if (snapshot.damaged_chunks != 0)
    lines.add(fmt::format("caution: {} chunks of the capture are damaged or missing: what is whole is shown", snapshot.damaged_chunks));
  if (snapshot.whole_since_ns)
    lines.add(fmt::format("caution: more samples than are kept: those of the last {:.1f} s are shown",
                          static_cast<double>(snapshot.end_ns - std::min(snapshot.end_ns, *snapshot.whole_since_ns)) * 1e-9));
  lines.add(note);
  add_vcpus(lines, snapshot);
  add_tasks(lines, snapshot);
  add_functions(lines, snapshot);
  return std::move(lines).take();
}

}  // namespace qperf::tools
