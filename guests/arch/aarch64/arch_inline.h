#pragma once

// Nanoseconds per tick of the counter: 16 at the virt machine's 62.5 MHz, 1 on the newer CPU models' 1 GHz.
extern u64 arch_clock_tick_ns;

ALWAYS_INLINE struct cpu* arch_this_cpu(void) {
  struct cpu* cpu;
  __asm__ volatile("mrs %0, tpidr_el1" : "=r"(cpu));
  return cpu;
}

ALWAYS_INLINE u64 arch_irq_save(void) {
  u64 flags;
  __asm__ volatile("mrs %0, daif\n msr daifset, #2" : "=r"(flags) : : "memory");
  return flags;
}

ALWAYS_INLINE void arch_irq_restore(u64 flags) { __asm__ volatile("msr daif, %0" : : "r"(flags) : "memory"); }
ALWAYS_INLINE void arch_irq_enable(void) { __asm__ volatile("msr daifclr, #2" : : : "memory"); }
ALWAYS_INLINE void arch_cpu_relax(void) { __asm__ volatile("yield" : : : "memory"); }

ALWAYS_INLINE u64 arch_clock_ns(void) {
  u64 ticks;
  __asm__ volatile("isb\n mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks * arch_clock_tick_ns;
}

ALWAYS_INLINE u64 arch_user_syscall(u64 number, u64 arg) {
  register u64 x0 __asm__("x0") = arg;
  register u64 x8 __asm__("x8") = number;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8) : "memory");
  return x0;
}
