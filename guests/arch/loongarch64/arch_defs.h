#pragma once

#define ARCH_NAME "loongarch64"

#define ARCH_FRAME_SAVED_FP (-16)
#define ARCH_FRAME_RETURN (-8)

#define ARCH_LOOP_INSNS 8
#define ARCH_COUNTED_FIXED_INSNS 8
#define ARCH_LEAF_FIXED_INSNS 1
#define ARCH_HOSTILE_FIXED_INSNS 9

// The hostile stacks are out of reach of the code model that serves everything else.
#define ARCH_FAR model("extreme")

// Direct mapped windows: physical memory cached, and the devices uncached.
#define KERNEL_OFFSET 0x9000000000000000
#define DEVICES_OFFSET 0x8000000000000000
#define KERNEL_WINDOW 0x9000000000000011
#define DEVICES_WINDOW 0x8000000000000001

// In a window every address is mapped. So the hostile stacks stand at the end of a large page of their own that the TLB maps,
// the even half of a pair whose odd half is not valid; kernel.ld has the same number.
#define HOSTILE_PAGE_VA 0xffffffff80000000
#define HOSTILE_PAGE_BITS 21

#define CSR_CRMD 0x0
#define CSR_PRMD 0x1
#define CSR_ECFG 0x4
#define CSR_ESTAT 0x5
#define CSR_ERA 0x6
#define CSR_BADV 0x7
#define CSR_EENTRY 0xc
#define CSR_TLBIDX 0x10
#define CSR_TLBEHI 0x11
#define CSR_TLBELO0 0x12
#define CSR_TLBELO1 0x13
#define CSR_ASID 0x18
#define CSR_STLBPS 0x1e
#define CSR_CPUID 0x20
// Free for the kernel: a register's keep in trap entry, and this CPU's struct.
#define CSR_SAVE_REGISTER 0x30
#define CSR_SAVE_CPU 0x31
#define CSR_TCFG 0x41
#define CSR_TICLR 0x44
#define CSR_TLBRENTRY 0x88
#define CSR_TLBRBADV 0x89
#define CSR_TLBRERA 0x8a
#define CSR_TLBRPRMD 0x8f
#define CSR_DMW0 0x180
#define CSR_DMW1 0x181
#define CSR_DMW2 0x182
#define CSR_DMW3 0x183

#define CRMD_INTERRUPT 0x4
#define CRMD_PAGING 0x10
#define PRMD_USER 0x3
#define PRMD_USER_INTERRUPT 0x7

// The second mailbox of a CPU; the first takes where it starts.
#define IOCSR_MAILBOX_1 0x1028

// Offsets into struct cpu's arch_words.
#define CPU_KERNEL_SP 0
#define CPU_USER_SP 8
#define CPU_USER_R21 16
#define CPU_START_SP 24
#define CPU_DEADLINE 32

// The trap frame: 31 registers at 8 * number, then these, then the frame record that the frame pointer's chain goes through.
#define TRAP_PC 0
#define TRAP_STATUS 256
#define TRAP_RECORD 272
#define TRAP_BYTES 288
