#include "symbols/segments.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace qperf::symbols {
namespace {

std::optional<GuestRange> hull_of(Elf* elf) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  std::optional<GuestRange> hull;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    const GuestRange range{GuestVa{header.p_vaddr}, GuestVa{header.p_vaddr + (header.p_memsz - 1)}};
    if (range.last < range.first) continue;  // wraps: damaged
    if (!hull) hull = range;
    hull = GuestRange{std::min(hull->first, range.first), std::max(hull->last, range.last)};
  }
  return hull;
}

}  // namespace

std::optional<GuestRange> segments_hull(const std::string& path) {
  elf_version(EV_CURRENT);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::optional<GuestRange> hull;
  {
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), elf_end);
    if (elf != nullptr) hull = hull_of(elf.get());
  }
  ::close(fd);
  return hull;
}

}  // namespace qperf::symbols
