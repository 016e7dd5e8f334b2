// The q35 machine's devices, for this folder.
#pragma once

#include "arch.h"

ALWAYS_INLINE void port_write_u8(u16 port, u8 value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory"); }
ALWAYS_INLINE void port_write_u16(u16 port, u16 value) {
  __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

ALWAYS_INLINE u8 port_read_u8(u16 port) {
  u8 value;
  __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
  return value;
}

// The local APIC's registers, at their offset.
#define APIC_BASE (DEVICES_OFFSET + 0xfee00000ul)
#define APIC_VERSION 0x30
#define APIC_TASK_PRIORITY 0x80
#define APIC_END_OF_INTERRUPT 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_COMMAND_LOW 0x300
#define APIC_COMMAND_HIGH 0x310
#define APIC_LOCAL_TIMER 0x320
#define APIC_LOCAL_PIN_0 0x350
#define APIC_LOCAL_PIN_1 0x360
#define APIC_TIMER_COUNT 0x380
#define APIC_TIMER_DIVIDER 0x3e0

ALWAYS_INLINE void apic_write(u32 offset, u32 value) { *(volatile u32*)(APIC_BASE + offset) = value; }

// clock.c: before the first arch_clock_ns().
void clock_init(void);

// descriptors.c: this CPU's segments, task state and trap vectors.
void descriptors_init(void);
void descriptors_load(struct cpu* cpu);
