#include "analysis/profile_capture.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/collector.h"
#include "analysis/naming.h"
#include "analysis/replay_parts.h"
#include "analysis/ruled_stacks.h"
#include "base/keyed_hash.h"
#include "base/printable.h"
#include "capture/legacy.h"

namespace qperf::analysis {
namespace {

constexpr uint32_t kNotUsed = std::numeric_limits<uint32_t>::max();

bool is_exact(const CaptureInput& input) { return !input.legacy && input.summary.header.mode == guest::Mode::kExact; }

Result<profile::SampleFilter> make_filter(const CaptureRequest& request, const CaptureInput& input) {
  const bool windowed = request.from || request.until;
  if (windowed && input.legacy)
    return Error{ErrorCode::kUsage, fmt::format("{}: captures of the older format have no clock: --from and --until need one "
                                                "of the present format",
                                                input.path)};
  if (is_exact(input) && (windowed || !request.vcpus.all()))
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: mode=exact counts all vCPUs together and without a clock: --cpu, --from and "
                             "--until need mode=wall or mode=icount",
                             input.path)};
  if (request.until && *request.until <= request.from.value_or(0))
    return Error{ErrorCode::kUsage,
                 fmt::format("the window from {} until {} is empty: --until is exclusive and must be the larger",
                             request.from.value_or(0), *request.until)};
  profile::SampleFilter filter;
  filter.vcpus = request.vcpus;
  filter.window.domain =
      !input.legacy && input.summary.header.mode == guest::Mode::kIcount ? profile::Domain::kInsns : profile::Domain::kWallNs;
  filter.window.from = request.from.value_or(0);
  filter.window.until = request.until;
  return filter;
}

/// A vCPU that is asked for and that the guest never had is a slip of the finger, not an error.
void warn_of_absent_vcpus(const CaptureRequest& request, CaptureProfile& result) {
  const capture::Header& header = result.input.summary.header;
  const uint32_t vcpus = std::max(header.vcpus, header.max_vcpus);
  if (request.vcpus.all() || result.input.legacy || vcpus == 0 || request.vcpus.largest().raw < vcpus) return;
  result.messages.push_back({Severity::kWarning, fmt::format("--cpu names vCPU {}, but the guest of {} had 0 to {}",
                                                             request.vcpus.largest().raw, result.input.path, vcpus - 1)});
}

/// The address list of an older record: zeros and all ones were that recorder's "nothing".
bool to_site(std::span<const GuestVa> addresses, capture::Site& site) {
  site.frames.clear();
  bool has_pc = false;
  for (const GuestVa address : addresses) {
    if (address.raw == 0 || address.raw == ~uint64_t{0}) continue;
    if (has_pc)
      site.frames.push_back(address);
    else
      site.pc = address;
    has_pc = true;
  }
  return has_pc;
}

Result<void> require_room(const Collector& collector, const CaptureInput& input) {
  if (!collector.full()) return {};
  return Error{ErrorCode::kLimit, fmt::format("{}: its distinct stacks take more than {} MiB, which no recording of hours does: the file was not "
                                              "made by the plugin, or the guest's stacks are forged; record less of it, or with a smaller max_frames",
                                              printable(input.path), SiteTable::kMostBytes >> 20)};
}

Result<void> collect_legacy(const CaptureInput& input, Collector& collector, CaptureProfile& result) {
  capture::Site site;
  const auto on_sample = [&](VcpuIndex vcpu, std::span<const GuestVa> addresses) -> Result<void> {
    if (to_site(addresses, site))
      collector.add_plain(vcpu, site);
    else
      ++result.tally.bad_records;
    return {};
  };
  QPERF_ASSIGN_OR_RETURN(const auto summary, capture::read_legacy_capture(input.path, on_sample));
  if (summary.cut) {
    result.complete = false;
    result.messages.push_back({Severity::kWarning, fmt::format("{}: the capture is incomplete: it ends inside a record; the {} "
                                                               "samples before are whole",
                                                               input.path, summary.samples)});
  }
  return require_room(collector, input);
}

