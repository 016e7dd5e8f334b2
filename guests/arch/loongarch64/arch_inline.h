#pragma once

// r21 is the psABI's reserved register: no compiler touches it.
ALWAYS_INLINE struct cpu* arch_this_cpu(void) {
  struct cpu* cpu;
  __asm__ volatile("move %0, $r21" : "=r"(cpu));
  return cpu;
}

ALWAYS_INLINE u64 arch_irq_save(void) {
  u64 flags = 0;
  __asm__ volatile("csrxchg %0, %1, %2" : "+r"(flags) : "r"(CRMD_INTERRUPT), "i"(CSR_CRMD) : "memory");
  return flags & CRMD_INTERRUPT;
}

ALWAYS_INLINE void arch_irq_restore(u64 flags) {
  __asm__ volatile("csrxchg %0, %1, %2" : "+r"(flags) : "r"(CRMD_INTERRUPT), "i"(CSR_CRMD) : "memory");
}

ALWAYS_INLINE void arch_irq_enable(void) { arch_irq_restore(CRMD_INTERRUPT); }
ALWAYS_INLINE void arch_cpu_relax(void) { __asm__ volatile("nop" : : : "memory"); }

// The virt machine's stable counter runs at 100 MHz; arch_init_boot asks it.
ALWAYS_INLINE u64 arch_clock_ns(void) {
  u64 ticks;
  __asm__ volatile("rdtime.d %0, $zero" : "=r"(ticks) : : "memory");
  return ticks * 10;
}

ALWAYS_INLINE u64 arch_user_syscall(u64 number, u64 arg) {
  register u64 a0 __asm__("a0") = arg;
  register u64 a7 __asm__("a7") = number;
  __asm__ volatile("syscall 0" : "+r"(a0) : "r"(a7) : "memory");
  return a0;
}
