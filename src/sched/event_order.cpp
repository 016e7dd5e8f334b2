#include "sched/event_order.h"

#include <algorithm>
#include <utility>

namespace qperf::sched {

EventOrder::EventOrder(const Survey& survey, StackTable& stacks, OnEvent on_event)
    : survey_(survey), stacks_(stacks), on_event_(std::move(on_event)), streams_(survey.vcpus()) {
  for (uint32_t vcpu = 0; vcpu < streams_.size(); ++vcpu) {
    if (Head head{}; head_of(vcpu, head)) heap_.push_back(head);
  }
  std::ranges::make_heap(heap_, std::greater<>{});
}

bool EventOrder::head_of(uint32_t vcpu, Head& head) const {
  const Stream& stream = streams_[vcpu];
  if (!stream.batches.empty()) {
    const WallNs wall_ns = stream.batches.front()[stream.next].wall_ns;
    head = {std::max(stream.last_wall_ns, wall_ns), vcpu, true};
    return true;
  }
  const auto begins = survey_.chunk_begins(VcpuIndex{vcpu});
  if (stream.chunks_taken >= begins.size()) return false;
  head = {begins[stream.chunks_taken], vcpu, false};
  return true;
}

EventOrder::Batch EventOrder::batch_of(const capture::EventChunk& chunk) {
  stack_of_chunk_.clear();
  for (const auto& stack : chunk.stacks) stack_of_chunk_.push_back(stacks_.intern(stack));
  Batch batch;
  if (!spare_.empty()) {
    batch = std::move(spare_.back());
    spare_.pop_back();
  }
  batch.clear();
  batch.reserve(chunk.events.size());
  for (const capture::Event& event : chunk.events) {
    batch.push_back({.wall_ns = event.wall_ns,
                     .kind = event.kind,
                     .args = event.args,
                     .stack = event.stack == capture::kNoEventStack ? kNoStack : stack_of_chunk_[event.stack],
                     .type = event.type});
  }
  return batch;
}

void EventOrder::chunk(const capture::EventChunk& chunk) {
  if (chunk.events.empty() || chunk.vcpu.raw >= streams_.size()) return;
  Stream& stream = streams_[chunk.vcpu.raw];
  ++stream.chunks_taken;
  pending_ += chunk.events.size();
  stream.batches.push_back(batch_of(chunk));
  if (stream.batches.size() > 1) return;  // its head stays what it was
  const auto promise = std::ranges::find(heap_, chunk.vcpu.raw, &Head::vcpu);
  if (promise != heap_.end()) {
    head_of(chunk.vcpu.raw, *promise);
  } else if (Head head{}; head_of(chunk.vcpu.raw, head)) {
    heap_.push_back(head);
  }
  std::ranges::make_heap(heap_, std::greater<>{});
  drain();
}

/// Passes on the stream's events for as long as `head`, its next one, is the least of all. True: `head` is what comes next of it.
bool EventOrder::pass_on(Head& head) {
  Stream& stream = streams_[head.vcpu];
  const VcpuIndex vcpu{head.vcpu};
  const Head* const rival = second();
  while (!stream.batches.empty()) {
    Batch& batch = stream.batches.front();
    for (; stream.next < batch.size(); ++stream.next, --pending_) {
      // Streams take turns, each over more memory than the caches hold: what comes next of this one is on its way meanwhile.
      __builtin_prefetch(&batch[std::min(stream.next + 8, batch.size() - 1)]);
      OrderedEvent& event = batch[stream.next];
      head.wall_ns = std::max(stream.last_wall_ns, event.wall_ns);
      if (rival != nullptr && head > *rival) return true;
      stream.last_wall_ns = event.wall_ns = head.wall_ns;
      on_event_(vcpu, event);
    }
    if (spare_.size() < streams_.size()) spare_.push_back(std::move(batch));
    stream.batches.pop_front();
    stream.next = 0;
  }
  return head_of(head.vcpu, head);
}

/// The least of the heads but the top.
const EventOrder::Head* EventOrder::second() const noexcept {
  if (heap_.size() < 2) return nullptr;
  return heap_.size() > 2 && heap_[1] > heap_[2] ? &heap_[2] : &heap_[1];
}

/// Puts the top, which has grown, where it belongs: one way down, where a pop and a push would take three.
void EventOrder::sink_top() noexcept {
  const Head top = heap_.front();
  size_t at = 0;
  for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && heap_[child] > heap_[child + 1]) ++child;
    if (!(top > heap_[child])) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = top;
}

void EventOrder::remove_top() noexcept {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sink_top();
}

void EventOrder::drain() {
  std::vector<Head> passed_over;
  while (!heap_.empty() && (heap_.front().event || pending_ > kMaxPending)) {
    if (!heap_.front().event) {
      passed_over.push_back(heap_.front());
      remove_top();
    } else if (pass_on(heap_.front())) {
      sink_top();
    } else {
      remove_top();
    }
  }
  for (const Head& head : passed_over) {
    heap_.push_back(head);
    std::ranges::push_heap(heap_, std::greater<>{});
  }
}

void EventOrder::finish() {
  // A promise that was not kept (the file changed between the readings) must not hold events back.
  std::erase_if(heap_, [](const Head& head) { return !head.event; });
  std::ranges::make_heap(heap_, std::greater<>{});
  for (Stream& stream : streams_) stream.chunks_taken = SIZE_MAX;
  drain();
}

}  // namespace qperf::sched
