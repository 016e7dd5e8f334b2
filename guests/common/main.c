#include "kernel.h"
#include "sched.h"
#include "user.h"

struct cpu cpus[MAX_CPUS];
void (*device_interrupt)(u32 slot);
u8 boot_stack[BOOT_STACK_BYTES] __attribute__((section(".stacks"), aligned(4096)));
static u8 idle_stacks[MAX_CPUS][BOOT_STACK_BYTES] __attribute__((section(".stacks"), aligned(4096)));

u32 cpu_count(void) {
  u32 count = 0;
  FOR_EACH_CPU(cpu) count++;
  return count;
}

u64 kernel_trap(enum trap_cause cause, bool from_user, u64 number, u64 arg) {
  u64 result = 0;
  if (from_user) user_trap_begin();
  if (cause == TRAP_TIMER) sched_timer();
  if (cause == TRAP_IPI) this_cpu()->ipis++;
  if (cause == TRAP_DEVICE) device_interrupt((u32)number);
  if (cause == TRAP_SYSCALL) result = user_syscall(number, arg);
  sched_preempt();
  if (from_user) user_trap_end();
  return result;
}

void kernel_panic(const char* what, u64 value, u64 pc) {
  print("QG panic cpu=%u value=0x%lx pc=0x%lx what=%s\n", this_cpu()->number, value, pc, what);
  arch_power_off();
}

static void print_cpu_totals(void) {
  FOR_EACH_CPU(cpu) {
    const u64* events = cpu->events;
    print("QG cpu cpu=%u ticks=%lu ipis=%lu idle_ns=%lu\n", cpu->number, cpu->ticks, cpu->ipis, cpu->idle_ns);
    print("QG events cpu=%u metadata=%lu switch=%lu block=%lu wake=%lu exit=%lu enqueue=%lu phase=%lu\n", cpu->number,
          events[TRACE_METADATA], events[TRACE_SWITCH], events[TRACE_BLOCK], events[TRACE_WAKE], events[TRACE_EXIT],
          events[TRACE_ENQUEUE], events[TRACE_PHASE]);
  }
}

static void run_workload(void* argument) {
  (void)argument;
  print("QG start workload=%s arch=%s cpus=%u\n", workload.name, ARCH_NAME, cpu_count());
  const u64 start_ns = arch_clock_ns();
  workload.run();
  // With interrupts off, and every other CPU idle, no event follows that these numbers lack.
  arch_irq_save();
  print_cpu_totals();
  print("QG end workload=%s ns=%lu\n", workload.name, arch_clock_ns() - start_ns);
  arch_power_off();
}

void secondary_main(struct cpu* cpu) {
  arch_init_cpu(cpu);
  sched_init_cpu(cpu);
  sched_idle_loop();
}

void kernel_main(u32 boot_cpu_number) {
  arch_init_boot();
  for (u32 i = 0; i < MAX_CPUS; i++) cpus[i].number = i;
  struct cpu* boot_cpu = &cpus[boot_cpu_number];
  arch_init_cpu(boot_cpu);
  sched_init_cpu(boot_cpu);
  for (u32 i = 0; i < MAX_CPUS; i++) {
    if (i == boot_cpu_number) continue;
    if (!arch_start_cpu(&cpus[i], (u64)idle_stacks[i] + BOOT_STACK_BYTES)) break;
    while (!__atomic_load_n(&cpus[i].online, __ATOMIC_ACQUIRE)) arch_cpu_relax();
  }
  task_create(&(struct task_options){.name = "workload", .cpu = boot_cpu, .run = run_workload});
  sched_idle_loop();
}
