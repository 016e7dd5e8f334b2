// Nine tenths of the time in user mode, with frequent system calls: a profiler must not show that time on the trap entry.
// No periodic tick: on a busy host that has kept the CPU from running, a tick is pending when it goes on, so kernel code would
// run first, just when a profiler's own late ticks arrive, and user time would be taken for the kernel's.
#include "user.h"

#define USER_PERCENT 90
#define DURATION_NS (2000 * NS_PER_MS)

static struct user_run runs[MAX_CPUS];

static void user_task(void* argument) {
  (void)argument;
  struct user_run* run = &runs[this_cpu()->number];
  *run = (struct user_run){.user_percent = USER_PERCENT, .duration_ns = DURATION_NS};
  user_program_run(run);
}

static void run_user90(void) {
  run_on_all_cpus("user", user_task, NULL);
  FOR_EACH_CPU(cpu) {
    const struct user_run* run = &runs[cpu->number];
    print("QG user cpu=%u user_ns=%lu total_ns=%lu syscalls=%lu\n", cpu->number, run->user_ns, run->total_ns, run->syscalls);
  }
}

const struct workload workload = {.name = "user90", .tick_period_ns = 0, .run = run_user90};
