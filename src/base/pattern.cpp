#include "base/pattern.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/printable.h"

namespace qperf {
namespace {

using ByteSet = Pattern::ByteSet;
using Op = Pattern::Op;
using Instruction = Pattern::Instruction;
using Program = Pattern::Program;
using Code = std::vector<Instruction>;  // jump targets relative to its own begin

constexpr int kMaxNesting = 200;
constexpr uint32_t kMaxRepeat = 1000;

bool is_word(unsigned char byte) noexcept {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/// Compiles as it reads: each method returns the code of what it has read.
class Compiler {
 public:
  explicit Compiler(std::string_view text) : rest_(text) {}

  Result<Program> run() {
    if (rest_.starts_with("(?i)")) {
      rest_.remove_prefix(4);
      ignore_case_ = true;
    }
    QPERF_ASSIGN_OR_RETURN(Code code, alternatives());
    if (!rest_.empty()) return wrong("a ')' without '('");
    code.push_back({.op = Op::kMatch});
    program_.code = std::move(code);
    return std::move(program_);
  }

 private:
  static Error wrong(std::string_view what) { return Error{ErrorCode::kUsage, std::string(what)}; }

  static Result<void> append(Code& code, const Code& more) {
    if (code.size() + more.size() > Pattern::kMaxInstructions) return wrong("too large: fewer or smaller repeats are needed");
    const auto base = static_cast<uint32_t>(code.size());
    for (Instruction instruction : more) {
      if (instruction.op == Op::kJump || instruction.op == Op::kSplit) instruction.target += base;
      code.push_back(instruction);
    }
    return {};
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Result<Code> alternatives() {
    if (++nesting_ > kMaxNesting) return wrong(fmt::format("more than {} groups inside each other", kMaxNesting));
    QPERF_ASSIGN_OR_RETURN(Code code, sequence());
    while (take('|')) {
      QPERF_ASSIGN_OR_RETURN(const Code other, sequence());
      Code joined{{.op = Op::kSplit, .set = 0, .target = static_cast<uint32_t>(code.size() + 2)}};
      QPERF_RETURN_IF_ERROR(append(joined, code));
      joined.push_back({.op = Op::kJump, .set = 0, .target = static_cast<uint32_t>(code.size() + 2 + other.size())});
      QPERF_RETURN_IF_ERROR(append(joined, other));
      code = std::move(joined);
    }
    --nesting_;
    return code;
  }

  Result<Code> sequence() {
    Code code;
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      QPERF_ASSIGN_OR_RETURN(Code one, atom());
      QPERF_ASSIGN_OR_RETURN(one, repeats(std::move(one)));
      QPERF_RETURN_IF_ERROR(append(code, one));
    }
    return code;
  }

  Result<Code> repeats(Code code) {
    for (;;) {
      uint32_t least = 0;
      std::optional<uint32_t> most;
      if (take('*')) {
      } else if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (counted(least, most)) {
        if (least > kMaxRepeat || most.value_or(0) > kMaxRepeat || most.value_or(least) < least)
          return wrong(fmt::format("a repeat must be {{n}}, {{n,}} or {{n,m}} with n <= m <= {}", kMaxRepeat));
      } else {
        return code;
      }
      take('?');
      QPERF_ASSIGN_OR_RETURN(code, repeated(code, least, most));
    }
  }

  /// Takes "{2,5}"; a '{' that begins no repeat is a literal.
  bool counted(uint32_t& least, std::optional<uint32_t>& most) {
    std::string_view at = rest_;
    const auto number = [&]() -> std::optional<uint32_t> {
      std::optional<uint32_t> value;
      for (; !at.empty() && at.front() >= '0' && at.front() <= '9'; at.remove_prefix(1))
        value = std::min(value.value_or(0) * 10 + static_cast<uint32_t>(at.front() - '0'), kMaxRepeat + 1);
      return value;
    };
    if (!at.starts_with('{')) return false;
    at.remove_prefix(1);
    const auto first = number();
    if (!first) return false;
    least = *first;
    most = first;
    if (at.starts_with(',')) {
      at.remove_prefix(1);
      most = number();
    }
    if (!at.starts_with('}')) return false;
    rest_ = at.substr(1);
    return true;
  }

  static Result<Code> repeated(const Code& one, uint32_t least, std::optional<uint32_t> most) {
    Code code;
    for (uint32_t i = 0; i < least; ++i) QPERF_RETURN_IF_ERROR(append(code, one));
    const auto size = static_cast<uint32_t>(one.size());
    if (!most) {
      Code loop{{.op = Op::kSplit, .set = 0, .target = size + 2}};
      QPERF_RETURN_IF_ERROR(append(loop, one));
      loop.push_back({.op = Op::kJump, .set = 0, .target = 0});
      QPERF_RETURN_IF_ERROR(append(code, loop));
      return code;
    }
    Code optional{{.op = Op::kSplit, .set = 0, .target = size + 1}};
    QPERF_RETURN_IF_ERROR(append(optional, one));
    for (uint32_t i = least; i < *most; ++i) QPERF_RETURN_IF_ERROR(append(code, optional));
    return code;
  }

  Result<Code> atom() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    switch (c) {
      case '(': return group();
      case '[': return bracket();
      case '^': return Code{{.op = Op::kTextBegin}};
      case '$': return Code{{.op = Op::kTextEnd}};
      case '.': return bytes(ByteSet().set());
      case '*':
      case '+':
      case '?': return wrong(fmt::format("'{}' has nothing to repeat", c));
      case '\\': return escape();
      default: return literal(c);
    }
  }

  Result<Code> group() {
    if (rest_.starts_with("?:")) {
      rest_.remove_prefix(2);
    } else if (rest_.starts_with('?')) {
      return wrong("'(?' begins nothing that is known here: (?:...) is, and (?i) at the very start");
    }
    QPERF_ASSIGN_OR_RETURN(Code code, alternatives());
    if (!take(')')) return wrong("a '(' without ')'");
    return code;
  }

  static std::optional<ByteSet> class_of(char letter) {
    ByteSet set;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto c = static_cast<unsigned char>(byte);
      switch (letter | 0x20) {
        case 'd': set[byte] = c >= '0' && c <= '9'; break;
        case 'w': set[byte] = is_word(c); break;
        case 's': set[byte] = c == ' ' || (c >= '\t' && c <= '\r'); break;
        default: return std::nullopt;
      }
    }
    return (letter & 0x20) != 0 ? set : ~set;
  }

