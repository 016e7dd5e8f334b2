#include "sampling/build_id.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/printable.h"

namespace qperf::sampling {
namespace {

constexpr size_t kMaxNoteBytes = size_t{64} << 10;
constexpr size_t kMaxBuildIdBytes = 64;

using Bytes = std::vector<std::byte>;

std::optional<Bytes> read_at(std::ifstream& file, uint64_t offset, size_t size_bytes) {
  Bytes bytes(size_bytes);
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset & INT64_MAX));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size_bytes));
  if (file.gcount() != static_cast<std::streamsize>(size_bytes)) return std::nullopt;
  return bytes;
}

template <typename T>
std::optional<T> read_struct(std::ifstream& file, uint64_t offset) {
  const auto bytes = read_at(file, offset, sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

/// The description of the first GNU build-id note of a note segment; empty if there is none.
Bytes find_build_id(std::span<const std::byte> notes) {
  ByteReader in(notes);
  const auto aligned = [](uint32_t size) { return (size_t{size} + 3) & ~size_t{3}; };
  while (in.remaining() >= 12) {
    const auto name_bytes = *in.u32();
    const auto description_bytes = *in.u32();
    const auto type = *in.u32();
    const auto name = in.bytes(aligned(name_bytes));
    if (!name) return {};
    // The last description of a segment may lack its padding.
    const auto description = in.bytes(std::min(aligned(description_bytes), in.remaining()));
    if (!description || description->size() < description_bytes) return {};
    const bool is_gnu = name_bytes == 4 && std::memcmp(name->data(), "GNU", 4) == 0;
    if (is_gnu && type == NT_GNU_BUILD_ID && description_bytes <= kMaxBuildIdBytes)
      return {description->begin(), description->begin() + description_bytes};
  }
  return {};
}

Bytes build_id_at(std::ifstream& file, uint64_t offset, uint64_t size_bytes) {
  const auto notes = read_at(file, offset, std::min<uint64_t>(size_bytes, kMaxNoteBytes));
  return notes ? find_build_id(*notes) : Bytes{};
}

}  // namespace

Result<std::vector<std::byte>> read_build_id(const std::string& path) {
  const auto failed = [&path](const char* what) { return Error{ErrorCode::kUsage, "elf=" + printable(path) + ": " + what}; };
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed("cannot be opened");
  const auto header = read_struct<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return failed("is no ELF file; give the kernel's ELF with symbols, not the flat image that boots");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return failed("is no 64-bit little-endian ELF file");
  // Entry counts are 16 bits wide, so both loops are bounded; the entry size in the file is what steps through it.
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_struct<Elf64_Phdr>(file, header->e_phoff + i * header->e_phentsize);
    if (!segment) break;
    if (segment->p_type != PT_NOTE) continue;
    if (auto id = build_id_at(file, segment->p_offset, segment->p_filesz); !id.empty()) return id;
  }
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_struct<Elf64_Shdr>(file, header->e_shoff + i * header->e_shentsize);
    if (!section) break;
    if (section->sh_type != SHT_NOTE) continue;
    if (auto id = build_id_at(file, section->sh_offset, section->sh_size); !id.empty()) return id;
  }
  return Bytes{};
}

}  // namespace qperf::sampling
