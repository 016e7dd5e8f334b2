#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "guest/target.h"

namespace qperf::symbols {

/// One source-level frame at an address.
struct SourceFrame {
  std::string function;     // demangled, hash and `.llvm.N` stripped; not yet made printable
  std::string linkage;      // as in the ELF, for pprof's system_name; may equal function
  std::string file;         // empty: not known
  uint32_t line = 0;        // of the address; 0: not known
  uint32_t start_line = 0;  // of the function's declaration; 0: not known
  bool inlined = false;
};

/// Where a name came from, best first.
enum class NameSource : uint8_t { kDwarf, kSymbolTable, kNone };

/// What an address is. `frames`: innermost inline first, the last one is the physical function; empty with kNone.
struct Location {
  std::vector<SourceFrame> frames;
  NameSource source = NameSource::kNone;
};

/// Where the caller's return address is at an instruction.
enum class ReturnAddressAt : uint8_t { kLinkRegister, kSaved, kUnknown };

/// An ELF file with its symbols: link-time addresses in, names out. All addresses here are link-time (unslid).
/// Safe to use from one thread at a time. Names come from an untrusted file: callers make them printable.
class Image {
 public:
  /// Opens an ELF and finds its separate debug file (.gnu_debuglink, build-id folders beside it and in /usr/lib/debug).
  /// Refuses what is no ELF with a message that says to give the ELF, not the flat binary.
  [[nodiscard]] static Result<Image> open(const std::string& path);
  Image(Image&&) noexcept;
  Image& operator=(Image&&) noexcept;
  ~Image();

  [[nodiscard]] const std::string& path() const noexcept;
  /// nullopt: a machine that is not profiled.
  [[nodiscard]] std::optional<guest::Target> target() const noexcept;
  [[nodiscard]] std::span<const std::byte> build_id() const noexcept;  // empty: none
  [[nodiscard]] bool has_dwarf() const noexcept;
  /// Warnings worth showing once: stripped, compressed sections that libdw cannot read, no line table.
  [[nodiscard]] std::span<const std::string> warnings() const noexcept;

  /// True where the address lies in an executable section (or, without sections, segment).
  [[nodiscard]] bool is_text(GuestVa address) const noexcept;
  /// File bytes at an address of the image, at most `count`, fewer at the section's end; empty outside.
  [[nodiscard]] std::span<const std::byte> bytes_at(GuestVa address, size_t count) const noexcept;
  /// The executable ranges, ascending, [first, last] inclusive.
  [[nodiscard]] std::span<const GuestRange> text_ranges() const noexcept;
  /// Start of the function that covers the address, from DWARF or the symbol table.
  [[nodiscard]] std::optional<GuestVa> function_start(GuestVa address) const;
  /// Where the symbol table's functions with a size lie, ascending, each place once.
  [[nodiscard]] std::vector<GuestRange> functions() const;
  /// Address of a symbol by its exact linkage name.
  [[nodiscard]] std::optional<GuestVa> symbol_address(std::string_view name) const;

  /// True if the instruction that ends at `address` is a call, so that `address` can be a return address.
  [[nodiscard]] bool follows_call(GuestVa address) const noexcept;

  /// Where the call whose return address is `address` goes; nullopt: no call, or one through a register or memory.
  [[nodiscard]] std::optional<GuestVa> call_target(GuestVa address) const noexcept;

  /// Where the return address of the function at `pc` is, by CFI (.debug_frame, .eh_frame), else by looking whether pc is the
  /// function's first address. kUnknown where neither tells.
  [[nodiscard]] ReturnAddressAt return_address_at(GuestVa pc) const;

  /// Names for many addresses at once: result[i] belongs to addresses[i]; any order, duplicates allowed. Only the DWARF units
  /// that are touched are read. The caller has already subtracted 1 from return addresses.
  [[nodiscard]] Result<std::vector<Location>> symbolize(std::span<const GuestVa> addresses) const;

 private:
  struct State;
  /// The longest piece of text, up to kMaxCallBytes, that ends where `address` begins.
  [[nodiscard]] std::span<const std::byte> text_before(GuestVa address) const noexcept;
  explicit Image(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace qperf::symbols
