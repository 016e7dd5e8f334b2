#include "tools/qperf/trace_analyses.h"

#include "qemutrace/ordered.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

/// Remembers when the trace begins, for times that count from there.
class FirstTime final : public qemutrace::EventSource {
 public:
  explicit FirstTime(qemutrace::EventSource& source) : source_(source) {}
  bool next(qemutrace::Event& event) override {
    if (!source_.next(event)) return false;
    if (first_ns == 0) first_ns = event.time_ns;
    return true;
  }
  [[nodiscard]] const qemutrace::ReadReport& report() const noexcept override { return source_.report(); }
  [[nodiscard]] qemutrace::TraceClock clock() const noexcept override { return source_.clock(); }
  [[nodiscard]] std::string description() const override { return source_.description(); }
  [[nodiscard]] size_t event_kinds() const noexcept override { return source_.event_kinds(); }
  uint64_t first_ns = 0;

 private:
  qemutrace::EventSource& source_;
};

}  // namespace

Result<Analysed> analyse(const TraceOptions& options, qemutrace::Analyzer& analyzer) {
  QPERF_ASSIGN_OR_RETURN(OpenTrace opened, open(options));
  FirstTime first(opened.source());
  qemutrace::OrderedSource ordered(first);
  qemutrace::run(ordered, analyzer, &opened.filter);
  return Analysed{.report = ordered.report(), .first_ns = first.first_ns, .too_late = ordered.too_late(), .clock = ordered.clock()};
}

JsonObject json_of_job(std::string_view job) {
  constexpr uint64_t kVersion = 1;
  JsonObject out;
  out.add("format", cell_text("qperf-trace-" + std::string(job)));
  out.add("version", cell(kVersion));
  return out;
}

int finish(const Analysed& analysed, std::string_view output) {
  const int written = write_out(output);
  if (analysed.too_late > 0)
    report_warning(std::to_string(analysed.too_late) + " records were too far out of order to be put in their place");
  const int complete = conclude(analysed.report);
  return written != kDone ? written : complete;
}

}  // namespace qperf::tools
