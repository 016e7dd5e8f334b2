#pragma once

ALWAYS_INLINE struct cpu* arch_this_cpu(void) {
  struct cpu* cpu;
  __asm__ volatile("mv %0, tp" : "=r"(cpu));
  return cpu;
}

ALWAYS_INLINE u64 arch_irq_save(void) {
  u64 status;
  __asm__ volatile("csrrci %0, sstatus, 2" : "=r"(status) : : "memory");
  return status & 2;
}

ALWAYS_INLINE void arch_irq_restore(u64 flags) { __asm__ volatile("csrs sstatus, %0" : : "r"(flags) : "memory"); }
ALWAYS_INLINE void arch_irq_enable(void) { __asm__ volatile("csrsi sstatus, 2" : : : "memory"); }
ALWAYS_INLINE void arch_cpu_relax(void) { __asm__ volatile("nop" : : : "memory"); }

// The virt machine's time base is 10 MHz.
ALWAYS_INLINE u64 arch_clock_ns(void) {
  u64 ticks;
  __asm__ volatile("rdtime %0" : "=r"(ticks) : : "memory");
  return ticks * 100;
}

ALWAYS_INLINE u64 arch_user_syscall(u64 number, u64 arg) {
  register u64 a0 __asm__("a0") = arg;
  register u64 a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
  return a0;
}
