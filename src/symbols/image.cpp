#include "symbols/image.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "symbols/call_sites.h"
#include "symbols/cfi.h"
#include "symbols/debug_file.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_units.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"

namespace qperf::symbols {
namespace {

struct EndDwarf {
  void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
};

bool has_debug_info(const ElfFile& file) {
  const auto* info = file.section(".debug_info");
  if (info == nullptr) info = file.section(".zdebug_info");
  return info != nullptr && info->type != SHT_NOBITS;
}

/// A debug section as libdw sees it; call after dwarf_begin_elf, which decompresses.
std::span<const std::byte> debug_bytes(const ElfFile& file, std::string_view name) {
  const auto* section = file.section(name);
  Elf_Data* data = section == nullptr || section->type == SHT_NOBITS ? nullptr : elf_rawdata(section->scn, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

/// False, with a warning, where debug sections are compressed in a way that this libelf leaves alone. Call before
/// dwarf_begin_elf, which takes compressed bytes for none at all.
bool can_decompress(const ElfFile& file, std::vector<std::string>& warnings) {
  for (const auto& section : file.sections()) {
    GElf_Chdr header{};
    if ((section.flags & SHF_COMPRESSED) == 0 || !section.name.starts_with(".debug_")) continue;
    if (gelf_getchdr(section.scn, &header) != nullptr && header.ch_type == ELFCOMPRESS_ZLIB) continue;
    constexpr unsigned kZstd = 2;  // ELFCOMPRESS_ZSTD, which older elf.h lack
    const bool zstd = header.ch_type == kZstd;
    if (zstd && elf_compress(section.scn, 0, 0) >= 0) continue;
    warnings.push_back(
        fmt::format("{}: debug sections are compressed with {}, which the installed libelf cannot read: names come "
                    "from the symbol table; run `objcopy --decompress-debug-sections` or use elfutils 0.189 or later",
                    file.path(), zstd ? std::string("zstd") : fmt::format("unknown method {}", header.ch_type)));
    return false;
  }
  return true;
}

}  // namespace

struct Image::State {
  explicit State(ElfFile file) : elf(std::move(file)) {}

  ElfFile elf;
  std::optional<ElfFile> debug;
  std::vector<std::string> warnings;
  std::unique_ptr<Dwarf, EndDwarf> dwarf;
  std::optional<DwarfUnits> units;
  std::optional<CallFrames> frames;
  SymbolTable symbols;
};

Result<Image> Image::open(const std::string& path) {
  QPERF_ASSIGN_OR_RETURN(ElfFile elf, ElfFile::open(path));
  auto state = std::make_unique<State>(std::move(elf));
  if (!has_debug_info(state->elf)) state->debug = find_debug_file(state->elf, state->warnings);
  const ElfFile& source = state->debug ? *state->debug : state->elf;

  const bool decompressed = can_decompress(source, state->warnings);
  state->dwarf.reset(dwarf_begin_elf(source.elf(), DWARF_C_READ, nullptr));
  const bool dwarf_readable = state->dwarf != nullptr && decompressed && has_debug_info(source);
  if (dwarf_readable) {
    const DebugSections sections{.lines = {.lines = debug_bytes(source, ".debug_line"),
                                           .line_strings = debug_bytes(source, ".debug_line_str"),
                                           .strings = debug_bytes(source, ".debug_str")},
                                 .info = debug_bytes(source, ".debug_info"),
                                 .abbrev = debug_bytes(source, ".debug_abbrev")};
    state->units.emplace(state->dwarf.get(), sections, source.file_bytes().size());
  }
  if (const auto target = state->elf.target(); target) state->frames.emplace(state->dwarf.get(), state->elf.elf(), *target);

  state->symbols.read(state->elf);
  if (state->symbols.empty() && state->debug) state->symbols.read(*state->debug);

  if (!dwarf_readable && state->warnings.empty()) {
    state->warnings.push_back(
        state->symbols.empty()
            ? fmt::format("{}: stripped: no names; give the ELF before it was stripped, or its .debug file beside it", path)
            : fmt::format("{}: no debug information: names come from the symbol table, without inlined functions and lines",
                          path));
  } else if (dwarf_readable && source.section(".debug_line") == nullptr) {
    state->warnings.push_back(fmt::format("{}: no line table: names without files and lines", source.path()));
  }
  return Image(std::move(state));
}

Image::Image(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(Image&&) noexcept = default;
Image::~Image() = default;

const std::string& Image::path() const noexcept { return state_->elf.path(); }
std::optional<guest::Target> Image::target() const noexcept { return state_->elf.target(); }
std::span<const std::byte> Image::build_id() const noexcept { return state_->elf.build_id(); }
bool Image::has_dwarf() const noexcept { return state_->units.has_value(); }
std::span<const std::string> Image::warnings() const noexcept { return state_->warnings; }
bool Image::is_text(GuestVa address) const noexcept { return state_->elf.is_text(address); }
std::span<const GuestRange> Image::text_ranges() const noexcept { return state_->elf.text_ranges(); }

std::span<const std::byte> Image::bytes_at(GuestVa address, size_t count) const noexcept {
  return state_->elf.bytes_at(address, count);
}

std::optional<GuestVa> Image::function_start(GuestVa address) const {
  if (state_->units) {
    if (const auto start = state_->units->function_start(address.raw)) return GuestVa{*start};
  }
  const auto* symbol = state_->symbols.find(address);
  return symbol == nullptr ? std::nullopt : std::optional(GuestVa{symbol->address});
}

std::vector<GuestRange> Image::functions() const { return state_->symbols.functions(); }

std::optional<GuestVa> Image::symbol_address(std::string_view name) const { return state_->symbols.address_of(name); }

std::span<const std::byte> Image::text_before(GuestVa address) const noexcept {
  for (size_t count = kMaxCallBytes; count >= 2; --count) {
    const auto before = bytes_at(address - static_cast<int64_t>(count), count);
    if (before.size() == count) return before;
  }
  return {};
}

bool Image::follows_call(GuestVa address) const noexcept {
  const auto target = state_->elf.target();
  if (!target || address.raw == 0 || !is_text(address - 1)) return false;
  const auto before = text_before(address);
  // Where the file does not hold the bytes nothing speaks against it.
  return before.empty() || ends_with_call(*target, before);
}

std::optional<GuestVa> Image::call_target(GuestVa address) const noexcept {
  const auto target = state_->elf.target();
  if (!target || address.raw == 0 || !is_text(address - 1)) return std::nullopt;
  return direct_call_target(*target, text_before(address), address);
}

ReturnAddressAt Image::return_address_at(GuestVa pc) const {
  if (state_->frames) {
    if (const auto found = state_->frames->return_address_at(pc); found != ReturnAddressAt::kUnknown) return found;
  }
  return function_start(pc) == pc ? ReturnAddressAt::kLinkRegister : ReturnAddressAt::kUnknown;
}

Result<std::vector<Location>> Image::symbolize(std::span<const GuestVa> addresses) const {
  std::vector<uint64_t> unique;
  unique.reserve(addresses.size());
  for (const GuestVa address : addresses) unique.push_back(address.raw);
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());

  std::vector<Location> found(unique.size());
  if (state_->units) state_->units->symbolize(unique, found);
  for (size_t i = 0; i < unique.size(); ++i) {
    Location& location = found[i];
    if (location.source == NameSource::kDwarf && !location.frames.back().function.empty()) continue;
    const auto* symbol = state_->symbols.find(GuestVa{unique[i]});
    if (symbol == nullptr) {
      if (location.source == NameSource::kNone) location.frames.clear();
      continue;
    }
    if (location.frames.empty()) location.frames.emplace_back();
    SourceFrame& frame = location.frames.back();
    frame.linkage = symbol->name;
    frame.function = demangle(symbol->name);
    if (location.source == NameSource::kNone) location.source = NameSource::kSymbolTable;
  }

  std::vector<Location> results;
  results.reserve(addresses.size());
  for (const GuestVa address : addresses) {
    const auto at = std::lower_bound(unique.begin(), unique.end(), address.raw) - unique.begin();
    results.push_back(found[static_cast<size_t>(at)]);
  }
  return results;
}

}  // namespace qperf::symbols
