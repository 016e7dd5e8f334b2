#include "qemutrace/overlaps.h"

#include <charconv>

#include "base/printable.h"
#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

using qemutrace::OverlapFinder;
using qemutrace::WriteRecord;

constexpr uint64_t kMaxSector = ~uint64_t{0} / OverlapFinder::kSectorBytes;

Result<std::optional<uint64_t>> device_of(const std::string& text) {
  if (text.empty()) return std::optional<uint64_t>();
  uint64_t value = 0;
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (failure != std::errc{} || end != digits.data() + digits.size())
    return Error{ErrorCode::kUsage, "--device '" + printable(text) +
                                        "': expected the address of a device as events print it, like 0x55b728d95180"};
  return std::optional(value);
}

std::vector<Cell> row(const WriteRecord& record, uint64_t first_ns) {
  const uint64_t sector = record.begin_byte / OverlapFinder::kSectorBytes;
  const uint64_t sectors = (record.end_byte - record.begin_byte) / OverlapFinder::kSectorBytes;
  return {cell_time(record.time_ns, first_ns), cell_hex(record.device), cell(sector), cell(sectors)};
}

std::vector<std::string> notes(const OverlapFinder::Pair& pair) {
  std::vector<std::string> out;
  if (pair.end == OverlapFinder::End::kOpenAtEnd) out.emplace_back("the earlier is open at the end");
  if (pair.end == OverlapFinder::End::kNotInTrace) out.emplace_back("the earlier's end is not known");
  if (pair.loss_in_span) out.emplace_back("events lost meanwhile");
  return out;
}

const char* layer_name(OverlapFinder::Layer layer) {
  switch (layer) {
    case OverlapFinder::Layer::kVirtio: return "virtio-blk requests";
    case OverlapFinder::Layer::kBackend: return "block backend requests";
    case OverlapFinder::Layer::kDriver: return "block driver requests";
  }
  return "";
}

/// Whether the trace can tell which writes were in flight together; if not, says what to record.
bool tells_of_ends(const OverlapFinder& finder) {
  if (finder.writes() < 2 || (finder.layer() == OverlapFinder::Layer::kVirtio && finder.completions_seen())) return true;
  report_warning(finder.layer() == OverlapFinder::Layer::kVirtio
                     ? "no write's end is in the trace, so which were in flight together is not known: record "
                       "virtio_blk_req_complete too (-trace virtio_blk_req_complete), and let --event keep it"
                     : "block-layer events do not tell when a write ends, so which were in flight together is not known: record "
                       "virtio_blk_handle_write and virtio_blk_req_complete");
  return false;
}

std::string pairs_text(const OverlapFinder& finder, const Table& in_flight, bool known) {
  if (!known) return "which writes overlapped while both were in flight is not known\n";
  if (in_flight.empty()) return "no two writes overlapped while both were in flight\n";
  std::string out = "overlapping each other in flight:\n" + in_flight.text(stdout_colours());
  if (finder.pairs_left_out() > 0) out += "and " + std::to_string(finder.pairs_left_out()) + " more pairs\n";
  return out;
}

}  // namespace

int trace_overlaps(const TraceOptions& options) {
  const auto device = device_of(options.device);
  if (!device) return report_error(device.error());
  if (options.sector.has_value() != options.sector_count.has_value())
    return report_error(Error{ErrorCode::kUsage, "--sector and --count go together: a range of sectors to watch"});
  std::optional<OverlapFinder::Range> range;
  if (options.sector) {
    if (*options.sector > kMaxSector || *options.sector_count > kMaxSector - *options.sector)
      return report_error(Error{ErrorCode::kUsage, "--sector and --count: the range ends beyond any disk"});
    range = OverlapFinder::Range{*options.sector * OverlapFinder::kSectorBytes,
                                 (*options.sector + *options.sector_count) * OverlapFinder::kSectorBytes};
  }
  OverlapFinder finder(range, *device);
  const auto analysed = analyse(options, finder);
  if (!analysed) return report_error(analysed.error());

  Table in_range({{"Time s", "time_ns"}, {"Device", "device"}, {"Sector", "sector"}, {"Sectors", "sectors"}});
  for (const auto& record : finder.in_range()) in_range.add(row(record, analysed->first_ns));
  Table in_flight({{"Time s", "time_ns"},
                   {"Device", "device"},
                   {"Sector", "sector"},
                   {"Sectors", "sectors"},
                   {"Later s", "later_ns"},
                   {"Device", "later_device"},
                   {"Sector", "later_sector"},
                   {"Sectors", "later_sectors"},
                   {"Earlier done s", "done_ns"},
                   {"Note", "notes", true}});
  for (const auto& pair : finder.in_flight()) {
    auto cells = row(pair.earlier, analysed->first_ns);
    for (Cell& c : row(pair.later, analysed->first_ns)) cells.push_back(std::move(c));
    cells.push_back(pair.earlier.done_ns ? cell_time(*pair.earlier.done_ns, analysed->first_ns) : Cell{"-", "null"});
    cells.push_back(cell_words(notes(pair)));
    in_flight.add(std::move(cells));
  }
  const bool known = tells_of_ends(finder);
  if (options.json) {
    JsonObject out = json_of_job("overlaps");
    out.add("layer", cell_text(layer_name(finder.layer())));
    out.add("writes", cell(finder.writes()));
    if (range) out.raw("in_range", in_range.json());
    if (range) out.add("in_range_left_out", cell(finder.in_range_left_out()));
    out.raw("in_flight_known", known ? "true" : "false");
    out.raw("in_flight_pairs", in_flight.json());
    out.add("pairs_left_out", cell(finder.pairs_left_out()));
    out.add("writes_not_followed", cell(finder.not_followed()));
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  std::string out = std::to_string(finder.writes()) + " writes, told by " + layer_name(finder.layer()) + "\n";
  if (range) out += in_range.empty() ? "none overlaps the range\n" : "overlapping the range:\n" + in_range.text(stdout_colours());
  if (range && finder.in_range_left_out() > 0) out += "and " + std::to_string(finder.in_range_left_out()) + " more that overlap it\n";
  out += pairs_text(finder, in_flight, known);
  if (finder.not_followed() > 0)
    out += std::to_string(finder.not_followed()) + " writes were not followed, because " + std::to_string(OverlapFinder::kMaxOpen) +
           " seemed in flight already: pairs with them are missing\n";
  if (finder.losses() > 0)
    out += "events were lost: writes and completions may be missing, so that pairs are missing or false\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
