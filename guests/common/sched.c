#include "sched.h"

#include "sched_record.h"
#include "spinlock.h"
#include "sync.h"

static struct spinlock scheduler;
static struct task tasks[MAX_TASKS];
static u64 last_task_id;
__attribute__((section(".stacks"), aligned(4096))) static u8 task_stacks[MAX_TASKS][TASK_STACK_BYTES];

// With no sleeper and no tick the timer still needs a deadline.
#define FAR_DEADLINE_NS (3600ul * 1000 * NS_PER_MS)

u64 sched_lock(void) {
  const u64 flags = arch_irq_save();
  spin_lock(&scheduler);
  return flags;
}

void sched_unlock(u64 flags) {
  spin_unlock(&scheduler);
  arch_irq_restore(flags);
}

struct task* task_current(void) { return this_cpu()->current; }
void preempt_disable(void) { task_current()->preempt_off++; }
void preempt_enable(void) { task_current()->preempt_off--; }

static void emit_metadata(const struct task* task) {
  trace_event(TRACE_METADATA, task->id, task->pid, task->tid, trace_name_word(task->name, 0), trace_name_word(task->name, 8));
}

static void set_name(struct task* task, const char* name) {
  size_t i = 0;
  for (; i < TASK_NAME_BYTES && name[i]; i++) task->name[i] = name[i];
  for (; i <= TASK_NAME_BYTES; i++) task->name[i] = 0;
}

static struct task* new_task(const char* name, struct cpu* cpu) {
  for (struct task* task = tasks; task < tasks + MAX_TASKS; task++) {
    if (task->id) continue;
    *task = (struct task){.id = ++last_task_id, .cpu = cpu};
    set_name(task, name);
    return task;
  }
  kernel_panic("too many tasks", MAX_TASKS, 0);
}

static void arm_timer(struct cpu* cpu, const struct task* running) {
  u64 deadline_ns = arch_clock_ns() + FAR_DEADLINE_NS;
  if (running != cpu->idle && workload.tick_period_ns) deadline_ns = cpu->tick_deadline_ns;
  for (const struct task* task = cpu->sleepers; task; task = task->sleep_next) {
    if (task->sleep_deadline_ns < deadline_ns) deadline_ns = task->sleep_deadline_ns;
  }
  arch_timer_arm(deadline_ns);
}

static void enqueue(struct task* task, struct cpu* target, enum enqueue_reason reason) {
  struct run_queue* queue = &target->run_queue;
  task->state = TASK_READY;
  task->queue_next = NULL;
  task->queued_for = reason;
  if (queue->tail) queue->tail->queue_next = task;
  if (!queue->tail) queue->head = task;
  queue->tail = task;
  queue->depth++;
  trace_event(TRACE_ENQUEUE, task->id, this_cpu()->number, target->number, queue->depth, reason);
  if (target != this_cpu() && target->current == target->idle) arch_send_ipi(target);
}

static struct task* dequeue(struct cpu* cpu) {
  struct run_queue* queue = &cpu->run_queue;
  struct task* task = queue->head;
  if (!task) return NULL;
  queue->head = task->queue_next;
  if (!queue->head) queue->tail = NULL;
  queue->depth--;
  return task;
}

// The clock at the switch in of a task says how its last time off the CPU divides.
static void account_switch_in(struct task* task, u64 now_ns) {
  task->in_ns = now_ns;
  task->switches++;
  const u64 ready_ns = task->waiting && task->wake_ns > task->out_ns ? task->wake_ns : task->out_ns;
  // An idle task is in no queue.
  if (task->queued_for != ENQUEUE_NONE)
    record_queue(&(struct queue_record){.task_id = task->id, .reason = task->queued_for, .runnable_ns = now_ns - ready_ns});
  task->queued_for = ENQUEUE_NONE;
  if (!task->waiting) {
    task->runnable_ns += now_ns - task->out_ns;
    return;
  }
  task->waiting = false;
  struct wait_record record = {.task_id = task->id, .sequence = task->block_sequence, .reason = task->wait_reason};
  record.early = task->wake_ns < task->out_ns;
  record.blocked_ns = record.early ? 0 : task->wake_ns - task->out_ns;
  record.runnable_ns = now_ns - ready_ns;
  task->blocked_ns += record.blocked_ns;
  task->runnable_ns += record.runnable_ns;
  record_wait(&record);
}

// On the next task's stack, the lock still held by this CPU.
static void finish_switch(void) {
  struct task* previous = this_cpu()->switched_from;
  previous->on_cpu = false;
  if (previous->wake_deferred) {
    previous->wake_deferred = false;
    enqueue(previous, previous->cpu, ENQUEUE_DEFERRED_WAKE);
  }
  // Its stack is out of use from here on.
  if (previous->state == TASK_EXITED) {
    record_task(previous);
    previous->id = 0;
  }
}