  static std::optional<char> control(char letter) {
    switch (letter) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      default: return std::nullopt;
    }
  }

  Result<Code> escape() {
    if (rest_.empty()) return wrong("a '\\' at the end");
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'b') return Code{{.op = Op::kWordEdge}};
    if (const auto set = class_of(c)) return bytes(*set);
    if (const auto byte = control(c)) return literal(*byte);
    if (is_word(static_cast<unsigned char>(c))) return wrong(fmt::format("'\\{}' is not known", c));
    return literal(c);
  }

  /// One member of a bracket: a byte, or (`set` gets it) a class.
  Result<std::optional<unsigned char>> member(ByteSet& set) {
    if (rest_.empty()) return wrong("a '[' without ']'");
    char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\\') {
      if (rest_.empty()) return wrong("a '\\' at the end");
      c = rest_.front();
      rest_.remove_prefix(1);
      if (const auto known = class_of(c)) {
        set |= *known;
        return std::optional<unsigned char>();
      }
      c = control(c).value_or(c);
    }
    return std::optional(static_cast<unsigned char>(c));
  }

  Result<Code> bracket() {
    const bool negated = take('^');
    ByteSet set;
    for (bool first = true; first || !rest_.starts_with(']'); first = false) {
      QPERF_ASSIGN_OR_RETURN(const auto low, member(set));
      if (!low) continue;
      unsigned char high = *low;
      if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        QPERF_ASSIGN_OR_RETURN(const auto end, member(set));
        if (!end || *end < *low) return wrong("a range in '[...]' must go upwards");
        high = *end;
      }
      for (unsigned byte = *low; byte <= high; ++byte) add_byte(set, static_cast<unsigned char>(byte));
    }
    rest_.remove_prefix(1);
    return bytes(negated ? ~set : set);
  }

  void add_byte(ByteSet& set, unsigned char byte) const {
    set.set(byte);
    const unsigned char other_case = byte ^ 0x20;
    const unsigned char lower = byte | 0x20;
    if (ignore_case_ && lower >= 'a' && lower <= 'z') set.set(other_case);
  }

  Result<Code> literal(char c) {
    ByteSet set;
    add_byte(set, static_cast<unsigned char>(c));
    return bytes(set);
  }

  Result<Code> bytes(const ByteSet& set) {
    const auto found = std::ranges::find(program_.sets, set);
    const auto index = static_cast<uint32_t>(found - program_.sets.begin());
    if (found == program_.sets.end()) program_.sets.push_back(set);
    return Code{{.op = Op::kBytes, .set = index, .target = 0}};
  }

  std::string_view rest_;
  bool ignore_case_ = false;
  int nesting_ = 0;
  Program program_;
};

