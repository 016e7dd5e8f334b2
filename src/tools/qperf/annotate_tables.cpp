#include "tools/qperf/annotate_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "symbols/image.h"
#include "tools/qperf/disassembly.h"
#include "tools/qperf/source_text.h"

namespace qperf::tools {
namespace {

const Cell kBlank{"", "null"};
const Cell kNothing{"", "0"};

/// Source lines shown around those that have a weight.
constexpr uint32_t kContextLines = 3;

Cell percent(uint64_t part, uint64_t whole) { return cell_percent(static_cast<double>(part), static_cast<double>(whole)); }

/// The numbers of the lines to show of one frame: those with a weight and their neighbours, from the function's declaration on.
std::set<uint32_t> shown_lines(const std::vector<report::LineCost>& costs, uint32_t declared, uint32_t file_lines) {
  std::set<uint32_t> shown;
  const uint32_t last_cost = std::ranges::max(costs, {}, &report::LineCost::line).line;
  for (const report::LineCost& cost : costs) {
    shown.insert(cost.line);
    if (cost.line == 0 || cost.line > file_lines) continue;
    const uint32_t first = std::max(cost.line - std::min(cost.line - 1, kContextLines), std::min(declared, cost.line));
    // Where the function ends is not known: hardly anything is shown behind its last line with a weight.
    const uint32_t last = std::min({cost.line + kContextLines, last_cost + 1, file_lines});
    for (uint32_t line = std::max(first, 1U); line <= last; ++line) shown.insert(line);
  }
  if (declared != 0 && declared <= file_lines) shown.insert(declared);
  return shown;
}

/// A stretch of code of one image, [from, to).
struct Stretch {
  uint32_t image = 0;
  GuestVa from;
  GuestVa to;
};

/// The function that holds `address`. The ELF tells its start; its end is where another one starts, looked for up to 64 KiB on.
Stretch function_around(const symbols::Image& image, uint32_t index, GuestVa address) {
  constexpr int64_t kFarthest = 65536;
  const auto start = image.function_start(address);
  GuestVa to = address + 1;
  while (to.raw - address.raw < kFarthest && image.is_text(to) && image.function_start(to) == start) to = to + 1;
  return {index, start.value_or(address), to};
}

}  // namespace

const std::vector<std::string>& Sources::lines(const std::string& file) {
  const auto [entry, added] = files_.try_emplace(file);
  if (added) entry->second = source_lines(folder_, file).value_or(std::vector<std::string>());
  return entry->second;
}

const std::string* Sources::line(const std::string& file, uint32_t number) {
  const auto& all = lines(file);
  return number == 0 || number > all.size() ? nullptr : &all[number - 1];
}

uint32_t Sources::count(const std::string& file) { return static_cast<uint32_t>(lines(file).size()); }

Table line_table(const report::Annotation& annotation, const profile::FrameTable& frames, Sources& sources) {
  Table table({{"Self %", "self_percent"},
               {"Self", "self"},
               {"Total %", "total_percent"},
               {"Total", "total"},
               {"", "file"},
               {"Line", "line"},
               {"Source", "source", true}});
  std::map<profile::FrameId, std::vector<report::LineCost>> by_frame;
  for (const report::LineCost& cost : annotation.lines) by_frame[cost.frame].push_back(cost);
  for (const auto& [id, costs] : by_frame) {
    const profile::Frame& frame = frames[id];
    const Cell file = frame.file.empty() ? kBlank : cell_text(frame.file);
    uint32_t before = 0;
    for (const uint32_t line : shown_lines(costs, frame.line, sources.count(frame.file))) {
      if (before != 0 && line != before + 1) table.add({kBlank, kBlank, kBlank, kBlank, kBlank, {"...", "null"}, kBlank});
      before = line;
      const std::string* text = sources.line(frame.file, line);
      const Cell source = text != nullptr ? cell_text(*text) : kBlank;
      const Cell number = line == 0 ? Cell{"?", "null"} : cell(line);
      const auto cost = std::ranges::find(costs, line, &report::LineCost::line);
      if (cost == costs.end()) {
        table.add({kBlank, kNothing, kBlank, kNothing, file, number, source});
        continue;
      }
      table.add({percent(cost->self, annotation.whole), cell(cost->self), percent(cost->total, annotation.whole), cell(cost->total),
                 file, number, source});
    }
  }
  table.add_note({percent(annotation.self, annotation.whole), cell(annotation.self), percent(annotation.total, annotation.whole),
                  cell(annotation.total), kBlank, {"", "null"}, {"[the function]", "null"}});
  return table;
}

Result<Table> instruction_table(const report::Annotation& annotation, const profile::LocatedProfile& located) {
  Table table({{"Self %", "self_percent"}, {"Self", "self"}, {"Address", "address"}, {"Instruction", "instruction", true}});
  std::map<std::pair<uint32_t, GuestVa>, uint64_t> weights;
  uint64_t elsewhere = 0;  // addresses of no ELF
  for (const report::AddressCost& cost : annotation.addresses) {
    if (cost.image) weights[{*cost.image, cost.address}] += cost.self;
    else elsewhere += cost.self;
  }
  std::optional<std::pair<uint32_t, symbols::Image>> open;
  std::optional<Stretch> done;
  for (const auto& [place, weight] : weights) {
    const auto& [index, address] = place;
    if (done && done->image == index && done->from <= address && address < done->to) continue;
    if (!open || open->first != index) {
      QPERF_ASSIGN_OR_RETURN(symbols::Image image, symbols::Image::open(located.images[index].path));
      open.emplace(index, std::move(image));
    }
    const Stretch stretch = function_around(open->second, index, address);
    QPERF_ASSIGN_OR_RETURN(const auto instructions, disassemble(open->second.path(), stretch.from, stretch.to));
    if (done) table.add({kBlank, kBlank, {"...", "null"}, kBlank});
    done = stretch;
    for (const Instruction& instruction : instructions) {
      const auto found = weights.find({index, instruction.address});
      if (found == weights.end()) table.add({kBlank, kNothing, cell_hex(instruction.address.raw), cell_text(instruction.text)});
      else
        table.add({percent(found->second, annotation.whole), cell(found->second), cell_hex(instruction.address.raw),
                   cell_text(instruction.text)});
    }
  }
  if (elsewhere != 0) table.add_note({percent(elsewhere, annotation.whole), cell(elsewhere), kBlank, {"[in no ELF]", "null"}});
  table.add_note({percent(annotation.self, annotation.whole), cell(annotation.self), kBlank, {"[the function]", "null"}});
  return table;
}

}  // namespace qperf::tools
