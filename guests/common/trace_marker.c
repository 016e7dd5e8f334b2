#include "trace_marker.h"

#include "kernel.h"
#include "sched.h"

// External, never inlined and alone with its arguments: the plugin reads the six argument registers at the first
// instruction, so no optimization may drop or reorder one. Callers are in other files and the build has no LTO.
NOINLINE void __pulse_qperf_trace_v1(u64 kind, u64 arg0, u64 arg1, u64 arg2, u64 arg3, u64 arg4) {
  __asm__ volatile("" : : "r"(kind), "r"(arg0), "r"(arg1), "r"(arg2), "r"(arg3), "r"(arg4) : "memory");
}

u64 trace_name_word(const char* name, size_t offset) {
  u64 word = 0;
  size_t length = 0;
  while (length < TASK_NAME_BYTES && name[length]) length++;
  for (size_t i = 0; i < 8 && offset + i < length; i++) word |= (u64)(u8)name[offset + i] << (8 * i);
  return word;
}

static u64 trace_phase(u64 edge, const char* name) {
  const u64 flags = arch_irq_save();
  const struct task* current = this_cpu()->current;
  const u64 now_ns = arch_clock_ns();
  trace_event(TRACE_PHASE, edge, current ? current->id : 0, trace_name_word(name, 0), trace_name_word(name, 8), 0);
  arch_irq_restore(flags);
  return now_ns;
}

u64 trace_phase_begin(const char* name) { return trace_phase(1, name); }
u64 trace_phase_end(const char* name) { return trace_phase(2, name); }
