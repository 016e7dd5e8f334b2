// The guest trace marker (docs/guest-trace-abi.md): one call per scheduler event, read by the plugin at its first instruction.
#pragma once

#include "types.h"

enum trace_kind {
  TRACE_METADATA = 1,
  TRACE_SWITCH = 2,
  TRACE_BLOCK = 3,
  TRACE_WAKE = 4,
  TRACE_EXIT = 5,
  TRACE_ENQUEUE = 6,
  TRACE_PHASE = 7,
};

enum wait_reason { WAIT_QUEUE = 1, WAIT_SLEEP = 4, WAIT_MUTEX = 5, WAIT_DISK_READ = 10, WAIT_DISK_WRITE = 11 };
enum wake_source { WAKE_BY_TASK = 1, WAKE_BY_TIMER = 2, WAKE_BY_DEVICE = 5 };
enum enqueue_reason {
  ENQUEUE_NONE = 0,
  ENQUEUE_SPAWN = 1,
  ENQUEUE_WAKE = 2,
  ENQUEUE_PREEMPT = 3,
  ENQUEUE_YIELD = 4,
  ENQUEUE_MIGRATION = 5,
  ENQUEUE_DEFERRED_WAKE = 6,
};

void __pulse_qperf_trace_v1(u64 kind, u64 arg0, u64 arg1, u64 arg2, u64 arg3, u64 arg4);

// Emits and counts on this CPU. Interrupts are off.
#define trace_event(kind, a0, a1, a2, a3, a4)                     \
  do {                                                            \
    this_cpu()->events[kind]++;                                   \
    __pulse_qperf_trace_v1((kind), (a0), (a1), (a2), (a3), (a4)); \
  } while (0)

// Phase `name` (1..16 characters) begins or ends here; any task, interrupts on or off. Returns the clock beside the event.
u64 trace_phase_begin(const char* name);
u64 trace_phase_end(const char* name);

// Eight bytes of a NUL-padded name, little-endian, from byte `offset`.
u64 trace_name_word(const char* name, size_t offset);
