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
  batch.resize(chunk.events.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    const capture::Event& event = chunk.events[i];
    batch[i] = {.wall_ns = event.wall_ns,
                .kind = event.kind,
                .args = event.args,
                .stack = event.stack == capture::kNoEventStack ? kNoStack : stack_of_chunk_[event.stack],
                .type = event.type};
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

void EventOrder::pass_on(Stream& stream, uint32_t vcpu) {
  Batch& batch = stream.batches.front();
  OrderedEvent& event = batch[stream.next];
  stream.last_wall_ns = std::max(stream.last_wall_ns, event.wall_ns);
  event.wall_ns = stream.last_wall_ns;
  on_event_(VcpuIndex{vcpu}, event);
  --pending_;
  if (++stream.next == batch.size()) {
    if (spare_.size() < streams_.size()) spare_.push_back(std::move(batch));
    stream.batches.pop_front();
    stream.next = 0;
  }
}

void EventOrder::drain() {
  std::vector<Head> passed_over;
  while (!heap_.empty() && (heap_.front().event || pending_ > kMaxPending)) {
    std::ranges::pop_heap(heap_, std::greater<>{});
    Head head = heap_.back();
    heap_.pop_back();
    if (!head.event) {
      passed_over.push_back(head);
      continue;
    }
    // One stream often goes on for many events: no heap work while it stays the least.
    bool more = true;
    while (more && head.event && (heap_.empty() || heap_.front() > head)) {
      pass_on(streams_[head.vcpu], head.vcpu);
      more = head_of(head.vcpu, head);
    }
    if (!more) continue;
    heap_.push_back(head);
    std::ranges::push_heap(heap_, std::greater<>{});
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