Result<void> collect(const CaptureInput& input, Collector& collector, Progress* progress) {
  capture::Handlers handlers;
  WallNs counted_until_ns = 0;
  handlers.progress = progress_of(progress, "reading samples");
  if (is_exact(input)) {
    // Counts have no clock, but the ledger that follows each flush has: what was counted next ran after it.
    handlers.ledger = [&](const capture::Ledger& ledger) -> Result<void> {
      counted_until_ns = ledger.wall_ns;
      return {};
    };
    handlers.counts = [&](std::span<const capture::BlockCount> counts) -> Result<void> {
      for (const auto& count : counts)
        collector.add_block(count.pc, profile::saturating_multiply(count.executions, count.block_insns), counted_until_ns);
      return {};
    };
  } else {
    collector.number_sites_of(handlers);
    handlers.packed_samples = [&](const capture::PackedSamples& chunk) -> Result<void> {
      // The numbers may have been given on another thread, which leaves off by itself where there is no room.
      if (!collector.full()) collector.add(chunk);
      return require_room(collector, input);
    };
  }
  QPERF_RETURN_IF_ERROR(capture::read_capture(input.path, handlers));
  return require_room(collector, input);
}

/// How many of a body's addresses are in a module, and how many have no name.
struct AddressCounts {
  uint64_t modules = 0;
  uint64_t unknown = 0;
};

AddressCounts count_addresses(std::span<const uint32_t> body, const std::vector<NamedLookup>& named) {
  AddressCounts counts;
  for (const uint32_t lookup : body) {
    counts.modules += named[lookup].named == Named::kModule ? 1 : 0;
    counts.unknown += named[lookup].named == Named::kAddressOnly ? 1 : 0;
  }
  return counts;
}

/// Exact counts have no stack: the innermost function at the block is the whole of it, as it is the leaf of a sample.
enum class Depth : uint8_t { kWhole, kLeafOnly };

/// Names of stacks, each body's frames looked up once.
class StackNamer {
 public:
  StackNamer(const RuledStacks& ruled, const std::vector<NamedLookup>& named, Depth depth, const SampleView* view,
             profile::NamedStacks& names)
      : ruled_(ruled), named_(named), depth_(depth), view_(view), names_(names), bodies_(ruled.bodies(), profile::StackId{kNotUsed}) {}

  profile::StackId name(const RuledStacks::Stack& stack) {
    if (view_ != nullptr && stack.root != kNoRoot) {
      if (auto root = view_->root_name(stack.root)) {
        const profile::FrameId frame = names_.frames.intern({.name = *std::move(root), .file = "", .line = 0});
        return intern(frame, stack.body);
      }
    }
    profile::StackId& known = bodies_[stack.body.raw];
    if (known.raw == kNotUsed) known = intern(std::nullopt, stack.body);
    return known;
  }

 private:
  profile::StackId intern(std::optional<profile::FrameId> root, profile::StackId body) {
    frames_.clear();
    for (const uint32_t lookup : ruled_.body(body))
      for (const profile::SourceLine& line : named_[lookup].lines) frames_.push_back(line.frame);
    if (depth_ == Depth::kLeafOnly) frames_.resize(1);
    if (root) frames_.push_back(*root);
    std::ranges::reverse(frames_);
    return names_.stacks.intern(frames_);
  }

  const RuledStacks& ruled_;
  const std::vector<NamedLookup>& named_;
  Depth depth_;
  const SampleView* view_;
  profile::NamedStacks& names_;
  std::vector<profile::StackId> bodies_;  // named without a root
  std::vector<profile::FrameId> frames_;  // reused
};

/// The addresses of walks that are nothing but one address in no ELF, by page.
class LonePages {
 public:
  void add(GuestVa address, uint64_t samples) {
    uint64_t& sum = pages_[address.raw >> kPageShift];
    sum = profile::saturating_add(sum, samples);
  }

  /// Samples of the two fullest pages. Trampolines between user mode and the kernel (aarch64's page-table isolation) are mapped
  /// outside of its text and have no caller; a kernel or a module that is hard at work has more pages.
  [[nodiscard]] uint64_t fullest() const {
    uint64_t first = 0;
    uint64_t second = 0;
    for (const auto& [page, samples] : pages_) {
      second = std::max(second, std::min(first, samples));
      first = std::max(first, samples);
    }
    return profile::saturating_add(first, second);
  }

