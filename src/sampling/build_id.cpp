#include "sampling/build_id.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "sampling/elf_reader.h"

namespace qperf::sampling {
namespace {

constexpr size_t kMaxNoteBytes = size_t{64} << 10;
constexpr size_t kMaxBuildIdBytes = 64;

using Bytes = std::vector<std::byte>;

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

Bytes build_id_at(ElfReader& elf, uint64_t offset, uint64_t size_bytes) {
  return find_build_id(elf.read_at(offset, std::min<uint64_t>(size_bytes, kMaxNoteBytes)));
}

}  // namespace

Result<std::vector<std::byte>> read_build_id(const std::string& path) {
  QPERF_ASSIGN_OR_RETURN(ElfReader elf, ElfReader::open(path));
  for (uint64_t i = 0; i < elf.segments(); ++i) {
    const auto segment = elf.segment(i);
    if (!segment) break;
    if (segment->p_type != PT_NOTE) continue;
    if (auto id = build_id_at(elf, segment->p_offset, segment->p_filesz); !id.empty()) return id;
  }
  for (uint64_t i = 0; i < elf.sections(); ++i) {
    const auto section = elf.section(i);
    if (!section) break;
    if (section->sh_type != SHT_NOTE) continue;
    if (auto id = build_id_at(elf, section->sh_offset, section->sh_size); !id.empty()) return id;
  }
  return Bytes{};
}

}  // namespace qperf::sampling
