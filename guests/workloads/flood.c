// Marker calls as no scheduler makes them: the cost of one, then a flood of any values in any order, with 2^20 task ids.
// The marker is called directly, not by trace_event: these are no events of this kernel's tasks, and have counters of their own.
#include "kernel.h"
#include "trace_marker.h"

#define BATCHES 2000
#define BATCH_CALLS 100
#define FLOOD_CALLS (1u << 21)
#define KINDS 16

static u64 random_state = 0x9e3779b97f4a7c15;

// xorshift64: the same numbers in every run.
static u64 next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

// The least of many batches, with interrupts off: what a busy host adds is in some of them only.
static void measure(void) {
  u64 least_ns = ~0ul;
  for (u64 batch = 0; batch < BATCHES; batch++) {
    const u64 flags = arch_irq_save();
    const u64 start_ns = arch_clock_ns();
    for (u64 i = 0; i < BATCH_CALLS; i++) __pulse_qperf_trace_v1(TRACE_ENQUEUE, i, 0, 0, batch, ENQUEUE_PREEMPT);
    const u64 ns = arch_clock_ns() - start_ns;
    arch_irq_restore(flags);
    if (ns < least_ns) least_ns = ns;
  }
  print("QG cost calls=%u batch_calls=%u least_batch_ns=%lu\n", BATCHES * BATCH_CALLS, BATCH_CALLS, least_ns);
}

static u64 by_kind[KINDS];

static void flood(void) {
  const u64 flags = arch_irq_save();
  for (u64 i = 0; i < FLOOD_CALLS; i++) {
    const u64 kind = next_random() % KINDS;
    by_kind[kind]++;
    // Tasks that are seen once and tasks that meet others again and again: both must do no harm.
    const u64 task = next_random() % 4 == 0 ? next_random() % 64 : i / 2;
    __pulse_qperf_trace_v1(kind, task, next_random() % 64, next_random() % 8, next_random(), next_random());
  }
  arch_irq_restore(flags);
  for (u64 kind = 0; kind < KINDS; kind++) print("QG flood kind=%lu calls=%lu\n", kind, by_kind[kind]);
}

static void run_flood(void) {
  measure();
  flood();
}

const struct workload workload = {.name = "flood", .tick_period_ns = 0, .run = run_flood};
