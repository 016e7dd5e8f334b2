#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qemutrace/declarations.h"

namespace qperf::qemutrace {

/// A value as records hold it: 64 bits, or `number` bytes at `text`.
struct Value {
  uint64_t number = 0;
  const char* text = nullptr;  // not null for strings, also empty ones

  [[nodiscard]] bool is_string() const noexcept { return text != nullptr; }
  [[nodiscard]] std::string_view string() const noexcept { return {text, number}; }
};

/// A declared format string, taken apart once: text and conversions in turn.
class CompiledFormat {
 public:
  struct Piece {
    std::string literal;      // text before the conversion
    char conversion = 0;      // d u x X o c s p, or 0 at the end: literal only
    uint8_t width_bytes = 4;  // of the C type that the conversion reads
    uint8_t argument = 0;     // which of the declared arguments the conversion reads
    int16_t star = -1;        // the argument that gives the width ("%0*x"), -1: none
    std::string flags;        // "-+ #0" as written
    uint16_t min_width = 0;
    int16_t precision = -1;  // -1: none
  };

  /// nullopt when the source is not plain literals with PRI macros, or its conversions do not fit the arguments.
  static std::optional<CompiledFormat> compile(const Declaration& declaration);

  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }

  /// Whether each of `count` arguments is read, as a value or as a width.
  [[nodiscard]] bool reads_all(size_t count) const noexcept;

  /// Appends what printf would print. Strings are made printable; fewer values than conversions print "?".
  void render(std::span<const Value> values, std::string& out) const;

  /// The reverse: reads the values back from a printed line. Numbers are widened as QEMU's simple back end does; `values` has
  /// an element per argument. Views point into `text`. Returns the arguments that the format does not show (bit i for argument
  /// i), nullopt when the text is not of this format.
  [[nodiscard]] std::optional<uint16_t> match(std::string_view text, const Declaration& declaration,
                                              std::span<Value> values) const;

 private:
  std::vector<Piece> pieces_;
};

/// A number as the declared type reads it: cut to the type's width, then sign-extended to 64 bits where the type is signed.
[[nodiscard]] uint64_t widened(uint64_t number, const Argument& argument) noexcept;

}  // namespace qperf::qemutrace
