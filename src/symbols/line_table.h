#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qperf::symbols {

/// A place in the source; file empty or line 0: not known.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
};

/// The sections that line tables are spread over.
struct LineSections {
  std::span<const std::byte> lines;         // .debug_line
  std::span<const std::byte> line_strings;  // .debug_line_str
  std::span<const std::byte> strings;       // .debug_str
};

/// One unit's line table, DWARF 2 to 5 (little-endian). The rows are run through for the asked addresses and not kept: with a
/// kernel's five million rows this is what takes the time and memory of keeping and sorting them out of symbolizing. The
/// bytes are untrusted; a damaged table answers as far as it can be read.
class LineTable {
 public:
  /// Reads the header at `offset` of .debug_line; nullopt: none there that is understood.
  [[nodiscard]] static std::optional<LineTable> read(const LineSections& sections, uint64_t offset,
                                                     std::string_view compilation_folder);

  /// File `index` as DW_AT_call_file and the rows count it (from 1 before DWARF 5, from 0 since); empty: no such file.
  [[nodiscard]] std::string file(uint64_t index) const;

  /// places[i] for addresses[i], which ascend: the last row at or below it in the sequence that covers it.
  void find(std::span<const uint64_t> addresses, std::span<SourcePlace> places) const;

 private:
  struct File {
    std::string_view name;
    uint64_t folder = 0;
  };
  class Header;

  uint16_t version_ = 0;
  uint8_t instruction_bytes_ = 1;
  uint8_t operations_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  uint8_t opcode_base_ = 1;
  std::span<const std::byte> operand_counts_;
  std::string_view compilation_folder_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::span<const std::byte> program_;
};

/// A path as line tables compose it without `/./` and doubled slashes; `..` stays, it may cross a link.
[[nodiscard]] std::string tidy_path(std::string_view path);

}  // namespace qperf::symbols
