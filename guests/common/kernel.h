// CPUs, console and the entry of a workload.
#pragma once

#include "arch.h"

struct run_queue {
  struct task* head;
  struct task* tail;
  u64 depth;
};

struct cpu {
  // For the architecture's assembly alone, at offset 0: what it keeps there is its own business.
  u64 arch_words[8];
  u32 number;
  bool online;
  bool need_resched;
  bool idling;
  struct task* current;
  struct task* idle;
  struct task* switched_from;
  struct run_queue run_queue;
  struct task* sleepers;
  u64 tick_deadline_ns;
  u64 ticks;
  u64 ipis;
  u64 idle_ns;
  // Trace events emitted on this CPU, by kind (1..7).
  u64 events[8];
};

extern struct cpu cpus[MAX_CPUS];

// Visits every online CPU.
#define FOR_EACH_CPU(cpu)                                    \
  for (struct cpu* cpu = cpus; cpu < cpus + MAX_CPUS; cpu++) \
    if (!cpu->online) {                                      \
    } else

ALWAYS_INLINE struct cpu* this_cpu(void) { return arch_this_cpu(); }

u32 cpu_count(void);

// printf's %s %c %u %lu %lx and %%. A line is written whole, whatever other CPUs print.
__attribute__((format(printf, 1, 2))) void print(const char* format, ...);

// A workload: one per ELF, run by a task on the boot CPU; the kernel powers off when it returns.
struct workload {
  const char* name;
  // 0: no periodic tick, and so no preemption.
  u64 tick_period_ns;
  void (*run)(void);
};
extern const struct workload workload;

// The driver's, with interrupts off; NULL as long as no driver has asked for interrupts.
extern void (*device_interrupt)(u32 slot);
