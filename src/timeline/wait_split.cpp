#include "timeline/wait_split.h"

#include <algorithm>
#include <utility>

namespace qperf::timeline {
namespace {

using qemutrace::Stage;

/// How far mapped stamps may leave the order of cause and effect: log stamps are taken up to some tens of microseconds after
/// their event, in whole microseconds.
constexpr int64_t kSlackNs = 100'000;
constexpr size_t kMaxCandidates = 1024;

int64_t as_signed(WallNs ns) noexcept { return static_cast<int64_t>(std::min<WallNs>(ns, INT64_MAX / 2)); }

bool same_direction(const DiskWait& wait, const PlacedRequest& placed) noexcept {
  return wait.is_write == (placed.request.is_write || !placed.request.is_transfer);
}

/// Chooses among the requests that can have ended a wait.
class Matcher {
 public:
  Matcher(const std::vector<PlacedRequest>& requests, int64_t slack_ns)
      : requests_(requests), used_(requests.size()), slack_ns_(slack_ns) {}

  /// By the sector that the block event names; without a match nothing is taken.
  std::optional<size_t> take_by_sector(const DiskWait& wait) { return take(wait, true); }
  std::optional<size_t> take_by_time(const DiskWait& wait) { return take(wait, false); }
  [[nodiscard]] bool used(size_t index) const { return used_[index]; }

 private:
  std::optional<size_t> take(const DiskWait& wait, bool by_sector) {
    auto choice = find(wait, by_sector, 0);
    if (!choice) choice = find(wait, by_sector, slack_ns_);
    if (choice) used_[*choice] = true;
    return choice;
  }

  [[nodiscard]] std::optional<size_t> find(const DiskWait& wait, bool by_sector, int64_t slack_ns) const {
    const int64_t announced_ns = as_signed(wait.announced_ns) - slack_ns;
    const int64_t woken_ns = as_signed(wait.woken_ns) + slack_ns;
    auto at = std::upper_bound(requests_.begin(), requests_.end(), woken_ns,
                               [](int64_t ns, const PlacedRequest& r) { return ns < r.told_ns(); });
    std::optional<size_t> best;
    for (size_t looked = 0; at != requests_.begin() && looked < kMaxCandidates; ++looked) {
      --at;
      if (at->told_ns() < announced_ns) break;
      const auto index = static_cast<size_t>(at - requests_.begin());
      if (used_[index] || !same_direction(wait, *at) || at->popped_ns() < announced_ns) continue;
      if (by_sector) {
        if (at->request.is_transfer && at->request.sector == wait.detail) return index;
        continue;
      }
      const bool better = !best || (at->told_ns() == requests_[*best].told_ns() && at->popped_ns() < requests_[*best].popped_ns());
      if (better) best = index;
    }
    return best;
  }

  const std::vector<PlacedRequest>& requests_;
  std::vector<bool> used_;
  int64_t slack_ns_;
};

SplitWait split(const DiskWait& wait, const PlacedRequest& placed, bool by_sector) {
  SplitWait out{.wait = &wait, .request = &placed, .by_sector = by_sector};
  const auto submit = placed.at(Stage::kSubmit);
  const auto host_done = placed.at(Stage::kHostDone);
  out.host_known = submit && host_done;
  const int64_t popped = placed.popped_ns();
  const int64_t told = placed.told_ns();
  const int64_t early = as_signed(wait.announced_ns) - popped;
  const int64_t late = told - as_signed(wait.woken_ns);
  out.contradiction_ns = static_cast<uint64_t>(std::max({early, late, int64_t{0}}));

  // Each point is moved into the wait and behind the point before it: what happened before the switch-out cost no time, and the
  // parts add up whatever the stamps say.
  int64_t at = as_signed(wait.from_ns);
  const int64_t woken = as_signed(wait.woken_ns);
  const auto up_to = [&at, woken](int64_t point) {
    const int64_t next = std::clamp(point, at, std::max(at, woken));
    return static_cast<uint64_t>(next - std::exchange(at, next));
  };
  const auto part = [&out](WaitPart which) -> uint64_t& { return out.parts_ns[static_cast<size_t>(which)]; };
  part(WaitPart::kQueueing) = up_to(popped);
  if (out.host_known) {
    part(WaitPart::kQemu) = up_to(*submit);
    part(WaitPart::kHost) = up_to(*host_done);
  }
  part(WaitPart::kQemu) += up_to(told);
  part(WaitPart::kInterrupt) = up_to(woken);
  part(WaitPart::kRun) = wait.run_ns - wait.woken_ns;
  return out;
}

}  // namespace

int64_t PlacedRequest::told_ns() const noexcept {
  if (const auto interrupt = at(Stage::kInterrupt)) return *interrupt;
  return at(Stage::kFill).value_or(popped_ns());
}

PlacedRequest place(const qemutrace::Request& request, const ClockMap& clock) {
  PlacedRequest placed{.request = request, .at_ns = {}};
  for (size_t i = 0; i < qemutrace::kStages; ++i) {
    if (request.at_ns[i]) placed.at_ns[i] = clock.wall_ns(*request.at_ns[i]);
  }
  return placed;
}

std::string_view wait_part_name(WaitPart part) noexcept {
  constexpr std::array<std::string_view, kWaitParts> kNames = {"queueing", "QEMU", "host", "interrupt", "run"};
  return kNames[static_cast<size_t>(part)];
}

Split split_waits(const DiskWaits& waits, std::vector<PlacedRequest>& requests, const ClockMap& clock, WallNs end_ns) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const PlacedRequest& a, const PlacedRequest& b) { return a.told_ns() < b.told_ns(); });
  const auto drift_ns = static_cast<int64_t>(std::min<uint64_t>(clock.residual_ns(), 1'000'000'000));
  Matcher matcher(requests, kSlackNs + drift_ns);
  Split out;
  // Sectors first, so that a wait which names none cannot take the request of one that does.
  std::vector<std::optional<size_t>> by_sector;
  for (const DiskWait& wait : waits.waits) by_sector.push_back(matcher.take_by_sector(wait));
  for (size_t i = 0; i < waits.waits.size(); ++i) {
    const DiskWait& wait = waits.waits[i];
    const auto index = by_sector[i] ? by_sector[i] : matcher.take_by_time(wait);
    if (index) {
      out.waits.push_back(split(wait, requests[*index], by_sector[i].has_value()));
    } else {
      out.unmatched_waits.push_back(&wait);
    }
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (matcher.used(i)) continue;
    const bool outside = requests[i].popped_ns() < 0 || requests[i].told_ns() > as_signed(end_ns);
    ++(outside ? out.outside_requests : out.unmatched_requests);
  }
  return out;
}

}  // namespace qperf::timeline
