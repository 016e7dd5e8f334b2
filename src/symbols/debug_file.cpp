#include "symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "base/hex.h"

namespace qperf::symbols {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemDebugFolder = "/usr/lib/debug";

uint32_t crc_of(const ElfFile& file) {
  const auto bytes = file.file_bytes();
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::optional<ElfFile> open_if_present(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  auto opened = ElfFile::open(path.string());
  if (!opened) return std::nullopt;
  return *std::move(opened);
}

std::optional<ElfFile> by_link(const ElfFile& image, const fs::path& folder, std::vector<std::string>& warnings) {
  GElf_Word crc = 0;
  const char* name = dwelf_elf_gnu_debuglink(image.elf(), &crc);
  // The name is untrusted: a plain file name only, so that it cannot lead elsewhere.
  if (name == nullptr) return std::nullopt;
  const std::string_view link(name, strnlen(name, 256));
  if (link.empty() || link.size() == 256 || link.find('/') != link.npos || link == "." || link == "..") return std::nullopt;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  const std::array candidates{folder / link, folder / ".debug" / link,
                              fs::path(kSystemDebugFolder) / absolute.relative_path() / link};
  for (const auto& candidate : candidates) {
    if (fs::equivalent(candidate, image.path(), error)) continue;
    auto file = open_if_present(candidate);
    if (!file) continue;
    if (crc_of(*file) == crc) return file;
    warnings.push_back(
        fmt::format("{}: not used: its checksum is not the one that {} asks for", candidate.string(), image.path()));
  }
  return std::nullopt;
}

std::optional<ElfFile> by_build_id(const ElfFile& image, const fs::path& folder, std::vector<std::string>& warnings) {
  if (image.build_id().size() < 2) return std::nullopt;
  const std::string id = hex_digits(image.build_id());
  const fs::path below = fs::path(".build-id") / id.substr(0, 2) / (id.substr(2) + ".debug");
  for (const auto& candidate : {folder / below, fs::path(kSystemDebugFolder) / below}) {
    auto file = open_if_present(candidate);
    if (!file) continue;
    if (std::ranges::equal(file->build_id(), image.build_id())) return file;
    warnings.push_back(fmt::format("{}: not used: it has another build-id than {}", candidate.string(), image.path()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElfFile> find_debug_file(const ElfFile& image, std::vector<std::string>& warnings) {
  fs::path folder = fs::path(image.path()).parent_path();
  if (folder.empty()) folder = ".";
  if (auto file = by_link(image, folder, warnings)) return file;
  return by_build_id(image, folder, warnings);
}

}  // namespace qperf::symbols
