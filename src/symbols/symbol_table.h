#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "symbols/elf_file.h"
#include "symbols/interval_index.h"

namespace qperf::symbols {

/// The code symbols of an ELF's .symtab (else .dynsym). Names point into the file.
class SymbolTable {
 public:
  struct Symbol {
    uint64_t address = 0;
    uint64_t end = 0;  // exclusive; for a symbol without size the next symbol or its section's end
    std::string_view name;
  };

  /// Reads `file`; at most kMaxSymbols are kept.
  void read(const ElfFile& file);

  [[nodiscard]] bool empty() const noexcept { return symbols_.empty(); }
  /// The best cover: a function with a size, then a sized label, then the nearest symbol at or below in the same section.
  [[nodiscard]] const Symbol* find(GuestVa address) const noexcept;
  [[nodiscard]] std::optional<GuestVa> address_of(std::string_view name) const;
  /// Where the functions with a size lie, ascending, each place once.
  [[nodiscard]] std::vector<GuestRange> functions() const;

 private:
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> sized_functions_;  // indices into symbols_
  IntervalIndex functions_;
  IntervalIndex labels_;
  IntervalIndex nearest_;
};

inline constexpr size_t kMaxSymbols = size_t{8} << 20;

}  // namespace qperf::symbols
