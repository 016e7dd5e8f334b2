#include "symbols/symbol_table.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace qperf::symbols {
namespace {

/// Mapping symbols ($x, $d, $xrv64...) and assembler locals (.L...): positions inside functions, not names of code.
bool is_noise(std::string_view name) noexcept { return name.empty() || name[0] == '$' || name.starts_with(".L"); }

/// Among names of one range the better one is added last: a global before a weak before a local one, then a name that is not
/// marked as an internal alias by leading underscores.
int preference(const GElf_Sym& symbol, std::string_view name) noexcept {
  const int binding = GELF_ST_BIND(symbol.st_info) == STB_GLOBAL ? 4 : GELF_ST_BIND(symbol.st_info) == STB_WEAK ? 2 : 0;
  return binding + (name.starts_with('_') ? 0 : 1);
}

struct Candidate {
  SymbolTable::Symbol symbol;
  uint64_t size = 0;
  uint64_t section_end = 0;
  unsigned type = 0;
  int preference = 0;
  bool executable = false;
};

const ElfFile::Section* table_of(const ElfFile& file) {
  const ElfFile::Section* dynamic = nullptr;
  for (const auto& section : file.sections()) {
    if (section.type == SHT_SYMTAB) return &section;
    if (section.type == SHT_DYNSYM) dynamic = &section;
  }
  return dynamic;
}

std::vector<Candidate> candidates_of(const ElfFile& file) {
  std::vector<Candidate> candidates;
  const ElfFile::Section* table = table_of(file);
  GElf_Shdr header;
  if (table == nullptr || gelf_getshdr(table->scn, &header) == nullptr || header.sh_entsize == 0) return candidates;
  Elf_Data* data = elf_getdata(table->scn, nullptr);
  if (data == nullptr) return candidates;
  const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, kMaxSymbols);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    const bool names_code = type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC || type == STT_OBJECT;
    if (!names_code || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
    const char* text = elf_strptr(file.elf(), header.sh_link, symbol.st_name);
    if (text == nullptr) continue;
    const std::string_view name(text, strnlen(text, kMaxNameBytes));
    if (is_noise(name)) continue;
    const auto sections = file.sections();
    // sections()[0] is section 1: elf_nextscn leaves out the null section.
    if (symbol.st_shndx == 0 || symbol.st_shndx > sections.size()) continue;
    const auto& section = sections[symbol.st_shndx - 1U];
    if ((section.flags & SHF_ALLOC) == 0 || symbol.st_value < section.address ||
        symbol.st_value - section.address >= section.size) {
      continue;
    }
    candidates.push_back({.symbol = {.address = symbol.st_value, .end = 0, .name = name},
                          .size = symbol.st_size,
                          .section_end = section.address + section.size,
                          .type = type,
                          .preference = preference(symbol, name),
                          .executable = (section.flags & SHF_EXECINSTR) != 0});
  }
  return candidates;
}

}  // namespace

void SymbolTable::read(const ElfFile& file) {
  auto candidates = candidates_of(file);
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.symbol.address != b.symbol.address) return a.symbol.address < b.symbol.address;
    return a.preference != b.preference ? a.preference < b.preference : a.symbol.name > b.symbol.name;
  });
  symbols_.reserve(candidates.size());
  size_t next = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate& c = candidates[i];
    while (next < candidates.size() && candidates[next].symbol.address <= c.symbol.address) ++next;
    const uint64_t next_address = next < candidates.size() ? candidates[next].symbol.address : c.section_end;
    c.symbol.end = c.size != 0 ? c.symbol.address + std::min(c.size, c.section_end - c.symbol.address)
                               : std::min(next_address, c.section_end);
    const auto index = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back(c.symbol);
    if (!c.executable) continue;  // kept for address_of() only
    const bool function = c.type == STT_FUNC || c.type == STT_GNU_IFUNC;
    if (function && c.size != 0) sized_functions_.push_back(index);
    if (function && c.size != 0) functions_.add(c.symbol.address, c.symbol.end, index);
    if (!function && c.type == STT_NOTYPE && c.size != 0) labels_.add(c.symbol.address, c.symbol.end, index);
    nearest_.add(c.symbol.address, std::max(c.symbol.end, std::min(next_address, c.section_end)), index);
  }
  functions_.build();
  labels_.build();
  nearest_.build();
}

const SymbolTable::Symbol* SymbolTable::find(GuestVa address) const noexcept {
  for (const IntervalIndex* index : {&functions_, &labels_, &nearest_})
    if (const auto found = index->find(address.raw)) return &symbols_[*found];
  return nullptr;
}

std::optional<GuestVa> SymbolTable::address_of(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& s) { return s.name == name; });
  if (found == symbols_.end()) return std::nullopt;
  return GuestVa{found->address};
}

std::vector<GuestRange> SymbolTable::functions() const {
  std::vector<GuestRange> ranges;
  ranges.reserve(sized_functions_.size());
  for (const uint32_t index : sized_functions_) {
    const Symbol& symbol = symbols_[index];
    const bool seen = !ranges.empty() && ranges.back().first.raw == symbol.address;  // an alias
    if (!seen && symbol.end > symbol.address) ranges.push_back({GuestVa{symbol.address}, GuestVa{symbol.end - 1}});
  }
  return ranges;
}

}  // namespace qperf::symbols