// Gives the CPU to the next task. The lock is held, and still held when the caller runs again, perhaps on another CPU.
static void switch_away(void) {
  struct cpu* cpu = this_cpu();
  struct task* previous = cpu->current;
  struct task* next = dequeue(cpu);
  if (!next) next = cpu->idle;
  if (next == previous) {
    previous->state = TASK_RUNNING;
    return;
  }
  const u64 now_ns = arch_clock_ns();
  trace_event(TRACE_SWITCH, previous->id, next->id, previous->state, 0, 0);
  previous->run_ns += now_ns - previous->in_ns;
  previous->out_ns = now_ns;
  account_switch_in(next, now_ns);
  next->state = TASK_RUNNING;
  next->on_cpu = true;
  cpu->current = next;
  cpu->switched_from = previous;
  if (previous == cpu->idle || next == cpu->idle) {
    cpu->tick_deadline_ns = now_ns + workload.tick_period_ns;
    arm_timer(cpu, next);
  }
  arch_switch_stack(&previous->sp, next->sp);
  finish_switch();
}

// The first code of every task: kernel_main's and secondary_main's stand-in at the root of its stack.
static void task_start(void) {
  finish_switch();
  spin_unlock(&scheduler);
  arch_irq_enable();
  struct task* task = task_current();
  task->run(task->argument);
  task_exit();
}

void sched_init_cpu(struct cpu* cpu) {
  const u64 flags = sched_lock();
  struct task* idle = new_task("idle", cpu);
  idle->state = TASK_RUNNING;
  idle->on_cpu = true;
  idle->in_ns = arch_clock_ns();
  cpu->idle = idle;
  cpu->current = idle;
  cpu->tick_deadline_ns = idle->in_ns + workload.tick_period_ns;
  emit_metadata(idle);
  __atomic_store_n(&cpu->online, true, __ATOMIC_RELEASE);
  sched_unlock(flags);
}

void sched_idle_loop(void) {
  struct cpu* cpu = this_cpu();
  for (;;) {
    const u64 flags = sched_lock();
    if (cpu->run_queue.depth) {
      // An idle task that is switched away from is neither ready nor blocked: it is in no queue.
      cpu->idle->state = TASK_READY;
      switch_away();
      sched_unlock(flags);
      continue;
    }
    arm_timer(cpu, cpu->idle);
    spin_unlock(&scheduler);
    const u64 start_ns = arch_clock_ns();
    arch_wait_for_interrupt();
    cpu->idle_ns += arch_clock_ns() - start_ns;
    arch_irq_enable();
  }
}

struct task* task_create(const struct task_options* options) {
  const u64 flags = sched_lock();
  struct task* task = new_task(options->name, options->cpu);
  task->run = options->run;
  task->argument = options->argument;
  task->group = options->group;
  if (task->group) task->group->running++;
  const u64 pool_stack_top = (u64)task_stacks[task - tasks] + TASK_STACK_BYTES;
  task->sp = arch_new_stack(options->stack_top ? options->stack_top : pool_stack_top, task_start);
  task->out_ns = arch_clock_ns();
  emit_metadata(task);
  enqueue(task, task->cpu, ENQUEUE_SPAWN);
  sched_unlock(flags);
  return task;
}

void task_exit(void) {
  sched_lock();
  struct task* task = task_current();
  trace_event(TRACE_EXIT, task->id, 0, 0, 0, 0);
  task->state = TASK_EXITED;
  if (task->group && --task->group->running == 0) wait_queue_wake_one(&task->group->done);
  switch_away();
  kernel_panic("an exited task runs", task->id, 0);
}

void record_living_tasks(void) {
  const u64 flags = sched_lock();
  const u64 now_ns = arch_clock_ns();
  for (struct task* task = tasks; task < tasks + MAX_TASKS; task++) {
    if (!task->id) continue;
    if (task->on_cpu) {
      task->run_ns += now_ns - task->in_ns;
      task->in_ns = now_ns;
    }
    record_task(task);
  }
  sched_unlock(flags);
}

void task_group_wait(struct task_group* group) {
  const u64 flags = sched_lock();
  while (group->running) wait_queue_wait(&group->done);
  sched_unlock(flags);
}

void run_on_all_cpus(const char* name, void (*run)(void*), void* argument) {
  struct task_group group = {0};
  FOR_EACH_CPU(cpu) {
    task_create(&(struct task_options){.name = name, .cpu = cpu, .run = run, .argument = argument, .group = &group});
  }
  task_group_wait(&group);
}

