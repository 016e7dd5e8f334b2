#include "tools/qperf/top/tick_history.h"

namespace qperf::tools {
namespace {

/// Moments closer than a window's part of this are one.
constexpr uint64_t kMomentsInWindow = 64;

uint64_t since(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

void TickHistory::note(const capture::Ledger& ledger) {
  newest_ = ledger;
  // A ledger may stand twice; one that goes back in time is a forgery's.
  while (!moments_.empty() && moments_.back().wall_ns >= ledger.wall_ns) moments_.pop_back();
  const size_t count = moments_.size();
  if (count >= 2 && ledger.wall_ns - moments_[count - 2].wall_ns < window_ns_ / kMomentsInWindow) moments_.pop_back();
  Moment& moment = moments_.emplace_back();
  moment.wall_ns = ledger.wall_ns;
  moment.vcpus.reserve(ledger.vcpus.size());
  for (const capture::VcpuLedger& vcpu : ledger.vcpus) moment.vcpus.push_back({vcpu.vcpu, vcpu.ticks});
  forget_before(since(ledger.wall_ns, window_ns_));
}

void TickHistory::forget_before(WallNs from) {
  while (moments_.size() > 2 && moments_[1].wall_ns <= from) moments_.pop_front();
}

capture::Ticks TickHistory::ticks_of(const capture::VcpuLedger& vcpu) const noexcept {
  capture::Ticks before;
  if (moments_.size() > 1)
    for (const VcpuTicks& old : moments_.front().vcpus)
      if (old.vcpu == vcpu.vcpu) before = old.ticks;
  const capture::Ticks& now = vcpu.ticks;
  return {.issued = since(now.issued, before.issued),
          .kernel = since(now.kernel, before.kernel),
          .user = since(now.user, before.user),
          .idle = since(now.idle, before.idle),
          .other_privileged = since(now.other_privileged, before.other_privileged),
          .lost = since(now.lost, before.lost),
          .unknown_idle = since(now.unknown_idle, before.unknown_idle)};
}

}  // namespace qperf::tools
