#include "qemutrace/ordered.h"

#include <algorithm>

namespace qperf::qemutrace {

void OrderedSource::hold(const Event& event) {
  size_t slot = slots_.size();
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Held& held = slots_[slot];
  held.event = event;
  held.strings.clear();
  for (unsigned i = 0; i < event.value_count; ++i) {
    if (event.values[i].is_string()) held.strings += event.values[i].string();
  }
  // The text is complete now, so that views into it stay.
  const char* at = held.strings.data();
  for (unsigned i = 0; i < event.value_count; ++i) {
    if (!event.values[i].is_string()) continue;
    held.event.values[i].text = at;
    at += event.values[i].number;
  }
  if (!event.is_loss) {
    if (event.time_ns < latest_read_ns_) ++inversions_;
    latest_read_ns_ = std::max(latest_read_ns_, event.time_ns);
  }
  waiting_.push({event.time_ns, sequence_++, slot});
}

bool OrderedSource::next(Event& event) {
  if (out_) free_slots_.push_back(*out_);
  out_.reset();
  Event read;
  while (!drained_ && waiting_.size() <= window_) {
    if (source_.next(read)) {
      hold(read);
    } else {
      drained_ = true;
    }
  }
  if (waiting_.empty()) return false;
  out_ = waiting_.top().slot;
  waiting_.pop();
  event = slots_[*out_].event;
  if (event.time_ns < latest_out_ns_) ++too_late_;
  latest_out_ns_ = std::max(latest_out_ns_, event.time_ns);
  return true;
}

}  // namespace qperf::qemutrace
