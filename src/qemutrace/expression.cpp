#include "qemutrace/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/printable.h"
#include "qemutrace/glob.h"

namespace qperf::qemutrace {
namespace {

using Op = Expression::Op;
using Node = Expression::Node;

constexpr size_t kMaxBytes = 4096;
constexpr unsigned kMaxDepth = 64;  // of nesting: the parser and the evaluation recurse

constexpr std::array<std::pair<std::string_view, Op>, 7> kComparisons = {{
    {"==", Op::kEqual},
    {"!=", Op::kUnequal},
    {"<=", Op::kLessEqual},
    {">=", Op::kGreaterEqual},
    {"=~", Op::kGlob},
    {"<", Op::kLess},
    {">", Op::kGreater},
}};

bool is_name_start(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, std::vector<Node>& nodes) : whole_(text), rest_(text), nodes_(nodes) {}

  Result<void> parse() {
    if (whole_.size() > kMaxBytes) return fail("longer than 4096 characters");
    QPERF_ASSIGN_OR_RETURN([[maybe_unused]] const uint32_t root, either(0));
    blanks();
    if (!rest_.empty()) return fail("expected an operator or the end");
    return {};
  }

 private:
  Error fail(std::string_view what) const {
    const size_t column = whole_.size() - rest_.size() + 1;
    std::string message =
        "condition '" + printable(whole_.substr(0, 200)) + "': " + std::string(what) + " at column " + std::to_string(column);
    if (!rest_.empty()) message += ", found '" + printable(rest_.substr(0, 12)) + "'";
    return Error{ErrorCode::kUsage, std::move(message)};
  }
  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool take(std::string_view token) {
    blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  uint32_t add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  Result<uint32_t> either(unsigned depth) { return chain(depth, "||", Op::kOr); }

  /// `a || b || c`, or the same with && one level down.
  Result<uint32_t> chain(unsigned depth, std::string_view token, Op op) {
    const auto part = [&] { return op == Op::kOr ? chain(depth, "&&", Op::kAnd) : negation(depth); };
    QPERF_ASSIGN_OR_RETURN(uint32_t left, part());
    // Chains lean left, so their length is depth for the evaluation.
    for (unsigned length = 1; take(token); ++length) {
      if (length > kMaxDepth) return fail("more than 64 conditions in a row: use parentheses");
      QPERF_ASSIGN_OR_RETURN(const uint32_t right, part());
      left = add(Node{.op = op, .left = left, .right = right, .text = {}});
    }
    return left;
  }

  Result<uint32_t> negation(unsigned depth) {
    if (depth > kMaxDepth) return fail("nested deeper than 64");
    blanks();
    if (rest_.starts_with('!') && !rest_.starts_with("!=")) {
      rest_.remove_prefix(1);
      QPERF_ASSIGN_OR_RETURN(const uint32_t inner, negation(depth + 1));
      return add(Node{.op = Op::kNot, .left = inner, .text = {}});
    }
    if (take("(")) {
      QPERF_ASSIGN_OR_RETURN(const uint32_t inner, either(depth + 1));
      if (!take(")")) return fail("expected ')'");
      return inner;
    }
    QPERF_ASSIGN_OR_RETURN(const uint32_t left, operand());
    blanks();
    for (const auto& [token, op] : kComparisons) {
      if (!take(token)) continue;
      QPERF_ASSIGN_OR_RETURN(const uint32_t right, operand());
      return add(Node{.op = op, .left = left, .right = right, .text = {}});
    }
    if (rest_.starts_with('=')) return fail("expected == to compare");
    return left;
  }

  Result<uint32_t> operand() {
    blanks();
    if (rest_.empty()) return fail("expected a field, a number or a \"string\"");
    const char c = rest_.front();
    if (c == '"' || c == '\'') return string(c);
    if (is_digit(c) || c == '-' || c == '+') return number();
    if (!is_name_start(c)) return fail("expected a field, a number or a \"string\"");
    size_t length = 1;
    while (length < rest_.size() && (is_name_start(rest_[length]) || is_digit(rest_[length]))) ++length;
    Node node{.op = Op::kField, .text = std::string(rest_.substr(0, length))};
    rest_.remove_prefix(length);
    if (node.text == "event") node.op = Op::kEvent;
    if (node.text == "pid") node.op = Op::kPid;
    if (node.text == "tid") node.op = Op::kTid;
    if (node.text == "ts_ns") node.op = Op::kTime;
    if (node.text == "true" || node.text == "false") {
      node.op = Op::kNumber;
      node.number = node.text == "true" ? 1 : 0;
    }
    return add(std::move(node));
  }

  Result<uint32_t> string(char quote) {
    std::string text;
    size_t i = 1;
    for (; i < rest_.size() && rest_[i] != quote; ++i) {
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      text += rest_[i];
    }
    if (i == rest_.size()) return fail("a string without its closing quote");
    rest_.remove_prefix(i + 1);
    return add(Node{.op = Op::kString, .text = std::move(text)});
  }

  Result<uint32_t> number() {
    const bool minus = rest_.front() == '-';
    size_t at = minus || rest_.front() == '+' ? 1 : 0;
    const bool hex = rest_.substr(at).starts_with("0x") || rest_.substr(at).starts_with("0X");
    if (hex) at += 2;
    uint64_t value = 0;
    const auto [end, failure] = std::from_chars(rest_.data() + at, rest_.data() + rest_.size(), value, hex ? 16 : 10);
    if (failure == std::errc::result_out_of_range) return fail("a number that does not fit 64 bits");
    if (failure != std::errc{}) return fail("expected a number");
    if (minus && value > uint64_t{1} << 63) return fail("a number below the least of 64 bits");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (!rest_.empty() && is_name_start(rest_.front())) return fail("expected an operator after the number");
    return add(Node{.op = Op::kNumber, .number = minus ? ~value + 1 : value, .negative = minus && value != 0, .text = {}});
  }

  std::string_view whole_;
  std::string_view rest_;
  std::vector<Node>& nodes_;
};

}  // namespace

/// What an operand is for one event. Numbers carry their sign, so that -1 is less than 0xffffffffffffffff.
struct Expression::Operand {
  enum class Kind : uint8_t { kAbsent, kNumber, kString } kind = Kind::kAbsent;
  bool negative = false;
  uint64_t number = 0;
  std::string_view text;
};

Result<Expression> Expression::parse(std::string_view text) {
  Expression out;
  QPERF_RETURN_IF_ERROR(Parser(text, out.nodes_).parse());
  return out;
}

std::vector<std::string> Expression::fields() const {
  std::vector<std::string> out;
  for (const Node& node : nodes_) {
    if (node.op == Op::kField) out.push_back(node.text);
  }
  return out;
}

Expression::Operand Expression::operand(const Node& node, const Event& event) const {
  using Kind = Operand::Kind;
  switch (node.op) {
    case Op::kNumber: return {Kind::kNumber, node.negative, node.number, {}};
    case Op::kString: return {Kind::kString, false, 0, node.text};
    case Op::kEvent: return {Kind::kString, false, 0, event.name()};
    case Op::kPid: return {event.has_pid ? Kind::kNumber : Kind::kAbsent, false, event.pid, {}};
    case Op::kTid: return {event.has_tid ? Kind::kNumber : Kind::kAbsent, false, event.tid, {}};
    case Op::kTime: return {event.has_time ? Kind::kNumber : Kind::kAbsent, false, event.time_ns, {}};
    case Op::kField: break;
    case Op::kOr:
    case Op::kAnd:
    case Op::kNot:
    case Op::kEqual:
    case Op::kUnequal:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kGlob: return {};  // the grammar lets no condition be an operand
  }
  if (node.bound < 0 || !event.has_value(static_cast<size_t>(node.bound))) return {};
  const auto index = static_cast<size_t>(node.bound);
  const Value& value = event.values[index];
  if (value.is_string()) return {Kind::kString, false, 0, value.string()};
  const bool negative = event.info->arguments[index].kind == ArgumentKind::kSigned && static_cast<int64_t>(value.number) < 0;
  return {Kind::kNumber, negative, value.number, {}};
}

std::optional<bool> Expression::compare(const Node& node, const Event& event) const {
  const Operand a = operand(nodes_[node.left], event);
  const Operand b = operand(nodes_[node.right], event);
  if (a.kind == Operand::Kind::kAbsent || a.kind != b.kind) return std::nullopt;
  int order = 0;
  if (a.kind == Operand::Kind::kString) {
    if (node.op == Op::kGlob) return glob_matches(b.text, a.text);
    order = a.text.compare(b.text);
  } else if (node.op == Op::kGlob) {
    return std::nullopt;
  } else if (a.negative != b.negative) {
    order = a.negative ? -1 : 1;
  } else {
    order = a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  }
  if (node.op == Op::kEqual) return order == 0;
  if (node.op == Op::kUnequal) return order != 0;
  if (node.op == Op::kLess) return order < 0;
  if (node.op == Op::kLessEqual) return order <= 0;
  if (node.op == Op::kGreater) return order > 0;
  return order >= 0;
}

std::optional<bool> Expression::truth(uint32_t index, const Event& event) const {
  const Node& node = nodes_[index];
  if (node.op == Op::kOr || node.op == Op::kAnd) {
    const bool decides = node.op == Op::kOr;  // the value that one side alone decides by
    const auto left = truth(node.left, event);
    if (left && *left == decides) return decides;
    const auto right = truth(node.right, event);
    if (right && *right == decides) return decides;
    return left && right ? std::optional(!decides) : std::nullopt;
  }
  if (node.op == Op::kNot) {
    const auto inner = truth(node.left, event);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (node.op >= Op::kEqual && node.op <= Op::kGlob) return compare(node, event);
  const Operand value = operand(node, event);
  if (value.kind == Operand::Kind::kAbsent) return std::nullopt;
  return value.kind == Operand::Kind::kNumber ? value.number != 0 : !value.text.empty();
}

bool Expression::holds(const Event& event) {
  if (event.info != bound_to_) {
    for (Node& node : nodes_) {
      if (node.op != Op::kField) continue;
      const auto index = event.info->argument_index(node.text);
      node.bound = index ? static_cast<int>(*index) : -1;
    }
    bound_to_ = event.info;
  }
  return truth(static_cast<uint32_t>(nodes_.size() - 1), event).value_or(false);
}

}  // namespace qperf::qemutrace
