// Every way a task can wait, queue, move and end, with the trace marker; each wait is measured and printed.
#include "sched_record.h"
#include "sync.h"

// At least twenty waits of at least 20 ms for each reason.
#define LONG_WAITS 24
#define LONG_WAIT_MS 25
#define LONG_NS (20 * NS_PER_MS)
// Longer than that by what a contender needs to come back to the mutex.
#define HOLD_MS 30
#define SLEEP_PHASES 3
#define QUEUE_CAPACITY 2
#define BUSY_NS (60 * NS_PER_MS)
#define LATENCY_WAITS 12
#define EARLY_WAKES 24
#define SELF_WAKES 6
#define SHORT_TASKS 12
#define MAX_PHASES 1024

struct phase_truth {
  const char* name;
  u64 begin_ns;
  // 0: still open.
  u64 end_ns;
};
static struct phase_truth phases[MAX_PHASES];
static u64 phase_count;

static u64 open_phase(const char* name) {
  if (phase_count == MAX_PHASES) kernel_panic("too many phases", phase_count, 0);
  phases[phase_count] = (struct phase_truth){.name = name, .begin_ns = trace_phase_begin(name)};
  return phase_count++;
}

static void close_phase(u64 index) { phases[index].end_ns = trace_phase_end(phases[index].name); }

// The CPU that `index` names, counted round the online ones.
static struct cpu* cpu_at(u32 index) {
  u32 skip = index % cpu_count();
  FOR_EACH_CPU(cpu) {
    if (skip-- == 0) return cpu;
  }
  kernel_panic("no CPU", index, 0);
}

static void start(struct task_group* group, const char* name, u32 cpu, void (*run)(void*), void* argument) {
  task_create(&(struct task_options){.name = name, .cpu = cpu_at(cpu), .run = run, .argument = argument, .group = group});
}

static NOINLINE void burn(u64 duration_ns) {
  const u64 start_ns = arch_clock_ns();
  while (arch_clock_ns() - start_ns < duration_ns) arch_cpu_relax();
}

static void sleeper_task(void* argument) {
  (void)argument;
  for (u64 i = 0; i < LONG_WAITS / SLEEP_PHASES; i++) task_sleep_ms(LONG_WAIT_MS);
}

static void sleep_part(void) {
  for (u64 i = 0; i < SLEEP_PHASES; i++) {
    struct task_group group = {0};
    const u64 phase = open_phase("sleep");
    start(&group, "sleeper", (u32)i, sleeper_task, NULL);
    task_group_wait(&group);
    close_phase(phase);
  }
}

static struct mutex contended;
// Contenders that have not yet waited long often enough: how many rounds that takes depends on how busy the host is.
static u64 contending;

static void holder_task(void* argument) {
  (void)argument;
  while (__atomic_load_n(&contending, __ATOMIC_ACQUIRE)) {
    mutex_lock(&contended);
    const u64 phase = open_phase("hold");
    task_sleep_ms(HOLD_MS);
    close_phase(phase);
    mutex_unlock(&contended);
    // Time for the contenders to have it too.
    task_sleep_ms(2);
  }
}

static void contender_task(void* argument) {
  (void)argument;
  const struct task* task = task_current();
  for (u64 long_waits = 0; long_waits < LONG_WAITS;) {
    const u64 before_ns = task->blocked_ns;
    mutex_lock(&contended);
    if (task->blocked_ns - before_ns >= LONG_NS) long_waits++;
    burn(NS_PER_MS / 2);
    mutex_unlock(&contended);
    task_sleep_ms(3);
  }
  __atomic_sub_fetch(&contending, 1, __ATOMIC_RELEASE);
}

static void mutex_part(void) {
  struct task_group group = {0};
  const u64 phase = open_phase("mutex");
  contending = 2;
  start(&group, "holder", 0, holder_task, NULL);
  start(&group, "contender_a", 1, contender_task, NULL);
  start(&group, "contender_b", 2, contender_task, NULL);
  task_group_wait(&group);
  close_phase(phase);
}

