// The user-mode part: one program that computes, makes a system call, and is told by the kernel how long to compute next.
#pragma once

#include "sched.h"

enum user_syscall { SYSCALL_EXIT = 0, SYSCALL_STEP = 1 };

struct user_run {
  // How much of the time user mode shall get, 1..99, and for how long the program runs.
  u64 user_percent;
  u64 duration_ns;
  // The truth: both on the guest's clock, read first and last thing in the kernel's C code of each trap.
  u64 user_ns;
  u64 total_ns;
  u64 syscalls;
};

// Runs the program in the current task until its duration is over.
void user_program_run(struct user_run* run);

// For traps.
void user_trap_begin(void);
void user_trap_end(void);
u64 user_syscall(u64 number, u64 argument);
