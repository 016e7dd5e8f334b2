// The demo and the profile tests: each part puts a known amount of work, time or depth into functions of known names, on every
// CPU, and prints what it was.
#include "counted.h"
#include "sched.h"
#include "user.h"

#define SHARE_ROUNDS 100
// A prime, so that no sampling period that is a multiple of a small number runs in step with the rounds.
#define SHARE_UNIT 17491
#define LOOP_ITERATIONS 20000003
#define RECURSION_FRAMES 300
#define WORKERS 3
#define WORKER_NS (60 * NS_PER_MS)
#define USER_PERCENT 70
#define USER_NS (200 * NS_PER_MS)
#define FIRMWARE_NS (100 * NS_PER_MS)
#define IDLE_MS 300

enum hostile_kind { HOSTILE_CYCLE, HOSTILE_UNALIGNED, HOSTILE_MMIO, HOSTILE_UNMAPPED, HOSTILE_KINDS };

static const char* const hostile_names[] = {"hostile_cycle", "hostile_unaligned", "hostile_mmio", "hostile_unmapped"};
static const char* const worker_names[WORKERS] = {"worker_a", "worker_b", "worker_c"};
static const char* const share_names[] = {"share_10", "share_20", "share_30", "share_40"};
static const char* const spin_names[] = {"spin_50ms", "spin_100ms", "spin_200ms"};

struct worker_truth {
  u64 id;
  u64 run_ns;
  u64 switches;
  u64 preemptions;
};

// What a CPU's parts really did; printed when all are over.
struct truth {
  u64 spin_ns[ARRAY_LENGTH(spin_names)];
  u64 recursion_ns;
  u64 leaf_ns;
  u64 hostile_ns[HOSTILE_KINDS];
  struct worker_truth workers[WORKERS];
  struct user_run user;
  u64 firmware_calls;
  u64 firmware_ns;
  u64 idle_ns;
  u64 slept_ns;
};
static struct truth truths[MAX_CPUS];

// At the very end of the image: the page above is not mapped.
static u8 hostile_stacks[MAX_CPUS][HOSTILE_STACK_BYTES] __attribute__((section(".hostile_stacks"), aligned(4096), ARCH_FAR));
extern u8 __image_end[];

static struct truth* own_truth(void) { return &truths[this_cpu()->number]; }

static NOINLINE void shares(void) {
  for (u64 round = 0; round < SHARE_ROUNDS; round++) {
    share_10(1 * SHARE_UNIT);
    share_20(2 * SHARE_UNIT);
    share_30(3 * SHARE_UNIT);
    share_40(4 * SHARE_UNIT);
  }
}

// Between two readings: with -icount a reading costs the host far more than the guest.
#define SPIN_PAUSES 50

// The clock is read inline, so all of the time is the function's own. Returns the nanoseconds it really took.
#define SPIN(milliseconds)                                                  \
  static NOINLINE u64 spin_##milliseconds##ms(void) {                       \
    const u64 start_ns = arch_clock_ns();                                   \
    u64 now_ns = start_ns;                                                  \
    while (now_ns - start_ns < (milliseconds) * NS_PER_MS) {                \
      for (u64 i = 0; i < SPIN_PAUSES; i++) __asm__ volatile("" : "+r"(i)); \
      now_ns = arch_clock_ns();                                             \
    }                                                                       \
    return now_ns - start_ns;                                               \
  }
SPIN(50)
SPIN(100)
SPIN(200)

// `frames` frames of itself, then the loop.
static NOINLINE void recurse(u64 frames) {
  if (frames > 1) {
    recurse(frames - 1);
  } else {
    recurse_bottom(LOOP_ITERATIONS);
  }
  // Something to do after the call: it is no tail call.
  __asm__ volatile("" : : : "memory");
}

static NOINLINE void calls_leaf(void) {
  leaf_without_frame(LOOP_ITERATIONS);
  __asm__ volatile("" : : : "memory");
}

