#include "symbols/function_scan.h"

#include <dwarf.h>

#include <cstring>

#include "base/bytes.h"

namespace qperf::symbols {
namespace {

/// Codes above this are not looked up in a table; compilers count them from 1.
constexpr uint64_t kMaxAbbreviations = 65'536;

struct Attribute {
  uint16_t form = 0;
  bool is_sibling = false;
};

/// What stepping over a DIE needs to know.
struct Abbreviation {
  uint16_t tag = 0;  // 0: no such code
  bool has_children = false;
  bool has_code = false;
  bool fixed = false;  // every attribute has a size that the form alone gives, and none is a sibling of another form than ref4
  uint32_t fixed_bytes = 0;
  int32_t sibling_at = -1;  // offset of a DW_FORM_ref4 sibling behind the code, with `fixed`
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
};

struct UnitHeader {
  uint16_t version = 0;
  uint8_t address_bytes = 0;
  uint8_t offset_bytes = 4;
  uint64_t abbrev_offset = 0;
};

/// Size of a form where it is the same in every DIE; nullopt: it depends, or the form is not known.
std::optional<uint32_t> fixed_size(uint64_t form, const UnitHeader& unit) noexcept {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const: return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1: return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2: return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3: return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4: return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8: return 8;
    case DW_FORM_data16: return 16;
    case DW_FORM_addr: return unit.address_bytes;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return unit.offset_bytes;
    case DW_FORM_ref_addr: return unit.version <= 2 ? unit.address_bytes : unit.offset_bytes;
    default: return std::nullopt;
  }
}

/// Signed ones take up to ten bytes too, but with a last byte that ByteReader's unsigned reading refuses.
bool skip_leb128(ByteReader& in) noexcept {
  for (unsigned i = 0; i < 10; ++i) {
    const auto byte = in.u8();
    if (!byte) return false;
    if (*byte < 0x80) return true;
  }
  return false;
}

/// Steps over a value whose size stands in the DIE; false: not understood.
bool skip_variable(ByteReader& in, std::span<const std::byte> all, uint64_t form) noexcept {
  std::optional<uint64_t> block;
  switch (form) {
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx: return skip_leb128(in);
    case DW_FORM_string: {
      const void* end = in.remaining() == 0 ? nullptr : std::memchr(all.data() + in.position(), 0, in.remaining());
      if (end == nullptr) return false;
      const auto size = static_cast<size_t>(static_cast<const std::byte*>(end) - all.data()) - in.position() + 1;
      return in.bytes(size).has_value();
    }
    case DW_FORM_exprloc:
    case DW_FORM_block: block = in.varint(); break;
    case DW_FORM_block1: block = in.u8(); break;
    case DW_FORM_block2: block = in.u16(); break;
    case DW_FORM_block4: block = in.u32(); break;
    default: return false;
  }
  return block && in.bytes(*block).has_value();
}

class Abbreviations {
 public:
  bool read(std::span<const std::byte> section, const UnitHeader& unit) {
    if (unit.abbrev_offset >= section.size()) return false;
    ByteReader in(section.subspan(unit.abbrev_offset));
    while (true) {
      const auto code = in.varint();
      if (!code || *code > kMaxAbbreviations) return false;
      if (*code == 0) return true;
      const auto tag = in.varint();
      const auto children = in.u8();
      if (!tag || *tag > UINT16_MAX || *tag == 0 || !children) return false;
      Abbreviation entry;
      entry.tag = static_cast<uint16_t>(*tag);
      entry.has_children = *children != 0;
      if (!read_attributes(in, unit, entry)) return false;
      if (by_code_.size() <= *code) by_code_.resize(*code + 1);
      by_code_[*code] = entry;
    }
  }

  [[nodiscard]] const Abbreviation* find(uint64_t code) const noexcept {
    return code < by_code_.size() && by_code_[code].tag != 0 ? &by_code_[code] : nullptr;
  }
  [[nodiscard]] std::span<const Attribute> attributes(const Abbreviation& entry) const noexcept {
    return std::span(attributes_).subspan(entry.first_attribute, entry.attribute_count);
  }

 private:
  bool read_attributes(ByteReader& in, const UnitHeader& unit, Abbreviation& entry) {
    entry.first_attribute = static_cast<uint32_t>(attributes_.size());
    entry.fixed = true;
    while (true) {
      const auto name = in.varint();
      const auto form = in.varint();
      if (!name || !form || *form > UINT16_MAX) return false;
      if (*name == 0 && *form == 0) break;
      if (*form == DW_FORM_implicit_const && !skip_leb128(in)) return false;
      if (*name == DW_AT_low_pc || *name == DW_AT_ranges || *name == DW_AT_entry_pc) entry.has_code = true;
      const bool sibling = *name == DW_AT_sibling;
      attributes_.push_back({static_cast<uint16_t>(*form), sibling});
      const auto size = fixed_size(*form, unit);
      if (sibling && *form == DW_FORM_ref4 && entry.fixed) entry.sibling_at = static_cast<int32_t>(entry.fixed_bytes);
      entry.fixed = entry.fixed && size.has_value();
      entry.fixed_bytes += size.value_or(0);
    }
    entry.attribute_count = static_cast<uint32_t>(attributes_.size()) - entry.first_attribute;
    return true;
  }

