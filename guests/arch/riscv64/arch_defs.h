#pragma once

#define ARCH_NAME "riscv64"

#define ARCH_FRAME_SAVED_FP (-16)
#define ARCH_FRAME_RETURN (-8)

#define ARCH_LOOP_INSNS 8
#define ARCH_COUNTED_FIXED_INSNS 8
#define ARCH_LEAF_FIXED_INSNS 1
#define ARCH_HOSTILE_FIXED_INSNS 9

// Linked in the top 2 GiB (the medany code model reaches everything from there), loaded where the firmware hands over.
#define KERNEL_PHYSICAL 0x80200000
#define KERNEL_OFFSET 0xffffffff00000000
// The first GiB of physical addresses, where the devices are, seen through one page of the root table.
#define DEVICES_VA 0xffffffc000000000

#define ARCH_VIRTIO_SLOTS 8

// Offsets into struct cpu's arch_words.
#define CPU_KERNEL_SP 0
#define CPU_USER_SP 8
#define CPU_START_SP 16

// The trap frame: 31 registers at 8 * number, then these, then the frame record that the frame pointer's chain goes through.
#define TRAP_PC 0
#define TRAP_STATUS 256
#define TRAP_RECORD 272
#define TRAP_BYTES 288
