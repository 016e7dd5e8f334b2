#include "tools/qperf/record/gate.h"

#include <string>

namespace qperf::tools {
namespace {

bool is_in(std::string_view text, const std::optional<Pattern>& pattern) {
  return pattern && pattern->found_in(text);
}

}  // namespace

void Gate::begin(uint64_t now_ns) {
  if (!rules_.start_on) opens_at_ns_ = now_ns + rules_.delay_ns;
  tick(now_ns);
}

void Gate::line(std::string_view text, bool whole, uint64_t now_ns) {
  if (!line_counted_) {
    const bool wanted = open_ || opens_at_ns_;
    if (!wanted && is_in(text, rules_.start_on)) {
      opens_at_ns_ = now_ns + rules_.delay_ns;
      line_counted_ = true;
    } else if (wanted && is_in(text, rules_.stop_on)) {
      open_ = false;
      opens_at_ns_.reset();
      line_counted_ = true;
    }
  }
  if (whole) line_counted_ = false;
  tick(now_ns);
}

void Gate::tick(uint64_t now_ns) {
  if (!opens_at_ns_ || now_ns < *opens_at_ns_) return;
  opens_at_ns_.reset();
  open_ = true;
  if (!first_open_ns_) first_open_ns_ = now_ns;
}

}  // namespace qperf::tools
