#include "qemutrace/mmio.h"

#include <algorithm>

#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {

int trace_mmio(const TraceOptions& options) {
  if (!options.capture.empty()) return trace_mmio_callers(options);
  qemutrace::MmioCounter counter;
  const auto analysed = analyse(options, counter);
  if (!analysed) return report_error(analysed.error());
  const auto registers = counter.registers();
  double total = static_cast<double>(counter.other_accesses());
  for (const auto& r : registers) total += static_cast<double>(r.total());

  Table table({{"Region", "region", true},
               {"Address", "address"},
               {"Reads", "reads"},
               {"Writes", "writes"},
               {"%", "percent"},
               {"Changes", "value_changes"},
               {"Least gap us", "least_gap_ns"},
               {"Mean gap us", "mean_gap_ns"},
               {"Note", "notes", true}});
  const size_t shown = options.top == 0 ? registers.size() : std::min(options.top, registers.size());
  for (size_t i = 0; i < shown; ++i) {
    const auto& r = registers[i];
    const bool gaps = r.total() > 1;
    table.add({cell_text(r.region), cell_hex(r.address), cell(r.reads), cell(r.writes),
               cell_percent(static_cast<double>(r.total()), total), cell(r.values),
               cell_us(gaps ? std::optional(r.least_gap_ns) : std::nullopt),
               cell_us(gaps ? std::optional(static_cast<uint64_t>(r.mean_gap_ns)) : std::nullopt),
               cell_words(r.loss ? std::vector<std::string>{"events lost meanwhile: at least"} : std::vector<std::string>{})});
  }
  if (options.json) {
    JsonObject out = json_of_job("mmio");
    out.raw("registers", table.json());
    out.add("other_accesses", cell(counter.other_accesses()));
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  std::string out = table.empty() ? "no memory_region_ops_read or _write events\n" : table.text(stdout_colours());
  if (shown < registers.size()) out += "and " + std::to_string(registers.size() - shown) + " more registers\n";
  if (counter.other_accesses() > 0) out += std::to_string(counter.other_accesses()) + " accesses to further registers\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