/// The instructions that wait for a byte, all at once, after some part of the text.
class Simulation {
 public:
  explicit Simulation(const Program& program) : program_(program), seen_(program.code.size(), 0) {}

  bool found_in(std::string_view text) {
    for (size_t at = 0; at <= text.size(); ++at) {
      ++step_;
      next_.clear();
      if (at > 0) {
        const auto byte = static_cast<unsigned char>(text[at - 1]);
        for (const uint32_t position : waiting_)
          if (program_.sets[program_.code[position].set][byte] && follow(position + 1, text, at)) return true;
      }
      if (follow(0, text, at)) return true;
      waiting_.swap(next_);
    }
    return false;
  }

 private:
  /// Goes on from `position` without taking a byte; true if that is a match.
  bool follow(uint32_t position, std::string_view text, size_t at) {
    pending_.assign(1, position);
    while (!pending_.empty()) {
      const uint32_t now = pending_.back();
      pending_.pop_back();
      if (seen_[now] == step_) continue;
      seen_[now] = step_;
      const Instruction& instruction = program_.code[now];
      switch (instruction.op) {
        case Op::kBytes: next_.push_back(now); break;
        case Op::kMatch: return true;
        case Op::kJump: pending_.push_back(instruction.target); break;
        case Op::kSplit:
          pending_.push_back(instruction.target);
          pending_.push_back(now + 1);
          break;
        case Op::kTextBegin:
          if (at == 0) pending_.push_back(now + 1);
          break;
        case Op::kTextEnd:
          if (at == text.size()) pending_.push_back(now + 1);
          break;
        case Op::kWordEdge:
          if (word_at(text, at, 1) != word_at(text, at, 0)) pending_.push_back(now + 1);
          break;
      }
    }
    return false;
  }

  static bool word_at(std::string_view text, size_t at, size_t back) noexcept {
    return at >= back && at - back < text.size() && is_word(static_cast<unsigned char>(text[at - back]));
  }

  const Program& program_;
  uint64_t step_ = 0;
  std::vector<uint64_t> seen_;  // by instruction: the last step that reached it
  std::vector<uint32_t> waiting_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> pending_;
};

}  // namespace

Result<Pattern> Pattern::parse(std::string_view expression) {
  auto program = Compiler(expression).run();
  if (!program)
    return std::move(program).error().in(fmt::format("'{}': no regular expression", printable(expression)));
  return Pattern(expression, *std::move(program));
}

bool Pattern::found_in(std::string_view text) const { return Simulation(program_).found_in(text); }

}  // namespace qperf