  std::vector<Abbreviation> by_code_;
  std::vector<Attribute> attributes_;
};

class Scan {
 public:
  Scan(std::span<const std::byte> unit, const UnitHeader& header, const Abbreviations& abbreviations, size_t first_die,
       Descend descend)
      : unit_(unit), header_(header), abbreviations_(abbreviations), descend_(descend), in_(unit) {
    (void)in_.bytes(first_die);
  }

  /// Offsets within the unit; false: not understood.
  bool run(std::vector<uint64_t>& functions) {
    uint64_t depth = 0;
    uint64_t skipped_below = 0;  // the depth of a DIE whose children are passed over; 0: none
    while (in_.remaining() > 0) {
      const uint64_t offset = in_.position();
      const auto code = in_.varint();
      if (!code) return false;
      if (*code == 0) {
        if (depth <= 1) return true;  // padding behind a lone DIE, or the end of the unit's children
        --depth;
        if (depth <= skipped_below) skipped_below = 0;
        continue;
      }
      const Abbreviation* entry = abbreviations_.find(*code);
      if (entry == nullptr) return false;
      uint64_t sibling = 0;
      if (!skip_attributes(*entry, sibling)) return false;
      if (entry->tag == DW_TAG_subprogram && entry->has_code && skipped_below == 0) functions.push_back(offset);
      if (!entry->has_children) continue;
      const bool enter = depth == 0 || descend_ == Descend::kFunctionsToo || holds_functions(entry->tag);
      if (!enter && sibling > in_.position() && sibling <= unit_.size()) {
        (void)in_.bytes(sibling - in_.position());
        continue;
      }
      if (!enter && skipped_below == 0) skipped_below = depth;
      ++depth;
    }
    return true;
  }

 private:
  bool skip_attributes(const Abbreviation& entry, uint64_t& sibling) {
    if (entry.fixed) {
      const auto values = in_.bytes(entry.fixed_bytes);
      if (!values) return false;
      if (entry.sibling_at >= 0) sibling = ByteReader(values->subspan(static_cast<size_t>(entry.sibling_at))).u32().value_or(0);
      return true;
    }
    for (const Attribute& attribute : abbreviations_.attributes(entry)) {
      if (const auto size = fixed_size(attribute.form, header_)) {
        const auto value = in_.bytes(*size);
        if (!value) return false;
        if (attribute.is_sibling && attribute.form == DW_FORM_ref4) sibling = ByteReader(*value).u32().value_or(0);
      } else if (!skip_variable(in_, unit_, attribute.form)) {
        return false;
      }
    }
    return true;
  }

  std::span<const std::byte> unit_;
  const UnitHeader& header_;
  const Abbreviations& abbreviations_;
  Descend descend_;
  ByteReader in_;
};

}  // namespace

std::optional<std::vector<uint64_t>> scan_functions(std::span<const std::byte> debug_info,
                                                    std::span<const std::byte> debug_abbrev, uint64_t unit_offset,
                                                    Descend descend) {
  if (unit_offset >= debug_info.size()) return std::nullopt;
  std::span<const std::byte> unit = debug_info.subspan(unit_offset);
  ByteReader in(unit);
  UnitHeader header;
  uint64_t length = in.u32().value_or(0);
  if (length == 0xffffffff) {
    header.offset_bytes = 8;
    length = in.u64().value_or(0);
  }
  if (length > in.remaining()) return std::nullopt;
  unit = unit.first(in.position() + length);
  in = ByteReader(unit);
  (void)in.bytes(header.offset_bytes == 8 ? 12 : 4);
  header.version = in.u16().value_or(0);
  if (header.version < 2 || header.version > 5) return std::nullopt;
  const auto offset = [&] { return header.offset_bytes == 8 ? in.u64() : std::optional<uint64_t>(in.u32()); };
  std::optional<uint8_t> address_bytes;
  std::optional<uint64_t> abbrev_offset;
  if (header.version == 5) {
    const auto type = in.u8();
    address_bytes = in.u8();
    abbrev_offset = offset();
    if (type != DW_UT_compile && type != DW_UT_partial) return std::nullopt;
  } else {
    abbrev_offset = offset();
    address_bytes = in.u8();
  }
  if (!address_bytes || !abbrev_offset) return std::nullopt;
  header.address_bytes = *address_bytes;
  header.abbrev_offset = *abbrev_offset;
  Abbreviations abbreviations;
  if (!abbreviations.read(debug_abbrev, header)) return std::nullopt;
  std::vector<uint64_t> functions;
  if (!Scan(unit, header, abbreviations, in.position(), descend).run(functions)) return std::nullopt;
  for (uint64_t& function : functions) function += unit_offset;
  return functions;
}

bool holds_functions(int tag) noexcept {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: return true;
    default: return false;
  }
}

}  // namespace qperf::symbols
