// What the guest itself measures about its scheduling: the truth that a profiler's answers are held against. Every time is of
// the guest's clock, read beside the trace event that it belongs to, under the scheduler's lock.
#pragma once

#include "sched.h"

// One finished wait.
struct wait_record {
  u64 task_id;
  u64 sequence;
  enum wait_reason reason;
  // From the switch-out to the wake (0 if the wake came first), then to the switch in.
  u64 blocked_ns;
  u64 runnable_ns;
  // The wake came before the switch-out.
  bool early;
  // Woken on its own CPU before the switch-out: it never left the CPU.
  bool kept_cpu;
};

// One time in a run queue: from the switch-out, the wake or the creation to the switch in.
struct queue_record {
  u64 task_id;
  // Of the last enqueue.
  enum enqueue_reason reason;
  u64 runnable_ns;
};

// A task's whole life, or its life so far.
struct task_record {
  u64 id;
  u64 tid;
  char name[TASK_NAME_BYTES + 1];
  enum task_state state;
  u64 run_ns;
  u64 runnable_ns;
  u64 blocked_ns;
  u64 switches;
  u64 preemptions;
  u64 migrations;
};

// For the scheduler, with its lock held.
void record_wait(const struct wait_record* record);
void record_queue(const struct queue_record* record);
void record_task(const struct task* task);

// Records the tasks that have not exited; their times end now, a wait or a queueing under way is not in them.
void record_living_tasks(void);
void print_wait_records(void);
void print_queue_records(void);
void print_task_records(void);
