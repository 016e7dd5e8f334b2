#include "symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace qperf::symbols {

Result<ElfFile> ElfFile::open(const std::string& path) {
  elf_version(EV_CURRENT);
  ElfFile file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd_ < 0)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))};
  struct stat status{};
  if (fstat(file.fd_, &status) != 0) return Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))};
  if (!S_ISREG(status.st_mode))
    return Error{ErrorCode::kUsage, fmt::format("{}: not a regular file; give the kernel's ELF", path)};

  std::array<char, SELFMAG> magic{};
  if (pread(file.fd_, magic.data(), magic.size(), 0) != static_cast<ssize_t>(magic.size()) ||
      std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0) {
    return Error{ErrorCode::kBadFormat,
                 fmt::format("{}: no ELF file; give the ELF that the linker wrote (vmlinux, kernel.elf), not the flat binary "
                             "or compressed image that boots",
                             path)};
  }
  file.elf_ = elf_begin(file.fd_, ELF_C_READ_MMAP, nullptr);
  if (file.elf_ == nullptr || elf_kind(file.elf_) != ELF_K_ELF)
    return Error{ErrorCode::kBadFormat, fmt::format("{}: damaged ELF: {}", path, elf_errmsg(-1))};
  GElf_Ehdr header;
  if (gelf_getehdr(file.elf_, &header) == nullptr)
    return Error{ErrorCode::kBadFormat, fmt::format("{}: damaged ELF header: {}", path, elf_errmsg(-1))};
  if (header.e_type == ET_REL) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: a relocatable object (.o or .ko) has no addresses yet: give the linked ELF; a Linux module is linked "
                             "when it is loaded, so leave it out (its code is shown as [module])",
                             path)};
  }
  if (header.e_type == ET_CORE) return Error{ErrorCode::kUsage, fmt::format("{}: a core dump; give the kernel's ELF", path)};

  size_t file_size = 0;
  if (const char* raw = elf_rawfile(file.elf_, &file_size); raw != nullptr)
    file.file_ = std::as_bytes(std::span(raw, file_size));
  file.machine_ = header.e_machine;
  if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB) {
    for (const auto& entry : guest::all_targets())
      if (entry.elf_machine == header.e_machine) file.target_ = entry.target;
  }
  file.read_sections();
  file.read_layout();
  const void* id = nullptr;
  if (const ssize_t size = dwelf_elf_gnu_build_id(file.elf_, &id); size > 0 && size <= 64)
    file.build_id_ = std::span(static_cast<const std::byte*>(id), static_cast<size_t>(size));
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept { *this = std::move(other); }

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(elf_, other.elf_);
  std::swap(machine_, other.machine_);
  std::swap(target_, other.target_);
  std::swap(sections_, other.sections_);
  std::swap(mapped_, other.mapped_);
  std::swap(text_ranges_, other.text_ranges_);
  std::swap(build_id_, other.build_id_);
  std::swap(file_, other.file_);
  return *this;
}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) close(fd_);
}

const ElfFile::Section* ElfFile::section(std::string_view name) const noexcept {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::byte> ElfFile::slice(uint64_t offset, uint64_t size) const noexcept {
  if (offset >= file_.size()) return {};
  return file_.subspan(offset, std::min<uint64_t>(size, file_.size() - offset));
}

std::span<const std::byte> ElfFile::section_bytes(const Section& section) const noexcept {
  GElf_Shdr header;
  if (section.type == SHT_NOBITS || section.scn == nullptr || gelf_getshdr(section.scn, &header) == nullptr) return {};
  return slice(header.sh_offset, header.sh_size);
}

void ElfFile::read_sections() {
  size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return;
  Elf_Scn* scn = nullptr;
  while (sections_.size() < kMaxSections && (scn = elf_nextscn(elf_, scn)) != nullptr) {
    GElf_Shdr header{};  // stays zero when unreadable: later sections keep their index
    if (gelf_getshdr(scn, &header) == nullptr) header = {};
    const char* name = elf_strptr(elf_, names, header.sh_name);
    sections_.push_back({.name = name == nullptr ? std::string() : std::string(name, strnlen(name, 64)),
                         .type = header.sh_type,
                         .flags = header.sh_flags,
                         .address = header.sh_addr,
                         .size = header.sh_size,
                         .scn = scn});
  }
}

void ElfFile::read_layout() {
  std::vector<Mapped> pieces;
  const auto add = [&](uint64_t address, uint64_t size, std::span<const std::byte> bytes, bool executable) {
    if (size == 0 || address + (size - 1) < address) return;
    pieces.push_back({GuestRange{GuestVa{address}, GuestVa{address + (size - 1)}}, bytes, executable});
  };
  for (const Section& section : sections_) {
    constexpr uint64_t kThreadLocal = SHF_TLS;  // its addresses overlap those of other sections
    if ((section.flags & SHF_ALLOC) == 0 || (section.flags & kThreadLocal) != 0) continue;
    add(section.address, section.size, section_bytes(section), (section.flags & SHF_EXECINSTR) != 0);
  }
  const bool no_code = std::none_of(pieces.begin(), pieces.end(), [](const Mapped& piece) { return piece.executable; });
  if (no_code) {
    pieces.clear();
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) count = 0;
    for (size_t i = 0; i < std::min(count, kMaxSections); ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
      add(header.p_vaddr, header.p_memsz, slice(header.p_offset, std::min(header.p_filesz, header.p_memsz)),
          (header.p_flags & PF_X) != 0);
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Mapped& a, const Mapped& b) {
    return a.range.first != b.range.first ? a.range.first < b.range.first : a.bytes.size() > b.bytes.size();
  });
  for (Mapped& piece : pieces) {
    if (!mapped_.empty() && piece.range.first <= mapped_.back().range.last) continue;  // overlap: the first one stands
    mapped_.push_back(piece);
    if (piece.executable) text_ranges_.push_back(piece.range);
  }
}

bool ElfFile::is_text(GuestVa address) const noexcept {
  const auto after = std::upper_bound(text_ranges_.begin(), text_ranges_.end(), address,
                                      [](GuestVa a, const GuestRange& range) { return a < range.first; });
  return after != text_ranges_.begin() && std::prev(after)->contains(address);
}

std::span<const std::byte> ElfFile::bytes_at(GuestVa address, size_t count) const noexcept {
  const auto after = std::upper_bound(mapped_.begin(), mapped_.end(), address,
                                      [](GuestVa a, const Mapped& piece) { return a < piece.range.first; });
  if (after == mapped_.begin()) return {};
  const Mapped& piece = *std::prev(after);
  const uint64_t offset = address.raw - piece.range.first.raw;
  if (offset >= piece.bytes.size()) return {};
  return piece.bytes.subspan(offset, std::min<uint64_t>(count, piece.bytes.size() - offset));
}

}  // namespace qperf::symbols
