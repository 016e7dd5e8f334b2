#include "qemutrace/leaks.h"

#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

std::vector<std::string> grades(const qemutrace::LeakFinder::Leak& leak) {
  std::vector<std::string> out = {leak.reused ? "address popped again" : "open at the end"};
  if (leak.open_longer) out.emplace_back("open longer than the bound");
  if (leak.reset_seen) out.emplace_back("device reset meanwhile");
  if (leak.loss_in_span) out.emplace_back("events lost meanwhile");
  return out;
}

}  // namespace

int trace_leaks(const TraceOptions& options) {
  const auto bound_ns = qemutrace::parse_duration_ns(options.open_longer);
  if (!bound_ns) return report_error(bound_ns.error());
  qemutrace::LeakFinder finder(*bound_ns);
  const auto analysed = analyse(options, finder);
  if (!analysed) return report_error(analysed.error());

  Table table({{"Popped s", "popped_ns"},
               {"Element", "element"},
               {"Queue", "queue"},
               {"Device", "device"},
               {"Open us", "open_ns"},
               {"Grade", "grades", true}});
  for (const auto& leak : finder.leaks()) {
    table.add({cell_time(leak.popped_ns, analysed->first_ns), cell_hex(leak.element), cell_hex(leak.queue),
               cell_hex(leak.device), cell_us(leak.open_ns), cell_words(grades(leak))});
  }
  if (finder.pops() > 0 && finder.fills() == 0)
    report_warning(
        "no fill is in the trace, so that every element seems unfilled: unless the device answered nothing at all, record "
        "virtqueue_fill too (-trace virtqueue_fill), and let --event keep it");
  const auto& open = finder.open_ns();
  if (options.json) {
    JsonObject out = json_of_job("leaks");
    out.add("pops", cell(finder.pops()));
    out.add("fills", cell(finder.fills()));
    out.add("fills_without_pop", cell(finder.fills_without_pop()));
    out.add("addresses", cell(finder.addresses()));
    out.add("most_open", cell(finder.most_open()));
    out.add("open_min_ns", cell(open.quantile(0)));
    out.add("open_median_ns", cell(open.median()));
    out.add("open_max_ns", cell(open.quantile(1)));
    out.raw("leaks", table.json());
    out.add("leaks_left_out", cell(finder.leaks_left_out()));
    out.add("pops_left_out", cell(finder.pops_left_out()));
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  std::string out = std::to_string(finder.pops()) + " elements popped, " + std::to_string(finder.fills()) + " filled, " +
                    (finder.addresses() < qemutrace::LeakFinder::kMaxAddresses ? "" : "at least ") + std::to_string(finder.addresses()) + " addresses, at most " + std::to_string(finder.most_open()) +
                    " open at once\n";
  if (open.count() > 0) {
    out += "pop to fill: min " + cell_us(open.quantile(0)).text + " us, median " + cell_us(open.median()).text + " us, max " +
           cell_us(open.quantile(1)).text + " us\n";
  }
  if (finder.fills_without_pop() > 0)
    out += std::to_string(finder.fills_without_pop()) + " fills without a pop: the trace began late, or their pops were lost\n";
  out += table.empty() ? "no element was left unfilled\n" : table.text(stdout_colours());
  if (finder.leaks_left_out() > 0) out += "and " + std::to_string(finder.leaks_left_out()) + " more\n";
  if (finder.pops_left_out() > 0)
    out += std::to_string(finder.pops_left_out()) + " elements were not followed, because " +
           std::to_string(qemutrace::LeakFinder::kMaxOpen) + " were open already\n";
  if (!table.empty())
    out += "devices that take elements back without an event (net, balloon, mem, iommu, pmem, 9p, vsock) show here too\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
