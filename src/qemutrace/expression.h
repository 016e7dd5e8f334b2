#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// A condition on the fields of an event: `nsectors > 8 && (is_write || name =~ "virtio*")`.
///
///   or   := and ("||" and)*            comparisons: == != < <= > >= and =~ (glob on a string)
///   and  := not ("&&" not)*            operands: field names, numbers (decimal, 0x, signed), "strings"
///   not  := "!" not | comparison       also event, pid, tid, ts_ns
///
/// An event that lacks a field makes what names it neither true nor false: `a > 1 || b > 1` holds where one of them is there
/// and greater, `!(a > 1)` does not hold where a is absent.
class Expression {
 public:
  static Result<Expression> parse(std::string_view text);

  [[nodiscard]] bool holds(const Event& event);
  /// Field names used, without event, pid, tid, ts_ns.
  [[nodiscard]] std::vector<std::string> fields() const;

  enum class Op : uint8_t {
    kOr,
    kAnd,
    kNot,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kGlob,
    kNumber,
    kString,
    kField,
    kEvent,
    kPid,
    kTid,
    kTime
  };
  /// One step of the tree; children are indices into the same vector and come before their parent.
  struct Node {
    Op op;
    uint32_t left = 0;
    uint32_t right = 0;
    uint64_t number = 0;
    bool negative = false;  // `number` is then the two's complement of a negative value
    std::string text;       // of a string, or the field's name
    int bound = -1;         // a field's index in the events of bound_to_
  };

 private:
  struct Operand;
  [[nodiscard]] Operand operand(const Node& node, const Event& event) const;
  [[nodiscard]] std::optional<bool> truth(uint32_t index, const Event& event) const;
  [[nodiscard]] std::optional<bool> compare(const Node& node, const Event& event) const;

  std::vector<Node> nodes_;
  const EventInfo* bound_to_ = nullptr;
};

}  // namespace qperf::qemutrace
