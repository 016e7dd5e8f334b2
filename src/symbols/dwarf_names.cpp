#include "symbols/dwarf_names.h"

#include <dwarf.h>

#include <cstring>

#include "symbols/demangle.h"
#include "symbols/elf_file.h"

namespace qperf::symbols {
namespace {

std::string_view bounded(const char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text, strnlen(text, kMaxNameBytes));
}

std::string_view string_attribute(Dwarf_Die& die, unsigned name) noexcept {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(&die, name, &attribute) == nullptr ? std::string_view() : bounded(dwarf_formstring(&attribute));
}

FunctionName read_name(Dwarf_Die& die) {
  FunctionName name;
  std::string_view linkage = string_attribute(die, DW_AT_linkage_name);
  if (linkage.empty()) linkage = string_attribute(die, DW_AT_MIPS_linkage_name);
  const std::string_view plain = string_attribute(die, DW_AT_name);
  name.linkage = linkage.empty() ? plain : linkage;
  name.function = linkage.empty() ? std::string(plain) : demangle(linkage);
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  if (dwarf_attr_integrate(&die, DW_AT_decl_line, &attribute) != nullptr && dwarf_formudata(&attribute, &line) == 0 &&
      line <= UINT32_MAX) {
    name.start_line = static_cast<uint32_t>(line);
  }
  return name;
}

}  // namespace

const FunctionName& DwarfNames::of(Dwarf_Die& die) {
  Dwarf_Die named = die;
  Dwarf_Attribute attribute;
  // One step is enough to share: all inlined copies of a function point to one abstract DIE.
  if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) != nullptr && dwarf_formref_die(&attribute, &named) == nullptr)
    named = die;
  const auto [entry, fresh] = by_die_.try_emplace(named.addr);
  if (fresh) entry->second = read_name(named);
  return entry->second;
}

}  // namespace qperf::symbols
