#include "qemutrace/locks.h"

#include <algorithm>

#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {

int trace_locks(const TraceOptions& options) {
  qemutrace::LockProfile profile;
  const auto analysed = analyse(options, profile);
  if (!analysed) return report_error(analysed.error());
  Table table({{"Place", "place", true},
               {"Mutexes", "mutexes"},
               {"Acquired", "acquired"},
               {"Contended", "contended"},
               {"Wait us", "wait_total_ns"},
               {"mean", "wait_mean_ns"},
               {"p99", "wait_p99_ns"},
               {"max", "wait_max_ns"},
               {"Hold us", "hold_total_ns"},
               {"mean", "hold_mean_ns"},
               {"p99", "hold_p99_ns"},
               {"max", "hold_max_ns"}});
  const auto sites = profile.sites();
  const size_t shown = options.top == 0 ? sites.size() : std::min(options.top, sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const auto& site = *sites[i];
    std::vector<Cell> row = {cell_text(site.place), cell(site.mutexes), cell(site.acquired),
                             profile.unlocks_seen() ? cell(site.contended) : Cell{"-", "null"}};
    for (const auto* times : {&site.wait_ns, &site.hold_ns}) {
      const bool any = times->count() > 0;
      for (const double ns :
           {times->total(), times->mean(), static_cast<double>(times->quantile(0.99)), static_cast<double>(times->quantile(1))})
        row.push_back(cell_us(any ? std::optional(static_cast<uint64_t>(ns)) : std::nullopt));
    }
    table.add(std::move(row));
  }
  if (!profile.unlocks_seen() && !sites.empty())
    report_warning(
        "no unlock is in the trace, so how long mutexes were held and which waits found one held is not known: record "
        "qemu_mutex_unlock too (-trace qemu_mutex_unlock), and let --event keep it");
  if (options.json) {
    JsonObject out = json_of_job("locks");
    out.raw("places", table.json());
    out.add("unfinished", cell(profile.unfinished()));
    out.add("unlocks_without_lock", cell(profile.unlocks_without_lock()));
    out.add("left_out", cell(profile.left_out()));
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  std::string out = table.empty() ? "no qemu_mutex_lock, _locked or _unlock events\n" : table.text(stdout_colours());
  if (shown < sites.size()) out += "and " + std::to_string(sites.size() - shown) + " more places\n";
  if (profile.unfinished() > 0)
    out += std::to_string(profile.unfinished()) + " waits and holds were cut off by a loss or the end of the trace\n";
  if (profile.unlocks_without_lock() > 0)
    out += std::to_string(profile.unlocks_without_lock()) + " unlocks had no lock before them in the trace\n";
  if (profile.left_out() > 0)
    out += std::to_string(profile.left_out()) + " events were left out: of places or mutexes beyond those that are followed\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
