#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// How the values of one field are spread: numbers by powers of two, strings each by themselves.
class FieldHistogram {
 public:
  explicit FieldHistogram(std::string field) : field_(std::move(field)) {}
  void add(const Event& event);

  /// Bucket k holds 2^(k-1) <= |value| < 2^k, 0 holds zero; -k the negative ones.
  [[nodiscard]] const std::map<int, uint64_t>& numbers() const noexcept { return numbers_; }
  [[nodiscard]] const std::map<std::string, uint64_t>& strings() const noexcept { return strings_; }
  [[nodiscard]] uint64_t counted() const noexcept { return counted_; }
  [[nodiscard]] uint64_t without_field() const noexcept { return without_field_; }
  /// Of strings beyond kMaxStrings different ones, counted together.
  [[nodiscard]] uint64_t other_strings() const noexcept { return other_strings_; }

  static constexpr size_t kMaxStrings = 10000;

 private:
  std::string field_;
  const EventInfo* bound_to_ = nullptr;
  std::optional<size_t> index_;
  std::map<int, uint64_t> numbers_;
  std::map<std::string, uint64_t> strings_;
  uint64_t counted_ = 0;
  uint64_t without_field_ = 0;
  uint64_t other_strings_ = 0;
};

}  // namespace qperf::qemutrace
