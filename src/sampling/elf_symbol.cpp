#include "sampling/elf_symbol.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/printable.h"

namespace qperf::sampling {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr size_t kMostNameOffsets = 1024;  // an ELF that merges strings has the name once
constexpr uint64_t kMostTableBytes = uint64_t{1} << 32;

/// At most `size_bytes` bytes at `offset`; fewer at the end of the file.
std::vector<char> read_at(std::ifstream& file, uint64_t offset, size_t size_bytes) {
  std::vector<char> bytes(size_bytes);
  if (offset > INT64_MAX) return {};
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size_bytes));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

template <typename T>
std::optional<T> read_struct(std::ifstream& file, uint64_t offset) {
  const auto bytes = read_at(file, offset, sizeof(T));
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Every offset of the string table at which `name` stands up to a zero byte. Linkers may store it as the tail of a longer name.
std::vector<uint32_t> name_offsets(std::ifstream& file, const Elf64_Shdr& strings, std::string_view name) {
  const std::string wanted = std::string(name) + '\0';
  const uint64_t end = std::min(strings.sh_size, kMostTableBytes);
  std::vector<uint32_t> offsets;
  for (uint64_t at = 0; at < end && offsets.size() < kMostNameOffsets; at += kPieceBytes) {
    // Pieces overlap by what a name across their border needs.
    const auto piece = read_at(file, strings.sh_offset + at, std::min<uint64_t>(kPieceBytes + wanted.size() - 1, end - at));
    const std::string_view text(piece.data(), piece.size());
    for (size_t hit = text.find(wanted); hit != std::string_view::npos && offsets.size() < kMostNameOffsets;
         hit = text.find(wanted, hit + 1))
      offsets.push_back(static_cast<uint32_t>(at + hit));
    if (piece.size() < kPieceBytes) break;
  }
  return offsets;
}

std::optional<GuestVa> find_symbol(std::ifstream& file, const Elf64_Shdr& symbols, const std::vector<uint32_t>& names) {
  const uint64_t count = std::min(symbols.sh_size, kMostTableBytes) / sizeof(Elf64_Sym);
  constexpr uint64_t kPieceSymbols = kPieceBytes / sizeof(Elf64_Sym);
  for (uint64_t first = 0; first < count; first += kPieceSymbols) {
    const auto piece = read_at(file, symbols.sh_offset + first * sizeof(Elf64_Sym),
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
  const auto failed = [&path](const char* what) { return Error{ErrorCode::kUsage, "elf=" + printable(path) + ": " + what}; };
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed("cannot be opened");
  const auto header = read_struct<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return failed("is no ELF file; give the kernel's ELF with symbols, not the flat image that boots");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return failed("is no 64-bit little-endian ELF file");
  // The section count is 16 bits wide, so the loop is bounded.
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_struct<Elf64_Shdr>(file, header->e_shoff + i * header->e_shentsize);
    if (!section) break;
    if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) || section->sh_link >= header->e_shnum) continue;
    const auto strings = read_struct<Elf64_Shdr>(file, header->e_shoff + uint64_t{section->sh_link} * header->e_shentsize);
    if (!strings || strings->sh_type != SHT_STRTAB) continue;
    const auto names = name_offsets(file, *strings, name);
    if (names.empty()) continue;
    if (const auto address = find_symbol(file, *section, names)) return address;
  }
  return std::optional<GuestVa>();
}

}  // namespace qperf::sampling
