#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "symbols/dwarf_names.h"
#include "symbols/function_scan.h"
#include "symbols/image.h"
#include "symbols/interval_index.h"
#include "symbols/line_table.h"

namespace qperf::symbols {

/// Bounds on what hostile DWARF can make us do; far above what real compilers write.
inline constexpr size_t kMaxUnits = size_t{1} << 20;
inline constexpr unsigned kMaxDieDepth = 256;
inline constexpr size_t kMaxInlineLevels = 128;

/// The raw sections that are read without libdw.
struct DebugSections {
  LineSections lines;
  std::span<const std::byte> info;    // .debug_info
  std::span<const std::byte> abbrev;  // .debug_abbrev
};

/// Functions, inlines and lines of an ELF's DWARF, read unit by unit where addresses ask for it: opening reads only the unit
/// headers and their ranges. Does not own the Dwarf.
class DwarfUnits {
 public:
  /// `file_bytes`: size of the file, which bounds the work of one call: an honest file has fewer DIEs and ranges than bytes.
  DwarfUnits(Dwarf* dwarf, const DebugSections& sections, size_t file_bytes)
      : dwarf_(dwarf), sections_(sections), budget_per_call_(4 * file_bytes + 65'536) {}

  /// Fills `locations[i]` for `addresses[i]` where a DWARF function covers the address (source kDwarf). Where only the line
  /// table does, one nameless frame with file and line is left and source stays kNone. `addresses` ascend.
  void symbolize(std::span<const uint64_t> addresses, std::span<Location> locations);

  /// Entry of the function that covers the address.
  [[nodiscard]] std::optional<uint64_t> function_start(uint64_t address);

 private:
  struct Function {
    Dwarf_Die die;
    uint64_t entry;
  };
  struct Unit {
    Dwarf_Die die;       // holds the lines and ranges
    Dwarf_Die contents;  // holds the functions: differs from `die` in split DWARF
    bool split = false;
    bool functions_read = false;
    bool nested_read = false;
    std::vector<Function> functions;
    IntervalIndex ranges;
  };
  struct Chain {
    uint64_t address = 0;
    std::vector<Dwarf_Die> inlined;  // outermost first
    SourcePlace place;
  };

  void read_units();
  Unit* unit_at(uint64_t address);
  void read_functions(Unit& unit, Descend descend);
  void add_function(Unit& unit, Dwarf_Die& die);
  bool add_scanned_functions(Unit& unit, Descend descend);
  void add_functions_below(Unit& unit, Dwarf_Die& parent, Descend descend, unsigned depth);
  Function* function_at(Unit& unit, uint64_t address);
  void symbolize_unit(Unit& unit, std::span<const uint64_t> addresses, std::span<Location> locations);
  void find_inlines(Dwarf_Die& parent, std::span<Chain* const> chains, unsigned depth);
  [[nodiscard]] std::optional<LineTable> read_lines(Unit& unit) const;
  void describe(Unit& unit, const LineTable* lines, Chain& chain, Function* function, Location& location);

  Dwarf* dwarf_;
  DebugSections sections_;
  size_t budget_per_call_;
  size_t budget_ = 0;  // DIEs and ranges that this call may still look at
  bool units_read_ = false;
  std::vector<Unit> units_;
  IntervalIndex unit_ranges_;
  DwarfNames names_;
};

}  // namespace qperf::symbols
