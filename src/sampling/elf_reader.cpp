#include "sampling/elf_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/printable.h"

namespace qperf::sampling {

Result<ElfReader> ElfReader::open(const std::string& path) {
  const auto failed = [&path](const char* what) { return Error{ErrorCode::kUsage, "elf=" + printable(path) + ": " + what}; };
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed("cannot be opened");
  ElfReader reader(std::move(file));
  const auto header = reader.read_struct<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return failed("is no ELF file; give the kernel's ELF with symbols, not the flat image that boots");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return failed("is no 64-bit little-endian ELF file");
  reader.header_ = *header;
  return reader;
}

std::optional<Elf64_Phdr> ElfReader::segment(uint64_t index) {
  return read_struct<Elf64_Phdr>(header_.e_phoff + index * header_.e_phentsize);
}

std::optional<Elf64_Shdr> ElfReader::section(uint64_t index) {
  return read_struct<Elf64_Shdr>(header_.e_shoff + index * header_.e_shentsize);
}

std::vector<std::byte> ElfReader::read_at(uint64_t offset, size_t size_bytes) {
  if (offset > INT64_MAX) return {};
  std::vector<std::byte> bytes(size_bytes);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size_bytes));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file_.gcount())));
  return bytes;
}

template <typename T>
std::optional<T> ElfReader::read_struct(uint64_t offset) {
  const auto bytes = read_at(offset, sizeof(T));
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace qperf::sampling
