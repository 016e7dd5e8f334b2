#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace qperf::sampling {

/// Reads a 64-bit little-endian ELF file piece by piece, without an ELF library: the plugin links none. The file is untrusted;
/// memory is what the caller asks for, whatever the file claims.
class ElfReader {
 public:
  /// An Error of the argument elf= if the file cannot be read or is no such ELF.
  [[nodiscard]] static Result<ElfReader> open(const std::string& path);

  /// Entry counts are 16 bits wide, so loops over them are bounded.
  [[nodiscard]] uint16_t segments() const noexcept { return header_.e_phnum; }
  [[nodiscard]] uint16_t sections() const noexcept { return header_.e_shnum; }
  /// nullopt: the file ends before.
  [[nodiscard]] std::optional<Elf64_Phdr> segment(uint64_t index);
  [[nodiscard]] std::optional<Elf64_Shdr> section(uint64_t index);

  /// At most `size_bytes` bytes at `offset`; fewer at the end of the file.
  [[nodiscard]] std::vector<std::byte> read_at(uint64_t offset, size_t size_bytes);

 private:
  explicit ElfReader(std::ifstream file) : file_(std::move(file)) {}
  template <typename T>
  std::optional<T> read_struct(uint64_t offset);

  std::ifstream file_;
  Elf64_Ehdr header_{};
};

}  // namespace qperf::sampling
