#include "foreign/symbol_elf.h"

#include <string_view>

#include "base/bytes.h"
#include "base/checksum.h"

namespace qperf::foreign {
namespace {

// Numbers of the ELF specification.
constexpr uint16_t kExecutable = 2;
constexpr uint16_t kX86_64 = 62;
constexpr uint32_t kProgbits = 1;
constexpr uint32_t kSymtab = 2;
constexpr uint32_t kStrtab = 3;
constexpr uint32_t kNote = 7;
constexpr uint64_t kAlloc = 2;
constexpr uint64_t kExec = 4;
constexpr uint8_t kGlobalFunction = 0x12;
constexpr size_t kFileHeaderBytes = 64;
constexpr size_t kSectionHeaderBytes = 64;
constexpr size_t kSymbolBytes = 24;

constexpr char kSectionNameBytes[] = "\0.text\0.symtab\0.strtab\0.note.gnu.build-id\0.shstrtab";

struct Section {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t alignment = 1;
  uint64_t entry_bytes = 0;
};

void put(ByteWriter& out, const Section& section) {
  out.u32(section.name);
  out.u32(section.type);
  out.u64(section.flags);
  out.u64(section.address);
  out.u64(section.offset);
  out.u64(section.size);
  out.u32(section.link);
  out.u32(section.info);
  out.u64(section.alignment);
  out.u64(section.entry_bytes);
}

void put_file_header(ByteWriter& out, uint64_t section_offset, uint16_t sections) {
  out.text(std::string_view("\x7f" "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", 16));
  out.u16(kExecutable);
  out.u16(kX86_64);
  out.u32(1);
  out.u64(0);  // entry
  out.u64(0);  // program headers
  out.u64(section_offset);
  out.u32(0);
  out.u16(kFileHeaderBytes);
  out.u16(0);
  out.u16(0);
  out.u16(kSectionHeaderBytes);
  out.u16(sections);
  out.u16(static_cast<uint16_t>(sections - 1));  // the section names come last
}

std::vector<std::byte> build_id_of(std::span<const std::string> names) {
  uint64_t first = names.size();
  uint64_t second = ~first;
  for (const std::string& name : names) {
    first = (first ^ xxh3_64(std::as_bytes(std::span(name)))) * 0x9e3779b97f4a7c15;
    second = (second + first) * 0xc2b2ae3d27d4eb4f;
  }
  ByteWriter out;
  out.u64(first);
  out.u64(second);
  return {out.view().begin(), out.view().end()};
}

}  // namespace

std::array<std::byte, kFunctionBytes> function_bytes(uint32_t index) noexcept {
  uint64_t bits = (uint64_t{index} + 1) * 0x9e3779b97f4a7c15;
  bits ^= bits >> 29;
  std::array<std::byte, kFunctionBytes> bytes{};
  for (std::byte& byte : bytes) {
    byte = std::byte{0x40} | static_cast<std::byte>(bits & 0xf);  // prefixes, never a call
    bits >>= 4;
  }
  return bytes;
}

SymbolElf make_symbol_elf(std::span<const std::string> names) {
  constexpr std::string_view kSectionNames(kSectionNameBytes, sizeof(kSectionNameBytes));
  const auto name_at = [&](std::string_view name) { return static_cast<uint32_t>(kSectionNames.find(name)); };
  SymbolElf elf;
  elf.build_id = build_id_of(names);

  ByteWriter text;
  ByteWriter symbols;
  std::string strings(1, '\0');
  for (size_t i = 0; i < kSymbolBytes; ++i) symbols.u8(0);
  for (uint32_t i = 0; i < names.size(); ++i) {
    text.bytes(function_bytes(i));
    symbols.u32(static_cast<uint32_t>(strings.size()));
    symbols.u8(kGlobalFunction);
    symbols.u8(0);
    symbols.u16(1);
    symbols.u64(function_address(i).raw);
    symbols.u64(kFunctionBytes);
    strings += names[i];
    strings += '\0';
  }
  ByteWriter note;
  note.u32(4);
  note.u32(static_cast<uint32_t>(elf.build_id.size()));
  note.u32(3);
  note.text(std::string_view("GNU\0", 4));
  note.bytes(elf.build_id);

  uint64_t offset = kFileHeaderBytes;
  const auto place = [&](Section section, uint64_t size) {
    section.offset = offset;
    section.size = size;
    offset += size;
    return section;
  };
  const Section sections[] = {
      {},
      place({.name = name_at(".text"), .type = kProgbits, .flags = kAlloc | kExec, .address = function_address(0).raw, .alignment = 16},
            text.view().size()),
      place({.name = name_at(".symtab"), .type = kSymtab, .link = 3, .info = 1, .alignment = 8, .entry_bytes = kSymbolBytes},
            symbols.view().size()),
      place({.name = name_at(".strtab"), .type = kStrtab}, strings.size()),
      place({.name = name_at(".note.gnu.build-id"), .type = kNote, .flags = kAlloc, .alignment = 4}, note.view().size()),
      place({.name = name_at(".shstrtab"), .type = kStrtab}, kSectionNames.size()),
  };
  ByteWriter out;
  put_file_header(out, offset, static_cast<uint16_t>(std::size(sections)));
  out.bytes(text.view());
  out.bytes(symbols.view());
  out.text(strings);
  out.bytes(note.view());
  out.text(kSectionNames);
  for (const Section& section : sections) put(out, section);
  elf.bytes.assign(out.view().begin(), out.view().end());
  return elf;
}

}  // namespace qperf::foreign
