#include "sampling/elf_symbol.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sampling/elf_reader.h"

namespace qperf::sampling {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr size_t kMostNameOffsets = 1024;  // an ELF that merges strings has the name once
constexpr uint64_t kMostTableBytes = uint64_t{1} << 32;

/// Every offset of the string table at which `name` stands up to a zero byte. Linkers may store it as the tail of a longer name.
std::vector<uint32_t> name_offsets(ElfReader& elf, const Elf64_Shdr& strings, std::string_view name) {
  const std::string wanted = std::string(name) + '\0';
  const uint64_t end = std::min(strings.sh_size, kMostTableBytes);
  std::vector<uint32_t> offsets;
  for (uint64_t at = 0; at < end && offsets.size() < kMostNameOffsets; at += kPieceBytes) {
    // Pieces overlap by what a name across their border needs.
    const auto piece = elf.read_at(strings.sh_offset + at, std::min<uint64_t>(kPieceBytes + wanted.size() - 1, end - at));
    const std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    for (size_t hit = text.find(wanted); hit != std::string_view::npos && offsets.size() < kMostNameOffsets;
         hit = text.find(wanted, hit + 1))
      offsets.push_back(static_cast<uint32_t>(at + hit));
    if (piece.size() < kPieceBytes) break;
  }
  return offsets;
}

std::optional<GuestVa> find_symbol(ElfReader& elf, const Elf64_Shdr& symbols, const std::vector<uint32_t>& names) {
  const uint64_t count = std::min(symbols.sh_size, kMostTableBytes) / sizeof(Elf64_Sym);
  constexpr uint64_t kPieceSymbols = kPieceBytes / sizeof(Elf64_Sym);
  for (uint64_t first = 0; first < count; first += kPieceSymbols) {
    const auto piece = elf.read_at(symbols.sh_offset + first * sizeof(Elf64_Sym),
                               static_cast<size_t>(std::min(kPieceSymbols, count - first)) * sizeof(Elf64_Sym));
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= piece.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, piece.data() + at, sizeof symbol);
      const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
      if (defined && std::ranges::find(names, symbol.st_name) != names.end()) return GuestVa{symbol.st_value};
    }
    if (piece.size() < kPieceSymbols * sizeof(Elf64_Sym)) break;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<GuestVa>> find_elf_symbol(const std::string& path, std::string_view name) {
  QPERF_ASSIGN_OR_RETURN(ElfReader elf, ElfReader::open(path));
  for (uint64_t i = 0; i < elf.sections(); ++i) {
    const auto section = elf.section(i);
    if (!section) break;
    if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) || section->sh_link >= elf.sections()) continue;
    const auto strings = elf.section(section->sh_link);
    if (!strings || strings->sh_type != SHT_STRTAB) continue;
    const auto names = name_offsets(elf, *strings, name);
    if (names.empty()) continue;
    if (const auto address = find_symbol(elf, *section, names)) return address;
  }
  return std::optional<GuestVa>();
}

}  // namespace qperf::sampling
