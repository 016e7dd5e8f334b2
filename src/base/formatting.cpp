// The one place where fmt's machinery is compiled. Everything else includes <fmt/core.h>, which only declares it: a file compiles
// in a tenth of the time, and neither programs nor the plugin depend on libfmt.so. The calls below make the compiler emit
// the functions that <fmt/core.h> refers to.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>

namespace qperf {

std::string emit_formatting(std::string_view text, fmt::format_args arguments, std::FILE* file);

std::string emit_formatting(std::string_view text, fmt::format_args arguments, std::FILE* file) {
  fmt::vprint(text, arguments);
  fmt::vprint(file, text, arguments);
  std::string out = fmt::vformat(text, arguments);
  fmt::vformat_to(std::back_inserter(out), text, arguments);
  return out;
}

}  // namespace qperf
