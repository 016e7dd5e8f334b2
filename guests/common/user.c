#include "user.h"

#define FIRST_ITERATIONS 1000
#define MIN_ITERATIONS 16
#define MAX_ITERATIONS 1000000

u8 user_stacks[MAX_CPUS][USER_STACK_BYTES] __attribute__((aligned(4096)));

// In counted.S: a constant in memory, as no kernel code reaches a user address relative to the pc.
extern const u64 user_program_address;

// One per CPU: user tasks do not migrate.
struct user_state {
  struct user_run* run;
  u64 start_ns;
  u64 iterations_done;
};
static struct user_state states[MAX_CPUS];

void user_trap_begin(void) {
  struct task* task = task_current();
  task->user_ns += arch_clock_ns() - task->user_entered_ns;
}

void user_trap_end(void) { task_current()->user_entered_ns = arch_clock_ns(); }

// What a system call does here: enough for the kernel's part to have a body of its own.
static NOINLINE u64 syscall_work(u64 seed) {
  for (u64 i = 0; i < 300; i++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    __asm__ volatile("" : "+r"(seed));
  }
  return seed;
}

// How long to compute so that user mode has had its share of all time so far when it comes back. A call that the host
// delayed is made up for over some calls, not in one.
static NOINLINE u64 syscall_step(u64 iterations) {
  struct user_state* state = &states[this_cpu()->number];
  struct task* task = task_current();
  task->syscalls++;
  state->iterations_done += iterations;
  syscall_work(task->syscalls);
  const u64 total_ns = arch_clock_ns() - state->start_ns;
  if (total_ns >= state->run->duration_ns) return 0;
  const u64 percent = state->run->user_percent;
  const u64 wanted_user_ns = percent * (total_ns - task->user_ns) / (100 - percent);
  if (wanted_user_ns <= task->user_ns) return MIN_ITERATIONS;
  u64 step_ns = wanted_user_ns - task->user_ns;
  const u64 longest_ns = 4 * wanted_user_ns / task->syscalls;
  if (step_ns > longest_ns) step_ns = longest_ns;
  const u64 wanted = state->iterations_done * step_ns / (task->user_ns + 1);
  if (wanted < MIN_ITERATIONS) return MIN_ITERATIONS;
  return wanted > MAX_ITERATIONS ? MAX_ITERATIONS : wanted;
}

u64 user_syscall(u64 number, u64 argument) {
  if (number == SYSCALL_STEP) return syscall_step(argument);
  if (number == SYSCALL_EXIT) arch_leave_user(task_current()->user_kernel_sp, argument);
  kernel_panic("unknown system call", number, 0);
}

void user_program_run(struct user_run* run) {
  struct task* task = task_current();
  const u32 number = this_cpu()->number;
  const u64 user_sp = USER_STACKS_VA + (number + 1) * USER_STACK_BYTES;
  const u64 flags = arch_irq_save();
  task->user_ns = 0;
  task->syscalls = 0;
  states[number] = (struct user_state){.run = run, .start_ns = arch_clock_ns()};
  task->user_entered_ns = states[number].start_ns;
  arch_enter_user(&task->user_kernel_sp, user_program_address, user_sp, FIRST_ITERATIONS);
  run->total_ns = arch_clock_ns() - states[number].start_ns;
  run->user_ns = task->user_ns;
  run->syscalls = task->syscalls;
  arch_irq_restore(flags);
}
