#include "symbols/dwarf_units.h"

#include <dwarf.h>

#include <algorithm>
#include <string>
#include <utility>

namespace qperf::symbols {
namespace {

/// Calls `visit(begin, end)` for each non-empty range of a DIE, at most `budget` times, and takes them off the budget.
template <typename Visit>
void for_each_range(Dwarf_Die& die, size_t& budget, Visit&& visit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  ptrdiff_t offset = 0;
  while (budget > 0 && (offset = dwarf_ranges(&die, offset, &base, &begin, &end)) > 0) {
    --budget;
    if (begin < end) visit(begin, end);
  }
}

/// Calls `visit(child)` for the children of a DIE. Siblings must ascend: a sibling attribute that leads back would loop.
template <typename Visit>
void for_each_child(Dwarf_Die& parent, size_t& budget, Visit&& visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  while (budget > 0) {
    --budget;
    visit(child);
    Dwarf_Die next;
    if (dwarf_siblingof(&child, &next) != 0 || next.addr <= child.addr) return;
    child = next;
  }
}

bool is_scope(int tag) noexcept {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt: return true;
    default: return false;
  }
}

/// Where an inlined function was called from. In split DWARF the file numbers are those of the split part, which libdw knows.
SourcePlace call_site(Dwarf_Die& inlined, const LineTable* lines, Dwarf_Die* split) {
  SourcePlace place;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&inlined, DW_AT_call_line, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0 &&
      value <= INT32_MAX) {
    place.line = static_cast<uint32_t>(value);
  }
  if (dwarf_attr(&inlined, DW_AT_call_file, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return place;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (split == nullptr) {
    if (lines != nullptr) place.file = lines->file(value);
  } else if (dwarf_getsrcfiles(split, &files, &count) == 0 && value < count) {
    if (const char* file = dwarf_filesrc(files, value, nullptr, nullptr); file != nullptr) place.file = tidy_path(file);
  }
  return place;
}

}  // namespace

void DwarfUnits::read_units() {
  if (std::exchange(units_read_, true)) return;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  uint8_t type = 0;
  while (units_.size() < kMaxUnits && dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_partial && type != DW_UT_skeleton) continue;
    const auto index = static_cast<uint32_t>(units_.size());
    size_t before = budget_;
    for_each_range(die, budget_, [&](uint64_t begin, uint64_t end) { unit_ranges_.add(begin, end, index); });
    if (budget_ == before) continue;  // no code
    units_.emplace_back();
    units_.back().die = die;
    units_.back().split = type == DW_UT_skeleton && split.addr != nullptr;
    units_.back().contents = units_.back().split ? split : die;
  }
  unit_ranges_.build();
}

DwarfUnits::Unit* DwarfUnits::unit_at(uint64_t address) {
  read_units();
  const auto index = unit_ranges_.find(address);
  return index ? &units_[*index] : nullptr;
}

void DwarfUnits::add_function(Unit& unit, Dwarf_Die& die) {
  const auto index = static_cast<uint32_t>(unit.functions.size());
  std::optional<uint64_t> first;
  for_each_range(die, budget_, [&](uint64_t begin, uint64_t end) {
    if (!first) first = begin;
    unit.ranges.add(begin, end, index);
  });
  Dwarf_Addr entry = 0;
  if (first) unit.functions.push_back({die, dwarf_entrypc(&die, &entry) == 0 ? entry : *first});
}

bool DwarfUnits::add_scanned_functions(Unit& unit, Descend descend) {
  if (unit.split) return false;
  const auto offsets =
      scan_functions(sections_.info, sections_.abbrev, dwarf_dieoffset(&unit.die) - dwarf_cuoffset(&unit.die), descend);
  if (!offsets) return false;
  for (const uint64_t offset : *offsets) {
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_, offset, &die) != nullptr && dwarf_tag(&die) == DW_TAG_subprogram) add_function(unit, die);
  }
  return true;
}

void DwarfUnits::add_functions_below(Unit& unit, Dwarf_Die& parent, Descend descend, unsigned depth) {
  if (depth > kMaxDieDepth) return;
  for_each_child(parent, budget_, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_function(unit, child);
    const bool inside_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || is_scope(tag);
    if (holds_functions(tag) || (inside_function && descend == Descend::kFunctionsToo))
      add_functions_below(unit, child, descend, depth + 1);
  });
}

void DwarfUnits::read_functions(Unit& unit, Descend descend) {
  unit.functions.clear();
  unit.ranges = {};
  if (!add_scanned_functions(unit, descend)) add_functions_below(unit, unit.contents, descend, 0);
  unit.ranges.build();
}

DwarfUnits::Function* DwarfUnits::function_at(Unit& unit, uint64_t address) {
  if (!std::exchange(unit.functions_read, true)) read_functions(unit, Descend::kNamespaces);
  auto found = unit.ranges.find(address);
  if (!found && !std::exchange(unit.nested_read, true)) {
    read_functions(unit, Descend::kFunctionsToo);
    found = unit.ranges.find(address);
  }
  return found ? &unit.functions[*found] : nullptr;
}

