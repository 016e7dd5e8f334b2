#include "tools/qperf/json.h"

#include <fmt/core.h>

#include <cmath>

namespace qperf::tools {

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "null"; }

std::string json_report(const qemutrace::ReadReport& report) {
  return fmt::format(
      "\"incomplete\": {}, \"lost_events\": {}, \"loss_records\": {}, \"undeclared_events\": {}, \"mismatched_events\": {}, "
      "\"torn_bytes\": {}",
      report.incomplete(), report.lost_events, report.loss_records, report.undeclared_events, report.mismatched_events,
      report.torn_bytes);
}

}  // namespace qperf::tools