void task_rename(struct task* task, const char* name, u64 pid, u64 tid) {
  const u64 flags = sched_lock();
  set_name(task, name);
  task->pid = pid;
  task->tid = tid;
  emit_metadata(task);
  sched_unlock(flags);
}

void task_yield(void) {
  const u64 flags = sched_lock();
  struct cpu* cpu = this_cpu();
  enqueue(cpu->current, cpu, ENQUEUE_YIELD);
  switch_away();
  sched_unlock(flags);
}

void task_migrate(struct cpu* target) {
  const u64 flags = sched_lock();
  struct task* task = task_current();
  if (task->cpu != target) {
    task->cpu = target;
    task->migrations++;
    enqueue(task, target, ENQUEUE_MIGRATION);
    // Ready, in the other CPU's queue; the lock keeps that CPU from taking it before this stack is left.
    switch_away();
  }
  sched_unlock(flags);
}

void task_block(enum wait_reason reason, u64 resource, u64 detail) {
  struct task* task = task_current();
  task->state = TASK_BLOCKED;
  task->wait_reason = reason;
  task->waiting = true;
  task->block_sequence++;
  trace_event(TRACE_BLOCK, task->id, task->block_sequence, reason, resource, detail);
}

void task_wait(void) {
  const struct task* task = task_current();
  // Woken by an interrupt on this very CPU: it has not left it and does not need to.
  if (task->state != TASK_RUNNING) switch_away();
}

void task_wake(struct task* task, enum wake_source source, u64 source_id) {
  if (task->state != TASK_BLOCKED) kernel_panic("wake of a task that is not blocked", task->id, task->state);
  const struct task* current = task_current();
  task->wake_ns = arch_clock_ns();
  trace_event(TRACE_WAKE, task->id, task->block_sequence, current->id, source, source_id);
  if (task == current) {
    task->state = TASK_RUNNING;
    task->waiting = false;
    record_wait(&(struct wait_record){
        .task_id = task->id, .sequence = task->block_sequence, .reason = task->wait_reason, .early = true, .kept_cpu = true});
    return;
  }
  if (task->on_cpu) {
    // Kernels differ in whether such a wake shows in the state that the switch-out then reports; here, turn by turn.
    if (task->block_sequence % 2) task->state = TASK_READY;
    task->wake_deferred = true;
    return;
  }
  enqueue(task, task->cpu, ENQUEUE_WAKE);
}

u64 task_sleep_begin(u64 deadline_ns) {
  const u64 flags = sched_lock();
  struct cpu* cpu = this_cpu();
  struct task* task = cpu->current;
  task->sleep_deadline_ns = deadline_ns;
  task->sleep_next = cpu->sleepers;
  cpu->sleepers = task;
  arm_timer(cpu, task);
  task_block(WAIT_SLEEP, deadline_ns, 0);
  return flags;
}

void task_sleep_until(u64 deadline_ns) {
  const u64 flags = task_sleep_begin(deadline_ns);
  task_wait();
  sched_unlock(flags);
}

void task_sleep_ms(u64 milliseconds) { task_sleep_until(arch_clock_ns() + milliseconds * NS_PER_MS); }

void sched_timer(void) {
  spin_lock(&scheduler);
  struct cpu* cpu = this_cpu();
  const u64 now_ns = arch_clock_ns();
  for (struct task** link = &cpu->sleepers; *link;) {
    struct task* task = *link;
    if (task->sleep_deadline_ns > now_ns) {
      link = &task->sleep_next;
      continue;
    }
    *link = task->sleep_next;
    task_wake(task, WAKE_BY_TIMER, cpu->number);
  }
  if (cpu->current != cpu->idle && workload.tick_period_ns && now_ns >= cpu->tick_deadline_ns) {
    cpu->ticks++;
    cpu->tick_deadline_ns = now_ns + workload.tick_period_ns;
    cpu->need_resched = true;
  }
  arm_timer(cpu, cpu->current);
  spin_unlock(&scheduler);
}

void sched_preempt(void) {
  struct cpu* cpu = this_cpu();
  struct task* task = cpu->current;
  // The idle loop looks for itself; a task that has blocked is about to give the CPU away by itself.
  if (!cpu->need_resched || task == cpu->idle || task->preempt_off || task->state != TASK_RUNNING) return;
  cpu->need_resched = false;
  spin_lock(&scheduler);
  task->preemptions++;
  enqueue(task, cpu, ENQUEUE_PREEMPT);
  switch_away();
  spin_unlock(&scheduler);
}
