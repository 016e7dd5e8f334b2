#include "qemutrace/histogram.h"

#include <bit>

#include "base/printable.h"

namespace qperf::qemutrace {

void FieldHistogram::add(const Event& event) {
  if (event.info != bound_to_) {
    bound_to_ = event.info;
    index_ = event.info->argument_index(field_);
  }
  if (event.is_loss) return;
  if (!index_ || !event.has_value(*index_)) {
    ++without_field_;
    return;
  }
  ++counted_;
  const Value& value = event.values[*index_];
  if (value.is_string()) {
    std::string text = printable(value.string());
    if (strings_.size() >= kMaxStrings && !strings_.contains(text)) {
      ++other_strings_;
    } else {
      ++strings_[std::move(text)];
    }
    return;
  }
  const auto as_signed = static_cast<int64_t>(value.number);
  const bool negative = event.info->arguments[*index_].kind == ArgumentKind::kSigned && as_signed < 0;
  const auto bucket = static_cast<int>(std::bit_width(negative ? ~value.number + 1 : value.number));
  ++numbers_[negative ? -bucket : bucket];
}

}  // namespace qperf::qemutrace
