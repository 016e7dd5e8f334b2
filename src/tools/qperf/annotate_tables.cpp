#include "tools/qperf/annotate_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
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

using Weights = std::map<std::pair<uint32_t, GuestVa>, uint64_t>;  // by image and address

/// The contiguous part of a function that holds `address`, [from, to), from `earliest` on. Compilers move what seldom runs elsewhere
/// (NAME.cold): the function's start need not lie in this part. Where its beginning is not found within 1 MiB the part begins at the
/// address, where an instruction surely does.
struct Part {
  GuestVa from;
  GuestVa to;
};

Part part_around(const symbols::Image& image, GuestVa address, GuestVa earliest) {
  constexpr uint64_t kFarthest = uint64_t{1} << 20;
  const auto start = image.function_start(address);
  const auto is_of_it = [&](GuestVa at) { return image.is_text(at) && image.function_start(at) == start; };
  Part part{address, address + 1};
  while (part.to.raw - address.raw < kFarthest && is_of_it(part.to)) part.to = part.to + 1;
  if (!start) return part;
  while (address.raw - part.from.raw < kFarthest && earliest < part.from && is_of_it(part.from - 1)) part.from = part.from - 1;
  const bool cut = address.raw - part.from.raw == kFarthest || (part.from == earliest && is_of_it(part.from - 1));
  if (cut) part.from = address;
  return part;
}

/// Adds a part's instructions; returns the weight that they have.
Result<uint64_t> add_instructions(uint32_t index, const symbols::Image& image, const Part& part, const Weights& weights,
                                  uint64_t whole, Table& table) {
  QPERF_ASSIGN_OR_RETURN(const auto instructions, disassemble(image.path(), part.from, part.to));
  uint64_t listed = 0;
  for (const Instruction& instruction : instructions) {
    const Cell address = cell_hex(instruction.address.raw);
    const auto found = weights.find({index, instruction.address});
    const uint64_t weight = found == weights.end() ? 0 : found->second;
    table.add({weight == 0 ? kBlank : percent(weight, whole), weight == 0 ? kNothing : cell(weight), address, cell_text(instruction.text)});
    listed = profile::saturating_add(listed, weight);
  }
  return listed;
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

Result<InstructionTable> instruction_table(const report::Annotation& annotation, const profile::LocatedProfile& located) {
  InstructionTable result{
      .table = Table({{"Self %", "self_percent"}, {"Self", "self"}, {"Address", "address"}, {"Instruction", "instruction", true}})};
  Table& table = result.table;
  Weights weights;
  uint64_t in_no_elf = 0;
  uint64_t in_elf = 0;
  for (const report::AddressCost& cost : annotation.addresses) {
    uint64_t& sum = cost.image ? in_elf : in_no_elf;
    sum = profile::saturating_add(sum, cost.self);
    if (cost.image) weights[{*cost.image, cost.address}] += cost.self;
  }
  uint64_t listed = 0;
  std::optional<std::pair<uint32_t, symbols::Image>> open;
  GuestVa done_until;  // of the open image, nothing below is listed again
  bool first = true;
  for (const auto& [place, weight] : weights) {
    const auto& [index, address] = place;
    if (!open || open->first != index) {
      QPERF_ASSIGN_OR_RETURN(symbols::Image image, symbols::Image::open(located.images[index].path));
      open.emplace(index, std::move(image));
      done_until = GuestVa{0};
    }
    if (address < done_until) continue;
    const Part part = part_around(open->second, address, done_until);
    if (!std::exchange(first, false)) table.add({kBlank, kBlank, {"...", "null"}, kBlank});
    QPERF_ASSIGN_OR_RETURN(const uint64_t added, add_instructions(index, open->second, part, weights, annotation.whole, table));
    listed = profile::saturating_add(listed, added);
    done_until = part.to;
  }
  const uint64_t unlisted = in_elf - std::min(listed, in_elf);
  result.elsewhere = profile::saturating_add(unlisted, in_no_elf);
  if (unlisted != 0) table.add_note({percent(unlisted, annotation.whole), cell(unlisted), kBlank, {"[at no listed instruction]", "null"}});
  if (in_no_elf != 0) table.add_note({percent(in_no_elf, annotation.whole), cell(in_no_elf), kBlank, {"[in no ELF]", "null"}});
  table.add_note({percent(annotation.self, annotation.whole), cell(annotation.self), kBlank, {"[the function]", "null"}});
  return result;
}

}  // namespace qperf::tools
