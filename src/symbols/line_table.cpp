#include "symbols/line_table.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace qperf::symbols {
namespace {

constexpr size_t kMaxPathBytes = 4096;

/// A string that ends with a NUL at `offset` of a section; nullopt: it runs out of the section.
std::optional<std::string_view> string_at(std::span<const std::byte> section, uint64_t offset) noexcept {
  if (offset >= section.size()) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(section.data() + offset);
  const void* end = std::memchr(text, 0, section.size() - offset);
  if (end == nullptr) return std::nullopt;
  const auto size = static_cast<size_t>(static_cast<const char*>(end) - text);
  return std::string_view(text, std::min(size, kMaxPathBytes));
}

/// ByteReader plus what only DWARF has.
class LineReader : public ByteReader {
 public:
  explicit LineReader(std::span<const std::byte> bytes) noexcept : ByteReader(bytes), all_(bytes) {}

  std::optional<int64_t> sleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = u8();
      if (!byte) return std::nullopt;
      value |= static_cast<uint64_t>(*byte & 0x7f) << shift;
      if ((*byte & 0x80) != 0) continue;
      if ((*byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    return std::nullopt;
  }

  std::optional<std::string_view> string() noexcept {
    const auto text = string_at(all_, position());
    if (!text) return std::nullopt;
    const auto* end = static_cast<const std::byte*>(std::memchr(all_.data() + position(), 0, remaining()));
    (void)bytes(static_cast<size_t>(end - all_.data()) - position() + 1);
    return text;
  }

  std::optional<uint64_t> offset(bool dwarf64) noexcept {
    if (dwarf64) return u64();
    const auto value = u32();
    return value ? std::optional<uint64_t>(*value) : std::nullopt;
  }

 private:
  std::span<const std::byte> all_;
};

struct EntryFormat {
  uint64_t content;
  uint64_t form;
};

/// A directory or file of a DWARF 5 header.
struct Entry {
  std::string_view path;
  uint64_t folder = 0;
};

/// A field of a DWARF 5 entry: a string or a number; false: a form that is not understood.
bool read_field(LineReader& in, const LineSections& sections, bool dwarf64, uint64_t form, std::string_view& text,
                uint64_t& number) {
  std::optional<std::string_view> string;
  std::optional<uint64_t> value;
  switch (form) {
    case DW_FORM_string: string = in.string(); break;
    case DW_FORM_line_strp:
      if (const auto at = in.offset(dwarf64)) string = string_at(sections.line_strings, *at);
      break;
    case DW_FORM_strp:
      if (const auto at = in.offset(dwarf64)) string = string_at(sections.strings, *at);
      break;
    case DW_FORM_udata: value = in.varint(); break;
    case DW_FORM_data1: value = in.u8(); break;
    case DW_FORM_data2: value = in.u16(); break;
    case DW_FORM_data4: value = in.u32(); break;
    case DW_FORM_data8: value = in.u64(); break;
    case DW_FORM_data16: return in.bytes(16).has_value();
    case DW_FORM_block: {
      const auto size = in.varint();
      return size && in.bytes(*size).has_value();
    }
    default: return false;
  }
  if (string) text = *string;
  if (value) number = *value;
  return string || value;
}

std::optional<std::vector<Entry>> read_entries(LineReader& in, const LineSections& sections, bool dwarf64) {
  const auto format_count = in.u8();
  if (!format_count) return std::nullopt;
  std::vector<EntryFormat> formats;
  for (unsigned i = 0; i < *format_count; ++i) {
    const auto content = in.varint();
    const auto form = in.varint();
    if (!content || !form) return std::nullopt;
    formats.push_back({*content, *form});
  }
  const auto count = in.varint();
  // Every entry takes at least one byte, so a count beyond the rest of the section is a lie.
  if (!count || *count > in.remaining() || (formats.empty() && *count != 0)) return std::nullopt;
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < *count; ++i) {
    Entry entry;
    for (const auto& format : formats) {
      std::string_view text;
      uint64_t number = 0;
      if (!read_field(in, sections, dwarf64, format.form, text, number)) return std::nullopt;
      if (format.content == DW_LNCT_path) entry.path = text;
      if (format.content == DW_LNCT_directory_index) entry.folder = number;
    }
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::optional<LineTable> LineTable::read(const LineSections& sections, uint64_t offset, std::string_view compilation_folder) {
  if (offset >= sections.lines.size()) return std::nullopt;
  LineReader start(sections.lines.subspan(offset));
  auto length = std::optional<uint64_t>(start.u32().value_or(0));
  const bool dwarf64 = *length == 0xffffffff;
  if (dwarf64) length = start.u64();
  if (!length || *length == 0) return std::nullopt;
  const auto unit = start.bytes(std::min<uint64_t>(*length, start.remaining()));

  LineTable table;
  LineReader in(*unit);
  table.version_ = in.u16().value_or(0);
  table.compilation_folder_ = compilation_folder;
  if (table.version_ < 2 || table.version_ > 5) return std::nullopt;
  if (table.version_ == 5) (void)in.bytes(2);  // address and segment selector sizes: DW_LNE_set_address says its own
  const auto header_length = in.offset(dwarf64);
  if (!header_length || *header_length > in.remaining()) return std::nullopt;
  table.program_ = unit->subspan(in.position() + *header_length);
  const auto instruction_bytes = in.u8();
  const auto operations = table.version_ >= 4 ? in.u8() : std::optional<uint8_t>(1);
  (void)in.u8();  // default_is_stmt
  const auto line_base = in.u8();
  const auto line_range = in.u8();
  const auto opcode_base = in.u8();
  if (!opcode_base || *opcode_base == 0 || *line_range == 0) return std::nullopt;
  const auto operand_counts = in.bytes(*opcode_base - 1U);
  if (!operand_counts) return std::nullopt;
  table.instruction_bytes_ = *instruction_bytes;
  table.operations_ = std::max<uint8_t>(*operations, 1);
  table.line_base_ = static_cast<int8_t>(*line_base);
  table.line_range_ = *line_range;
  table.opcode_base_ = *opcode_base;
  table.operand_counts_ = *operand_counts;

  if (table.version_ == 5) {
    const auto folders = read_entries(in, sections, dwarf64);
    const auto files = folders ? read_entries(in, sections, dwarf64) : std::nullopt;
    if (!files) return std::nullopt;
    for (const auto& folder : *folders) table.folders_.push_back(folder.path);
    for (const auto& file : *files) table.files_.push_back({file.path, file.folder});
    return table;
  }
  table.folders_.push_back(compilation_folder);
  table.files_.emplace_back();
  while (true) {
    const auto folder = in.string();
    if (!folder) return std::nullopt;
    if (folder->empty()) break;
    table.folders_.push_back(*folder);
  }
  while (true) {
    const auto name = in.string();
    if (!name) return std::nullopt;
    if (name->empty()) return table;
    const auto folder = in.varint();
    const auto time = in.varint();
    const auto size = in.varint();
    if (!folder || !time || !size) return std::nullopt;
    table.files_.push_back({*name, *folder});
  }
}

std::string LineTable::file(uint64_t index) const {
  if (index >= files_.size() || files_[index].name.empty()) return {};
  const File& file = files_[index];
  std::string path;
  const auto prepend = [&](std::string_view folder) {
    if (!folder.empty()) path = std::string(folder) + '/' + path;
  };
  path = file.name;
  if (path[0] != '/' && file.folder < folders_.size() && file.folder != 0) prepend(folders_[file.folder]);
  // A compilation folder that is relative itself (builds that map their prefix away) leads nowhere and only lengthens names.
  if (path[0] != '/' && compilation_folder_.starts_with('/')) prepend(compilation_folder_);
  return tidy_path(path);
}

void LineTable::find(std::span<const uint64_t> addresses, std::span<SourcePlace> places) const {
  struct Row {
    uint64_t address = 0;
    uint64_t operation = 0;
    uint64_t file = 1;
    uint64_t line = 1;
  };
  struct Found {
    uint64_t file = 0;
    uint64_t line = 0;
    bool known = false;
  };
  std::vector<Found> found(addresses.size());
  Row row;
  Row previous;
  bool in_sequence = false;  // `previous` is a row of this sequence
  auto next = addresses.begin();

  const auto emit = [&] {
    if (!in_sequence || row.address < previous.address)
      next = std::lower_bound(addresses.begin(), addresses.end(), row.address);
    for (; next != addresses.end() && *next < row.address; ++next) {
      Found& place = found[static_cast<size_t>(next - addresses.begin())];
      if (!place.known) place = {previous.file, previous.line, true};
    }
    previous = row;
    in_sequence = true;
  };
  const auto advance = [&](uint64_t operations) {
    if (operations_ == 1) {
      row.address += operations * instruction_bytes_;
      return;
    }
    row.address += instruction_bytes_ * ((row.operation + operations) / operations_);
    row.operation = (row.operation + operations) % operations_;
  };

  LineReader in(program_);
  while (const auto opcode = in.u8()) {
    if (*opcode >= opcode_base_) {
      const unsigned adjusted = *opcode - opcode_base_;
      advance(adjusted / line_range_);
      row.line += static_cast<uint64_t>(static_cast<int64_t>(line_base_) + adjusted % line_range_);
      emit();
      continue;
    }
    std::optional<uint64_t> operand = 0;
    switch (*opcode) {
      case 0: {
        const auto size = in.varint();
        const auto body = size && *size > 0 ? in.bytes(*size) : std::nullopt;
        operand = body ? std::optional<uint64_t>(0) : std::nullopt;
        if (!body) break;
        LineReader extended(*body);
        const auto kind = *extended.u8();
        if (kind == DW_LNE_end_sequence) {
          emit();
          row = {};
          in_sequence = false;
        } else if (kind == DW_LNE_set_address) {
          row.address = *size == 9 ? extended.u64().value_or(0) : extended.u32().value_or(0);
          row.operation = 0;
        }
        break;
      }
      case DW_LNS_copy: emit(); break;
      case DW_LNS_advance_pc:
        operand = in.varint();
        advance(operand.value_or(0));
        break;
      case DW_LNS_advance_line: {
        const auto lines = in.sleb();
        row.line += static_cast<uint64_t>(lines.value_or(0));
        operand = lines ? std::optional<uint64_t>(0) : std::nullopt;
        break;
      }
      case DW_LNS_set_file:
        operand = in.varint();
        row.file = operand.value_or(0);
        break;
      case DW_LNS_const_add_pc: advance((255U - opcode_base_) / line_range_); break;
      case DW_LNS_fixed_advance_pc:
        operand = in.u16();
        row.address += operand.value_or(0);
        row.operation = 0;
        break;
      default:  // one that changes no address, file or line: only its operands matter
        for (unsigned i = 0; operand && i < std::to_integer<unsigned>(operand_counts_[*opcode - 1U]); ++i)
          operand = in.varint();
    }
    if (!operand) break;
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!found[i].known) continue;
    places[i].file = file(found[i].file);
    if (found[i].line <= INT32_MAX) places[i].line = static_cast<uint32_t>(found[i].line);
  }
}

std::string tidy_path(std::string_view path) {
  std::string tidy;
  tidy.reserve(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    if (!tidy.empty() && tidy.back() == '/') {
      if (path[i] == '/') continue;
      if (path[i] == '.' && i + 1 < path.size() && path[i + 1] == '/') {
        ++i;
        continue;
      }
    }
    tidy.push_back(path[i]);
  }
  return tidy;
}

}  // namespace qperf::symbols