static void write_record(u64 frame_pointer, u64 saved_frame_pointer, u64 return_address) {
  *(u64*)(frame_pointer + (u64)ARCH_FRAME_SAVED_FP) = saved_frame_pointer;
  *(u64*)(frame_pointer + (u64)ARCH_FRAME_RETURN) = return_address;
}

// Runs a function whose frame pointer leads into a trap, by one plausible record where that brings the walk closer to it.
static NOINLINE void run_hostile(enum hostile_kind kind) {
  u64 records[16] __attribute__((aligned(16)));
  const u64 near = (u64)&records[4];
  const u64 far = (u64)&records[10];
  const u64 return_address = (u64)__builtin_return_address(0);
  u64 beyond = far;
  if (kind == HOSTILE_MMIO) beyond = arch_mmio_address();
  if (kind == HOSTILE_UNMAPPED) beyond = (u64)__image_end + 64;
  write_record(far, near, return_address);
  write_record(near, beyond, return_address);
  __asm__ volatile("" : : "r"(records) : "memory");
  if (kind == HOSTILE_CYCLE) hostile_cycle(LOOP_ITERATIONS, near);
  if (kind == HOSTILE_UNALIGNED) hostile_unaligned(LOOP_ITERATIONS, near + 3);
  if (kind == HOSTILE_MMIO) hostile_mmio(LOOP_ITERATIONS, near);
  if (kind == HOSTILE_UNMAPPED) hostile_unmapped(LOOP_ITERATIONS, near);
  __asm__ volatile("" : : "r"(records) : "memory");
}

static void hostile_task(void* argument) {
  struct truth* truth = argument;
  for (enum hostile_kind kind = 0; kind < HOSTILE_KINDS; kind++) {
    const u64 start_ns = arch_clock_ns();
    run_hostile(kind);
    truth->hostile_ns[kind] = arch_clock_ns() - start_ns;
  }
}

static NOINLINE u64 worker_step(u64 seed) {
  for (u64 i = 0; i < 5000; i++) {
    seed = seed * 2862933555777941757ul + 3037000493ul;
    __asm__ volatile("" : "+r"(seed));
  }
  return seed;
}

// Runs for WORKER_NS of its own time on the CPU, whatever the others take in between.
static void worker_task(void* argument) {
  struct worker_truth* truth = argument;
  struct task* task = task_current();
  u64 seed = task->id;
  u64 run_ns = 0;
  while (run_ns < WORKER_NS) {
    seed = worker_step(seed);
    const u64 flags = arch_irq_save();
    run_ns = task->run_ns + arch_clock_ns() - task->in_ns;
    arch_irq_restore(flags);
  }
  *truth = (struct worker_truth){task->id, run_ns, task->switches, task->preemptions};
}

static void run_workers(struct truth* truth) {
  struct task_group group = {0};
  for (size_t i = 0; i < WORKERS; i++) {
    task_create(&(struct task_options){
        .name = worker_names[i], .cpu = this_cpu(), .run = worker_task, .argument = &truth->workers[i], .group = &group});
  }
  task_group_wait(&group);
}

static void run_hostile_task(struct truth* truth) {
  struct task_group group = {0};
  const u64 stack_top = (u64)hostile_stacks[this_cpu()->number] + HOSTILE_STACK_BYTES;
  task_create(&(struct task_options){
      .name = "hostile", .cpu = this_cpu(), .run = hostile_task, .argument = truth, .stack_top = stack_top, .group = &group});
  task_group_wait(&group);
}

static NOINLINE void call_firmware(struct truth* truth) {
  const u64 start_ns = arch_clock_ns();
  u64 now_ns = start_ns;
  while (now_ns - start_ns < FIRMWARE_NS && arch_firmware_call()) {
    truth->firmware_calls++;
    now_ns = arch_clock_ns();
  }
  truth->firmware_ns = now_ns - start_ns;
}

