#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace qperf {

/// A regular expression for text of any length from anybody: matching takes time proportional to text x pattern, no recursion and
/// no memory that depends on the text, which std::regex does not promise.
///
/// Syntax: literals, `.`, `[a-z]`, `[^...]`, `\d \w \s \D \W \S`, `\b`, `^`, `$`, `|`, `(...)`, `(?:...)`, `* + ?` (also lazy, which
/// makes no difference here), `{n}`, `{n,}`, `{n,m}`; a leading `(?i)` ignores the case of ASCII letters. `.` is one byte. No back
/// references and no look-around.
class Pattern {
 public:
  /// Error: no such expression, or one that would become too large.
  [[nodiscard]] static Result<Pattern> parse(std::string_view expression);

  /// Whether some part of `text` matches.
  [[nodiscard]] bool found_in(std::string_view text) const;

  [[nodiscard]] const std::string& expression() const noexcept { return expression_; }

  using ByteSet = std::bitset<256>;
  enum class Op : uint8_t { kBytes, kSplit, kJump, kTextBegin, kTextEnd, kWordEdge, kMatch };
  struct Instruction {
    Op op = Op::kMatch;
    uint32_t set = 0;     // kBytes: index into the sets
    uint32_t target = 0;  // kJump, kSplit; a split also goes on with the next instruction
  };
  struct Program {
    std::vector<Instruction> code;
    std::vector<ByteSet> sets;
  };

  static constexpr size_t kMaxInstructions = 20000;

 private:
  explicit Pattern(std::string_view expression, Program program)
      : expression_(expression), program_(std::move(program)) {}

  std::string expression_;
  Program program_;
};

}  // namespace qperf
