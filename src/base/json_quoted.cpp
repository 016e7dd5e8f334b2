#include "base/json_quoted.h"

#include "base/printable.h"

namespace qperf {

std::string json_quoted(std::string_view untrusted) {
  std::string out = "\"";
  for (const char c : printable(untrusted)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
  return out;
}

}  // namespace qperf
