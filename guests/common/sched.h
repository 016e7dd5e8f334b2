// Tasks, per-CPU run queues, sleep, and what the guest itself measures about them.
//
// One lock guards all of it, taken with interrupts off. It is held from the choice of the next task until the next task's stack
// is in use, so a task in a run queue is never still running somewhere.
#pragma once

#include "kernel.h"
#include "trace_marker.h"

#define TASK_NAME_BYTES 16
#define MAX_TASKS 256

enum task_state { TASK_RUNNING = 1, TASK_READY = 2, TASK_BLOCKED = 3, TASK_EXITED = 4 };

// Tasks that wait for something, first come first served.
struct wait_queue {
  struct task* head;
  struct task* tail;
};

// Tasks that somebody waits for; outlives them.
struct task_group {
  u64 running;
  struct wait_queue done;
};

struct task_options {
  const char* name;
  // Where it runs until it calls task_migrate.
  struct cpu* cpu;
  void (*run)(void*);
  void* argument;
  // 0: a stack from the pool.
  u64 stack_top;
  // NULL: nobody waits for it.
  struct task_group* group;
};

struct task {
  u64 id;
  u64 pid;
  u64 tid;
  char name[TASK_NAME_BYTES + 1];
  enum task_state state;
  struct cpu* cpu;
  // The stack is in use by a CPU: true from the switch in until the switch out is complete.
  bool on_cpu;
  // Woken between its block and its switch-out: to be enqueued when the switch-out is complete.
  bool wake_deferred;
  // Preempting it is off while not 0.
  u32 preempt_off;
  u64 sp;
  u64 user_kernel_sp;
  void (*run)(void*);
  void* argument;
  struct task_group* group;
  // The next one in a run queue or wait queue, and in a CPU's list of sleepers.
  struct task* queue_next;
  struct task* sleep_next;
  u64 sleep_deadline_ns;
  u64 block_sequence;
  enum wait_reason wait_reason;
  bool waiting;
  // The last enqueue's; ENQUEUE_NONE since the last switch in.
  enum enqueue_reason queued_for;
  // The clock at the last switch in, at the last switch out, and at the last wake.
  u64 in_ns;
  u64 out_ns;
  u64 wake_ns;
  u64 run_ns;
  u64 runnable_ns;
  u64 blocked_ns;
  u64 switches;
  u64 preemptions;
  u64 migrations;
  // User mode: the clock at the last way in, and the sum.
  u64 user_entered_ns;
  u64 user_ns;
  u64 syscalls;
};

u64 sched_lock(void);
void sched_unlock(u64 flags);

// The boot context becomes this CPU's idle task.
void sched_init_cpu(struct cpu* cpu);
__attribute__((noreturn)) void sched_idle_loop(void);

struct task* task_create(const struct task_options* options);
__attribute__((noreturn)) void task_exit(void);
void task_rename(struct task* task, const char* name, u64 pid, u64 tid);
void task_yield(void);
void task_migrate(struct cpu* target);
void task_sleep_until(u64 deadline_ns);
// Only the first half: takes the lock and blocks. task_wait and unlocking with the result are up to the caller.
u64 task_sleep_begin(u64 deadline_ns);
void task_sleep_ms(u64 milliseconds);

// The current task; stable while that task runs.
struct task* task_current(void);
void preempt_disable(void);
void preempt_enable(void);

// For waits, with the lock held and the current task entered wherever its waker looks: marks it blocked and emits the event.
// task_wait then gives the CPU away; the lock may be released and taken in between, interrupts stay off.
void task_block(enum wait_reason reason, u64 resource, u64 detail);
void task_wait(void);
void task_wake(struct task* task, enum wake_source source, u64 source_id);

void task_group_wait(struct task_group* group);
// Runs `run(argument)` in one task per CPU and waits for all of them.
void run_on_all_cpus(const char* name, void (*run)(void*), void* argument);

// For traps.
void sched_timer(void);
void sched_preempt(void);