static void idle_part(struct truth* truth) {
  const u64 idle_before_ns = this_cpu()->idle_ns;
  const u64 start_ns = arch_clock_ns();
  task_sleep_ms(IDLE_MS);
  truth->slept_ns = arch_clock_ns() - start_ns;
  truth->idle_ns = this_cpu()->idle_ns - idle_before_ns;
}

static void profile_task(void* argument) {
  (void)argument;
  struct truth* truth = own_truth();
  shares();
  truth->spin_ns[0] = spin_50ms();
  truth->spin_ns[1] = spin_100ms();
  truth->spin_ns[2] = spin_200ms();
  u64 start_ns = arch_clock_ns();
  recurse(RECURSION_FRAMES);
  truth->recursion_ns = arch_clock_ns() - start_ns;
  start_ns = arch_clock_ns();
  calls_leaf();
  truth->leaf_ns = arch_clock_ns() - start_ns;
  run_hostile_task(truth);
  run_workers(truth);
  truth->user = (struct user_run){.user_percent = USER_PERCENT, .duration_ns = USER_NS};
  user_program_run(&truth->user);
  call_firmware(truth);
  idle_part(truth);
}

static void print_truth(u32 cpu, const struct truth* truth) {
  for (u64 i = 0; i < ARRAY_LENGTH(share_names); i++) {
    const u64 iterations = SHARE_ROUNDS * (i + 1) * SHARE_UNIT;
    print("QG share cpu=%u name=%s calls=%u iterations=%lu insns=%lu\n", cpu, share_names[i], SHARE_ROUNDS, iterations,
          SHARE_ROUNDS * ARCH_COUNTED_FIXED_INSNS + iterations * ARCH_LOOP_INSNS);
  }
  for (u64 i = 0; i < ARRAY_LENGTH(spin_names); i++)
    print("QG spin cpu=%u name=%s ns=%lu\n", cpu, spin_names[i], truth->spin_ns[i]);
  const u64 loop_insns = (u64)LOOP_ITERATIONS * ARCH_LOOP_INSNS;
  print("QG recursion cpu=%u name=recurse frames=%u bottom=recurse_bottom insns=%lu ns=%lu\n", cpu, RECURSION_FRAMES,
        loop_insns + ARCH_COUNTED_FIXED_INSNS, truth->recursion_ns);
  print("QG leaf cpu=%u name=leaf_without_frame caller=calls_leaf insns=%lu ns=%lu\n", cpu, loop_insns + ARCH_LEAF_FIXED_INSNS,
        truth->leaf_ns);
  for (u64 i = 0; i < HOSTILE_KINDS; i++)
    print("QG hostile cpu=%u name=%s insns=%lu ns=%lu\n", cpu, hostile_names[i], loop_insns + ARCH_HOSTILE_FIXED_INSNS,
          truth->hostile_ns[i]);
  for (u64 i = 0; i < WORKERS; i++) {
    const struct worker_truth* worker = &truth->workers[i];
    print("QG worker cpu=%u name=%s id=%lu run_ns=%lu switches=%lu preemptions=%lu\n", cpu, worker_names[i], worker->id,
          worker->run_ns, worker->switches, worker->preemptions);
  }
  print("QG user cpu=%u user_ns=%lu total_ns=%lu syscalls=%lu\n", cpu, truth->user.user_ns, truth->user.total_ns,
        truth->user.syscalls);
  print("QG firmware cpu=%u calls=%lu ns=%lu\n", cpu, truth->firmware_calls, truth->firmware_ns);
  print("QG idle cpu=%u idle_ns=%lu slept_ns=%lu\n", cpu, truth->idle_ns, truth->slept_ns);
}

static void run_profile(void) {
  run_on_all_cpus("profile", profile_task, NULL);
  FOR_EACH_CPU(cpu) print_truth(cpu->number, &truths[cpu->number]);
}

const struct workload workload = {.name = "profile", .tick_period_ns = 10 * NS_PER_MS, .run = run_profile};
