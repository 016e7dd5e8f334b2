#pragma once

#define HPET_BASE (DEVICES_OFFSET + 0xfed00000ul)
#define HPET_COUNTER_LOW 0xf0
#define HPET_COUNTER_HIGH 0xf4

#define RFLAGS_INTERRUPT 0x200ul

// Set by clock.c: how the clock is read, and the factor to nanoseconds in units of 2^-32.
extern bool clock_from_hpet;
extern u64 clock_tsc_start;
extern u64 clock_tsc_factor;
extern u64 clock_hpet_factor;

ALWAYS_INLINE struct cpu* arch_this_cpu(void) {
  struct cpu* cpu;
  __asm__ volatile("movq %%gs:0, %0" : "=r"(cpu));
  return cpu;
}

ALWAYS_INLINE u64 arch_irq_save(void) {
  u64 flags;
  __asm__ volatile("pushfq\n popq %0\n cli" : "=r"(flags) : : "memory");
  return flags & RFLAGS_INTERRUPT;
}

ALWAYS_INLINE void arch_irq_enable(void) { __asm__ volatile("sti" : : : "memory"); }

ALWAYS_INLINE void arch_irq_restore(u64 flags) {
  if (flags) arch_irq_enable();
}

ALWAYS_INLINE void arch_cpu_relax(void) { __asm__ volatile("pause" : : : "memory"); }

ALWAYS_INLINE u64 clock_read_tsc(void) {
  u32 low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return (u64)high << 32 | low;
}

ALWAYS_INLINE u64 clock_read_hpet(void) {
  // Two halves: QEMU before 9.2 splits a 64-bit read itself, and the low half may wrap in between.
  volatile u32* low = (volatile u32*)(HPET_BASE + HPET_COUNTER_LOW);
  volatile u32* high = (volatile u32*)(HPET_BASE + HPET_COUNTER_HIGH);
  for (;;) {
    const u32 before = *high;
    const u32 value = *low;
    if (*high == before) return (u64)before << 32 | value;
  }
}

ALWAYS_INLINE u64 clock_scale(u64 ticks, u64 factor) { return (u64)((unsigned __int128)ticks * factor >> 32); }

ALWAYS_INLINE u64 arch_clock_ns(void) {
  if (clock_from_hpet) return clock_scale(clock_read_hpet(), clock_hpet_factor);
  return clock_scale(clock_read_tsc() - clock_tsc_start, clock_tsc_factor);
}

ALWAYS_INLINE u64 arch_user_syscall(u64 number, u64 arg) {
  __asm__ volatile("int $0x80" : "+a"(number) : "D"(arg) : "memory");
  return number;
}
