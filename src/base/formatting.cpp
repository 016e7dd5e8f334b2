// The one place where fmt's machinery is compiled. Everything else includes <fmt/core.h>, which only declares it: a file compiles
// in a tenth of the time, and neither programs nor the plugin depend on libfmt.so.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>

namespace qperf {

// fmt's functions are inline here: taking their addresses makes the compiler emit those that <fmt/core.h> refers to.
struct EmittedFormatting {
  std::string (*vformat)(fmt::string_view, fmt::format_args);
  void (*vprint)(fmt::string_view, fmt::format_args);
  void (*vprint_to)(std::FILE*, fmt::string_view, fmt::format_args);
};
extern const EmittedFormatting kEmittedFormatting;
const EmittedFormatting kEmittedFormatting{&fmt::vformat, &fmt::vprint, &fmt::vprint};

// For fmt::format_to, which appends through a buffer of its own.
std::string append_formatted(std::string text, fmt::string_view format, fmt::format_args arguments);
std::string append_formatted(std::string text, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(text), format, arguments);
  return text;
}

}  // namespace qperf