struct buffer {
  u64 items;
  struct wait_queue filled;
  struct wait_queue emptied;
};
static struct buffer buffer;

static void put_item(void) {
  const u64 flags = sched_lock();
  while (buffer.items == QUEUE_CAPACITY) wait_queue_wait(&buffer.emptied);
  buffer.items++;
  wait_queue_wake_one(&buffer.filled);
  sched_unlock(flags);
}

static void take_item(void) {
  const u64 flags = sched_lock();
  while (buffer.items == 0) wait_queue_wait(&buffer.filled);
  buffer.items--;
  wait_queue_wake_one(&buffer.emptied);
  sched_unlock(flags);
}

struct pace {
  u64 producer_ms;
  u64 consumer_ms;
};

static void producer_task(void* argument) {
  const struct pace* pace = argument;
  for (u64 i = 0; i < LONG_WAITS; i++) {
    if (pace->producer_ms) task_sleep_ms(pace->producer_ms);
    put_item();
  }
}

static void consumer_task(void* argument) {
  const struct pace* pace = argument;
  for (u64 i = 0; i < LONG_WAITS; i++) {
    take_item();
    if (pace->consumer_ms) task_sleep_ms(pace->consumer_ms);
  }
}

// First the consumer waits for items, then the producer for room.
static void queue_part(void) {
  static const struct pace paces[] = {{LONG_WAIT_MS, 0}, {0, LONG_WAIT_MS}};
  for (u64 i = 0; i < ARRAY_LENGTH(paces); i++) {
    struct pace pace = paces[i];
    struct task_group group = {0};
    const u64 phase = open_phase("queue");
    start(&group, "producer", 0, producer_task, &pace);
    start(&group, "consumer", 1, consumer_task, &pace);
    task_group_wait(&group);
    close_phase(phase);
  }
}

static void busy_task(void* argument) {
  (void)argument;
  burn(BUSY_NS);
}

static void yielding_task(void* argument) {
  (void)argument;
  for (u64 i = 0; i < 20; i++) {
    burn(NS_PER_MS);
    task_yield();
  }
}

static void latency_task(void* argument) {
  (void)argument;
  for (u64 i = 0; i < LATENCY_WAITS; i++) task_sleep_ms(5);
}

// Three on one CPU share it by preemption and yields, then a sleeper queues behind two busy ones after each wake.
static void busy_part(void) {
  struct task_group group = {0};
  u64 phase = open_phase("preempt");
  start(&group, "busy_a", 0, busy_task, NULL);
  start(&group, "busy_b", 0, busy_task, NULL);
  start(&group, "yielding", 0, yielding_task, NULL);
  task_group_wait(&group);
  close_phase(phase);
  phase = open_phase("latency");
  start(&group, "busy_a", 1, busy_task, NULL);
  start(&group, "busy_b", 1, busy_task, NULL);
  start(&group, "late", 1, latency_task, NULL);
  task_group_wait(&group);
  close_phase(phase);
}

static void wanderer_task(void* argument) {
  (void)argument;
  for (u32 i = 1; i <= 16; i++) {
    burn(2 * NS_PER_MS);
    task_migrate(cpu_at(i));
  }
}

struct handshake {
  struct task* blocked;
  u64 woken;
};
static struct handshake handshake;

// Blocks, and does not go on to its switch-out before another CPU has woken it.
static void early_blocker_task(void* argument) {
  (void)argument;
  for (u64 i = 1; i <= EARLY_WAKES; i++) {
    const u64 flags = arch_irq_save();
    u64 inner = sched_lock();
    task_block(WAIT_QUEUE, (u64)&handshake, 0);
    sched_unlock(inner);
    __atomic_store_n(&handshake.blocked, task_current(), __ATOMIC_RELEASE);
    while (__atomic_load_n(&handshake.woken, __ATOMIC_ACQUIRE) != i) arch_cpu_relax();
    inner = sched_lock();
    task_wait();
    sched_unlock(inner);
    arch_irq_restore(flags);
  }
}

