#pragma once

#define ARCH_NAME "aarch64"

#define ARCH_FRAME_SAVED_FP 0
#define ARCH_FRAME_RETURN 8

#define ARCH_LOOP_INSNS 8
#define ARCH_COUNTED_FIXED_INSNS 4
#define ARCH_LEAF_FIXED_INSNS 1
#define ARCH_HOSTILE_FIXED_INSNS 5

// The virt machine's RAM begins at 1 GiB and its first 2 MiB may hold the device tree. Physical address p is linked and seen
// at p + KERNEL_OFFSET, devices (the first GiB) too.
#define KERNEL_PHYSICAL 0x40200000
#define KERNEL_OFFSET 0xffff000000000000

// Offset into struct cpu's arch_words.
#define CPU_START_SP 0

// The trap frame: x0..x30, these, then the frame record that the frame pointer's chain goes through.
#define TRAP_USER_SP 248
#define TRAP_PC 256
#define TRAP_STATUS 264
#define TRAP_RECORD 272
#define TRAP_BYTES 288
