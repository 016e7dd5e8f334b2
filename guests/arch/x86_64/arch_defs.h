#pragma once

#define ARCH_NAME "x86_64"

#define ARCH_FRAME_SAVED_FP 0
#define ARCH_FRAME_RETURN 8

#define ARCH_LOOP_INSNS 8
#define ARCH_COUNTED_FIXED_INSNS 4
#define ARCH_LEAF_FIXED_INSNS 1
#define ARCH_HOSTILE_FIXED_INSNS 5

// Linked in the top 2 GiB, as the kernel code model wants it; physical memory from 0 on is seen there up to the image's end.
#define KERNEL_OFFSET 0xffffffff80000000
// The devices below 4 GiB are seen in the last GiB.
#define DEVICES_OFFSET 0xffffffff00000000

// Where a started CPU runs its first, 16-bit instructions: a page below 1 MiB, whose number is the vector of the start-up IPI.
#define TRAMPOLINE_PHYSICAL 0x8000

// Segment selectors, the same in the start table and in each CPU's own.
#define KERNEL_CODE 0x08
#define KERNEL_DATA 0x10
#define KERNEL_CODE_32 0x18
#define USER_DATA 0x23
#define USER_CODE 0x2b
#define TASK_STATE 0x30

// Offsets into struct cpu's arch_words. The first is the struct's own address: what %gs:0 reads.
#define CPU_SELF 0
#define CPU_TASK_STATE 8
#define CPU_START_SP 16
#define CPU_DEADLINE 24

// In the task state segment: the stack pointer for traps from user mode.
#define TASK_STATE_RSP0 4

// The trap frame: the frame record that the frame pointer's chain goes through, 15 registers, vector and error code, and what
// the CPU pushes.
#define TRAP_REGISTERS 16
#define TRAP_VECTOR 136
#define TRAP_PC 152
#define TRAP_CODE_SEGMENT 160
#define TRAP_BYTES 192

#define VECTOR_TIMER 0x20
#define VECTOR_IPI 0x21
#define VECTOR_SYSCALL 0x80
#define VECTOR_SPURIOUS 0xff