 private:
  static constexpr unsigned kPageShift = 12;
  std::unordered_map<uint64_t, uint64_t, KeyedHash> pages_;
};

void tally_walks(const Collector& collector, const RuledStacks& ruled, const std::vector<NamedLookup>& named, CaptureProfile& result) {
  Tally& tally = result.tally;
  using profile::saturating_add;
  using profile::saturating_multiply;
  std::vector<AddressCounts> counts;
  LonePages lone;
  const auto lookups = ruled.lookups().all();
  for (uint32_t body = 0; body < ruled.bodies(); ++body) counts.push_back(count_addresses(ruled.body(profile::StackId{body}), named));
  for (const auto& row : collector.weights().rows()) {
    const RuledStacks::Walk& walk = ruled.walk(row.stack);
    const auto stop = static_cast<size_t>(walk.stop);
    if (stop < tally.walks_by_stop.size()) tally.walks_by_stop[stop] += row.samples;
    if (walk.outcome.roots_dropped != 0 || walk.stop == capture::StopReason::kBadReturnAddress)
      tally.walks_with_dropped_roots += row.samples;
    if (walk.outcome.caller_restored) tally.walks_with_restored_caller += row.samples;
    const AddressCounts& of_body = counts[walk.body.raw];
    const auto body = ruled.body(walk.body);
    if (body.size() == 1 && lookups[body.front()].home == Home::kModule) lone.add(lookups[body.front()].address, row.samples);
    tally.addresses = saturating_add(tally.addresses, saturating_multiply(body.size(), row.samples));
    tally.module_addresses = saturating_add(tally.module_addresses, saturating_multiply(of_body.modules, row.samples));
    tally.unknown_addresses = saturating_add(tally.unknown_addresses, saturating_multiply(of_body.unknown, row.samples));
  }
  if (tally.module_addresses - std::min(lone.fullest(), tally.module_addresses) <= tally.addresses / 10) return;
  result.messages.push_back(
      {Severity::kWarning,
       fmt::format("{:.2f} % of the addresses lie in no ELF that was given and are shown as [module]: modules, or a kernel that lay "
                   "elsewhere (slid, or moved again by a reboot)",
                   100.0 * static_cast<double>(tally.module_addresses) / static_cast<double>(tally.addresses))});
}

/// The ids of the named stacks, by ruled stack.
std::vector<profile::StackId> sum_by_name(const Collector& collector, const RuledStacks& ruled, StackNamer namer, CaptureProfile& result) {
  std::vector<profile::StackId> named_ids(ruled.stacks(), profile::StackId{kNotUsed});
  for (const auto& row : collector.weights().rows()) {
    const profile::StackId ruled_id = ruled.ruled(row.stack);
    profile::StackId& named_id = named_ids[ruled_id.raw];
    if (named_id.raw == kNotUsed) named_id = namer.name(ruled.stack(ruled_id));
    result.weights[result.weights.row_of(row.vcpu, named_id)].add(row.weight, row.samples);
  }
  result.bins = collector.bins().binned([&](uint32_t row) {
    const auto& pair = collector.weights().rows()[row];
    const profile::StackId ruled_id = ruled.ruled(pair.stack);
    return profile::BinCollector::Cell{.vcpu = pair.vcpu, .group = ruled.stack(ruled_id).root, .stack = named_ids[ruled_id.raw]};
  });
  result.timeline = collector.timeline().renamed([&](profile::StackId raw) { return named_ids[ruled.ruled(raw).raw]; });
  return named_ids;
}

profile::LocatedImage describe_image(const symbols::Image& image) {
  profile::LocatedImage result{.path = image.path(), .build_id = {}, .text = {}};
  result.build_id.assign(image.build_id().begin(), image.build_id().end());
  if (const auto ranges = image.text_ranges(); !ranges.empty())
    result.text = {.first = ranges.front().first, .last = ranges.back().last};
  return result;
}