void DwarfUnits::find_inlines(Dwarf_Die& parent, std::span<Chain* const> chains, unsigned depth) {
  if (depth > kMaxDieDepth) return;
  std::vector<Chain*> inside;
  for_each_child(parent, budget_, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_inlined_subroutine && !is_scope(tag)) return;
    inside.clear();
    bool has_ranges = false;
    for_each_range(child, budget_, [&](uint64_t begin, uint64_t end) {
      has_ranges = true;
      auto at = std::lower_bound(chains.begin(), chains.end(), begin,
                                 [](const Chain* chain, uint64_t address) { return chain->address < address; });
      for (; at != chains.end() && (*at)->address < end; ++at) inside.push_back(*at);
    });
    // A block without ranges of its own only groups names: what it holds may be anywhere in its parent.
    if (!has_ranges && is_scope(tag)) inside.assign(chains.begin(), chains.end());
    if (inside.empty()) return;
    std::sort(inside.begin(), inside.end(), [](const Chain* a, const Chain* b) { return a->address < b->address; });
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    if (tag == DW_TAG_inlined_subroutine) {
      for (Chain* chain : inside)
        if (chain->inlined.size() < kMaxInlineLevels) chain->inlined.push_back(child);
    }
    const std::vector<Chain*> covered = inside;  // `inside` is reused by the next sibling
    find_inlines(child, covered, depth + 1);
  });
}

std::optional<LineTable> DwarfUnits::read_lines(Unit& unit) const {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_attr(&unit.die, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &offset) != 0)
    return std::nullopt;
  const char* folder = dwarf_attr(&unit.die, DW_AT_comp_dir, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
  return LineTable::read(sections_.lines, offset, folder == nullptr ? std::string_view() : std::string_view(folder));
}

void DwarfUnits::describe(Unit& unit, const LineTable* lines, Chain& chain, Function* function, Location& location) {
  SourcePlace place = std::move(chain.place);
  location.frames.reserve(chain.inlined.size() + 1);
  const auto add = [&](Dwarf_Die* die, bool inlined) {
    SourceFrame& frame = location.frames.emplace_back();
    frame.file = std::move(place.file);
    frame.line = place.line;
    frame.inlined = inlined;
    if (die == nullptr) return;
    const FunctionName& name = names_.of(*die);
    frame.function = name.function;
    frame.linkage = name.linkage;
    frame.start_line = name.start_line;
  };
  for (auto die = chain.inlined.rbegin(); die != chain.inlined.rend(); ++die) {
    add(&*die, true);
    place = call_site(*die, lines, unit.split ? &unit.contents : nullptr);
  }
  if (function != nullptr) {
    add(&function->die, false);
    location.source = NameSource::kDwarf;
  } else if (!place.file.empty()) {
    add(nullptr, false);
  }
}

void DwarfUnits::symbolize_unit(Unit& unit, std::span<const uint64_t> addresses, std::span<Location> locations) {
  std::vector<Chain> chains(addresses.size());
  std::vector<Function*> functions(addresses.size());
  // All functions first: reading the nested ones moves those that were found before.
  for (const uint64_t address : addresses) function_at(unit, address);
  for (size_t i = 0; i < addresses.size(); ++i) {
    chains[i].address = addresses[i];
    functions[i] = function_at(unit, addresses[i]);
  }
  for (size_t i = 0; i < addresses.size();) {
    std::vector<Chain*> together;
    size_t end = i;
    for (; end < addresses.size() && functions[end] == functions[i]; ++end) together.push_back(&chains[end]);
    if (functions[i] != nullptr) find_inlines(functions[i]->die, together, 0);
    i = end;
  }
  const auto lines = read_lines(unit);
  std::vector<SourcePlace> places(addresses.size());
  if (lines) lines->find(addresses, places);
  for (size_t i = 0; i < addresses.size(); ++i) {
    chains[i].place = std::move(places[i]);
    describe(unit, lines ? &*lines : nullptr, chains[i], functions[i], locations[i]);
  }
}

void DwarfUnits::symbolize(std::span<const uint64_t> addresses, std::span<Location> locations) {
  budget_ = budget_per_call_;
  for (size_t i = 0; i < addresses.size();) {
    Unit* unit = unit_at(addresses[i]);
    size_t end = i + 1;
    while (end < addresses.size() && unit_at(addresses[end]) == unit) ++end;
    if (unit != nullptr) symbolize_unit(*unit, addresses.subspan(i, end - i), locations.subspan(i, end - i));
    i = end;
  }
}

std::optional<uint64_t> DwarfUnits::function_start(uint64_t address) {
  budget_ = budget_per_call_;
  Unit* unit = unit_at(address);
  if (unit == nullptr) return std::nullopt;
  const Function* function = function_at(*unit, address);
  return function == nullptr ? std::nullopt : std::optional(function->entry);
}

}  // namespace qperf::symbols