static void early_waker_task(void* argument) {
  (void)argument;
  for (u64 i = 1; i <= EARLY_WAKES; i++) {
    struct task* blocked;
    while (!(blocked = __atomic_exchange_n(&handshake.blocked, NULL, __ATOMIC_ACQUIRE))) arch_cpu_relax();
    const u64 flags = sched_lock();
    task_wake(blocked, WAKE_BY_TASK, task_current()->id);
    sched_unlock(flags);
    __atomic_store_n(&handshake.woken, i, __ATOMIC_RELEASE);
  }
}

// Sleeps, but with interrupts on before its switch-out until its own CPU's timer has woken it: it never leaves the CPU.
static void self_woken_task(void* argument) {
  (void)argument;
  for (u64 i = 0; i < SELF_WAKES; i++) {
    const u64 flags = task_sleep_begin(arch_clock_ns() + 3 * NS_PER_MS);
    sched_unlock(flags);
    while (__atomic_load_n(&task_current()->state, __ATOMIC_ACQUIRE) != TASK_RUNNING) arch_cpu_relax();
    const u64 again = sched_lock();
    task_wait();
    sched_unlock(again);
  }
}

static void moving_part(void) {
  struct task_group group = {0};
  u64 phase = open_phase("migrate");
  start(&group, "wanderer", 0, wanderer_task, NULL);
  task_group_wait(&group);
  close_phase(phase);
  phase = open_phase("early");
  start(&group, "self_woken", 0, self_woken_task, NULL);
  task_group_wait(&group);
  if (cpu_count() > 1) {
    // In this order: the blocker spins with interrupts off, so nobody on its CPU could start the waker any more.
    start(&group, "early_waker", 1, early_waker_task, NULL);
    start(&group, "early_blocker", 0, early_blocker_task, NULL);
    task_group_wait(&group);
  }
  close_phase(phase);
}

static void renamed_task(void* argument) {
  const u64 number = (u64)argument;
  burn(NS_PER_MS);
  task_rename(task_current(), number % 2 ? "sixteen-bytes-16" : "exec.child", 100 + number, 1000 + number);
  burn(NS_PER_MS);
  task_rename(task_current(), "last-name", 100 + number, 1000 + number);
  burn(NS_PER_MS);
}

static void short_task(void* argument) {
  (void)argument;
  burn(2 * NS_PER_MS);
}

// Exits, names that change, two tasks of one name at a time; the two phases overlap.
static void exit_part(void) {
  struct task_group group = {0};
  const u64 first = open_phase("exit");
  for (u64 i = 0; i < SHORT_TASKS; i++) start(&group, "fork", (u32)i, renamed_task, (void*)i);
  task_group_wait(&group);
  const u64 second = open_phase("gc");
  start(&group, "gc", 0, short_task, NULL);
  start(&group, "gc", 1, short_task, NULL);
  close_phase(first);
  task_group_wait(&group);
  close_phase(second);
}

static void stuck_task(void* argument) {
  static struct wait_queue nobody_wakes;
  (void)argument;
  const u64 flags = sched_lock();
  wait_queue_wait(&nobody_wakes);
  sched_unlock(flags);
}

static void print_phases(void) {
  for (u64 i = 0; i < phase_count; i++) {
    const struct phase_truth* phase = &phases[i];
    u64 occurrence = 1;
    for (u64 j = 0; j < i; j++) occurrence += phases[j].name == phase->name;
    print("QG phase name=%s occurrence=%lu complete=%u ns=%lu\n", phase->name, occurrence, phase->end_ns != 0,
          phase->end_ns ? phase->end_ns - phase->begin_ns : 0);
  }
}

static void run_sched(void) {
  struct task_group stuck = {0};
  open_phase("open");
  start(&stuck, "stuck", 1, stuck_task, NULL);
  sleep_part();
  mutex_part();
  queue_part();
  busy_part();
  moving_part();
  exit_part();
  // No wait after this: what is printed is all there is.
  record_living_tasks();
  print_phases();
  print_wait_records();
  print_queue_records();
  print_task_records();
}

const struct workload workload = {.name = "sched", .tick_period_ns = 10 * NS_PER_MS, .run = run_sched};
