#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "guest/target.h"

namespace qperf::symbols {

/// Bounds on what an untrusted file can make us keep.
inline constexpr size_t kMaxSections = 65'536;
inline constexpr size_t kMaxNameBytes = 4096;

/// An open ELF file: sections, machine, bytes at addresses. Spans it hands out live as long as it does.
class ElfFile {
 public:
  [[nodiscard]] static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;
  ~ElfFile();

  struct Section {
    std::string name;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    Elf_Scn* scn = nullptr;
  };

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] Elf* elf() const noexcept { return elf_; }
  [[nodiscard]] uint16_t machine() const noexcept { return machine_; }
  [[nodiscard]] std::optional<guest::Target> target() const noexcept { return target_; }
  [[nodiscard]] std::span<const Section> sections() const noexcept { return sections_; }
  [[nodiscard]] const Section* section(std::string_view name) const noexcept;
  [[nodiscard]] std::span<const std::byte> build_id() const noexcept { return build_id_; }
  /// All of the file as mapped; empty when it cannot be mapped.
  [[nodiscard]] std::span<const std::byte> file_bytes() const noexcept { return file_; }
  /// The file's bytes of a section, bounds-checked; empty for .bss and for what the file does not hold.
  [[nodiscard]] std::span<const std::byte> section_bytes(const Section& section) const noexcept;

  [[nodiscard]] std::span<const GuestRange> text_ranges() const noexcept { return text_ranges_; }
  [[nodiscard]] bool is_text(GuestVa address) const noexcept;
  [[nodiscard]] std::span<const std::byte> bytes_at(GuestVa address, size_t count) const noexcept;

 private:
  ElfFile() = default;
  void read_sections();
  void read_layout();

  /// A stretch of the image that the file holds, or (bytes empty) does not.
  struct Mapped {
    GuestRange range;
    std::span<const std::byte> bytes;
    bool executable = false;
  };
  [[nodiscard]] std::span<const std::byte> slice(uint64_t offset, uint64_t size) const noexcept;

  std::string path_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
  uint16_t machine_ = 0;
  std::optional<guest::Target> target_;
  std::vector<Section> sections_;
  std::vector<Mapped> mapped_;  // ascending, not overlapping
  std::vector<GuestRange> text_ranges_;
  std::span<const std::byte> build_id_;
  std::span<const std::byte> file_;
};

}  // namespace qperf::symbols
