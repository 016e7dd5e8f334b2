#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "capture/events.h"
#include "sched/ordered_event.h"
#include "sched/stack_table.h"
#include "sched/survey.h"

namespace qperf::sched {

/// Merges the vCPUs' streams into one order: wall ns, then vCPU, then sequence. An event is passed on as soon as the survey
/// says that no chunk still to come can hold an earlier one, so that memory holds about one flush of events.
class EventOrder {
 public:
  using OnEvent = std::function<void(VcpuIndex, const OrderedEvent&)>;

  EventOrder(const Survey& survey, StackTable& stacks, OnEvent on_event);
  /// The same chunks in the same order as the survey had them.
  void chunk(const capture::EventChunk& chunk);
  void finish();

  /// More events than this are never held back, whatever a file makes the survey promise: later ones then count as late.
  static constexpr size_t kMaxPending = size_t{1} << 22;

 private:
  using Batch = std::vector<OrderedEvent>;
  struct Stream {
    std::deque<Batch> batches;  // none is empty
    size_t next = 0;          // event in the first batch
    size_t chunks_taken = 0;  // with events
    WallNs last_wall_ns = 0;
  };
  /// What a stream can give next: an event, or (event == false) the promise that nothing comes before wall_ns.
  struct Head {
    WallNs wall_ns;
    uint32_t vcpu;
    bool event;
    friend bool operator>(const Head& a, const Head& b) noexcept {
      if (a.wall_ns != b.wall_ns) return a.wall_ns > b.wall_ns;
      return a.vcpu > b.vcpu;
    }
  };

  /// The chunk's events with interned stacks, in memory that an earlier batch has left.
  Batch batch_of(const capture::EventChunk& chunk);
  bool head_of(uint32_t vcpu, Head& head) const;
  bool pass_on(Head& head);
  [[nodiscard]] const Head* second() const noexcept;
  void sink_top() noexcept;
  void remove_top() noexcept;
  void drain();

  const Survey& survey_;
  StackTable& stacks_;
  OnEvent on_event_;
  std::vector<Stream> streams_;
  std::vector<Batch> spare_;            // emptied batches: their memory is used again
  std::vector<StackId> stack_of_chunk_;  // scratch: by the events' chunk-local index
  size_t pending_ = 0;
  std::vector<Head> heap_;  // least on top; one head per stream that has one
};

}  // namespace qperf::sched