/// Locations are the lookups, so that ids are the same.
profile::LocatedProfile locate(const Collector& collector, const RuledStacks& ruled, const std::vector<NamedLookup>& named,
                               const ImageSet& images) {
  profile::LocatedProfile result;
  for (uint32_t i = 0; i < images.size(); ++i) result.images.push_back(describe_image(images[i]));
  const auto lookups = ruled.lookups().all();
  for (size_t i = 0; i < lookups.size(); ++i) {
    const bool in_image = lookups[i].home == Home::kImage;
    result.locations.add({.image = in_image ? std::optional(lookups[i].image) : std::nullopt, .address = lookups[i].named_address()},
                         named[i].lines);
  }
  profile::WeightTable weights;
  for (const auto& row : collector.weights().rows())
    weights[weights.row_of(row.vcpu, ruled.ruled(row.stack))].add(row.weight, row.samples);
  std::vector<profile::LocationId> stack;
  for (const auto& row : weights.rows()) {
    const auto [root, body] = ruled.stack(row.stack);
    stack.clear();
    for (const uint32_t lookup : ruled.body(body)) stack.push_back(profile::LocationId{lookup});
    result.rows.push_back({row.vcpu, root, result.stacks.intern(stack), row.weight, row.samples});
  }
  return result;
}

Collector::Keep keep_for(Order order) {
  switch (order) {
    case Order::kSums: return Collector::Keep::kSums;
    case Order::kTimeline: return Collector::Keep::kOrder;
    case Order::kBins: return Collector::Keep::kBins;
  }
  return Collector::Keep::kSums;
}

}  // namespace

Result<CaptureProfile> profile_capture(const CaptureRequest& request, profile::NamedStacks& names) {
  CaptureProfile result;
  QPERF_ASSIGN_OR_RETURN(result.input, survey_capture(request.path));
  const CaptureInput& input = result.input;
  auto parts = std::make_unique<SampleReplay::Parts>();
  parts->path = request.path;
  QPERF_ASSIGN_OR_RETURN(parts->filter, make_filter(request, input));
  warn_of_absent_vcpus(request, result);
  QPERF_ASSIGN_OR_RETURN(parts->images, ImageSet::open(request.elfs, input, request.mismatch, result.messages));
  const ImageSet& images = parts->images;
  if (request.view != nullptr) QPERF_RETURN_IF_ERROR(request.view->prepare(input, images));

  parts->collector = std::make_unique<Collector>(images, parts->filter, keep_for(request.order), request.view, end_of(input));
  Collector& collector = *parts->collector;
  QPERF_RETURN_IF_ERROR(input.legacy ? collect_legacy(input, collector, result) : collect(input, collector, request.progress));
  if (request.view != nullptr) QPERF_RETURN_IF_ERROR(request.view->finish());
  result.tally.samples_in_file = collector.seen().samples;
  result.tally.weight_in_file = collector.seen().weight;

  const RuledStacks ruled(collector, images, input.legacy ? guest::kDefaultKernelRange : input.summary.header.kernel_range);
  if (request.progress != nullptr) request.progress->step("naming functions", 0, 0);
  QPERF_ASSIGN_OR_RETURN(const auto named, name_lookups(images, ruled.lookups().all(), names.frames));
  const Depth depth = is_exact(input) ? Depth::kLeafOnly : Depth::kWhole;
  const auto named_ids = sum_by_name(collector, ruled, StackNamer(ruled, named, depth, request.view, names), result);
  tally_walks(collector, ruled, named, result);
  result.tally.samples = result.weights.total_samples();
  result.tally.weight = result.weights.total_weight();
  result.tally.distinct_stacks = result.weights.rows().size();
  result.tally.distinct_addresses = ruled.lookups().all().size();
  if (request.detail == Detail::kLines) result.located = locate(collector, ruled, named, images);
  if (request.access == SampleAccess::kAgain && !input.legacy && !is_exact(input)) {
    for (uint32_t raw = 0; raw < ruled.raw_stacks(); ++raw) parts->named.push_back(named_ids[ruled.ruled(profile::StackId{raw}).raw]);
    result.samples = std::make_unique<SampleReplay>(std::move(parts));
  }
  const auto& trailer = input.summary.trailer;
  if (!input.legacy && !input.summary.integrity.whole()) result.complete = false;
  if (trailer && trailer->reason == capture::EndReason::kWriteError) result.complete = false;
  return result;
}

}  // namespace qperf::analysis
