#include "qemutrace/event.h"

namespace qperf::qemutrace {

std::optional<size_t> EventInfo::argument_index(std::string_view argument_name) const noexcept {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument_name) return i;
  }
  return std::nullopt;
}

std::optional<uint64_t> Event::number(std::string_view field) const noexcept {
  const auto index = info->argument_index(field);
  if (!index || !has_value(*index) || values[*index].is_string()) return std::nullopt;
  return values[*index].number;
}

std::optional<int64_t> Event::signed_number(std::string_view field) const noexcept {
  const auto value = number(field);
  if (!value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<std::string_view> Event::string(std::string_view field) const noexcept {
  const auto index = info->argument_index(field);
  if (!index || !has_value(*index) || !values[*index].is_string()) return std::nullopt;
  return values[*index].string();
}

}  // namespace qperf::qemutrace
