// Segments, task state and trap vectors.
#include "kernel.h"
#include "platform.h"

#define INTERRUPT_GATE 0x8e00
#define GATE_FOR_USER 0x6000
#define TASK_STATE_TYPE 0x89
#define MSR_GS_BASE 0xc0000101u

#define SEGMENTS 8
#define VECTORS 256
#define STUB_BYTES 16

struct task_state_segment {
  u32 reserved;
  u64 rsp0;
  u8 unused[90];
  u16 io_map_offset;
} __attribute__((packed));

struct gate {
  u64 low;
  u64 high;
};

struct table_pointer {
  u16 limit;
  u64 base;
} __attribute__((packed));

_Static_assert(offsetof(struct task_state_segment, rsp0) == TASK_STATE_RSP0, "arch_defs.h says where");
_Static_assert(sizeof(struct task_state_segment) == 104, "fixed by the CPU");

extern const u64 start_segments[];
extern u8 trap_stubs[];
void load_segments(const struct table_pointer* segments);

static u64 segments[MAX_CPUS][SEGMENTS];
static struct task_state_segment task_states[MAX_CPUS];
static struct gate gates[VECTORS];

void descriptors_init(void) {
  for (u64 vector = 0; vector < VECTORS; vector++) {
    const u64 stub = (u64)trap_stubs + STUB_BYTES * vector;
    const u64 type = vector == VECTOR_SYSCALL ? INTERRUPT_GATE | GATE_FOR_USER : INTERRUPT_GATE;
    gates[vector].low = (stub & 0xffff) | KERNEL_CODE << 16 | type << 32 | (stub >> 16 & 0xffff) << 48;
    gates[vector].high = stub >> 32;
  }
}

void descriptors_load(struct cpu* cpu) {
  u64* own = segments[cpu->number];
  struct task_state_segment* state = &task_states[cpu->number];
  for (u32 i = 0; i < TASK_STATE / 8; i++) own[i] = start_segments[i];
  const u64 base = (u64)state;
  own[TASK_STATE / 8] = (sizeof *state - 1) | (base & 0xffffff) << 16 | (u64)TASK_STATE_TYPE << 40 | (base >> 24 & 0xff) << 56;
  own[TASK_STATE / 8 + 1] = base >> 32;
  state->io_map_offset = sizeof *state;
  cpu->arch_words[CPU_SELF / 8] = (u64)cpu;
  cpu->arch_words[CPU_TASK_STATE / 8] = base;

  load_segments(&(struct table_pointer){sizeof segments[0] - 1, (u64)own});
  const struct table_pointer vectors = {sizeof gates - 1, (u64)gates};
  __asm__ volatile("lidt %0\n ltr %w1" : : "m"(vectors), "r"(TASK_STATE) : "memory");
  // Nobody swaps it: user mode can change neither this register nor the (null) selector's base.
  __asm__ volatile("wrmsr" : : "c"(MSR_GS_BASE), "a"((u32)(u64)cpu), "d"((u32)((u64)cpu >> 32)) : "memory");
}
