#include "arch_asm.inc"
#include "arch_defs.h"
#include "layout.h"

// Normal memory, write-back, as attribute 0; device memory as attribute 1.
#define MAIR_VALUE 0x00ff
// 48-bit addresses both halves, 4 KiB pages, cached inner shareable walks, 36-bit physical addresses.
#define TCR_VALUE 0x1b5103510
#define SCTLR_MMU_AND_CACHES 0x1005
#define SCTLR_SIGN_WITH_KEY_A (1 << 31)

.macro LOAD_ADDRESS register, symbol
    adrp \register, \symbol
    add \register, \register, :lo12:\symbol
.endm

    .section .text.start, "ax"
    .globl _start
    .type _start, %function
// From QEMU, MMU off, EL1.
_start:
    msr daifset, #15
    LOAD_ADDRESS x0, __bss_start
    LOAD_ADDRESS x1, __bss_end
1:  str xzr, [x0], #8
    cmp x0, x1
    b.lo 1b
    LOAD_ADDRESS x0, boot_stack + BOOT_STACK_BYTES
    mov sp, x0
    mov x29, xzr
    bl build_page_tables
    ldr x20, =KERNEL_OFFSET
    mov x0, sp
    add x0, x0, x20
    mov sp, x0
    LOAD_ADDRESS x1, kernel_main
    mrs x0, mpidr_el1
    and x0, x0, #0xff
    b enable_mmu
    .size _start, . - _start

    .globl secondary_start
    .type secondary_start, %function
// From PSCI, MMU off: x0 = struct cpu (a kernel address).
secondary_start:
    msr daifset, #15
    ldr x20, =KERNEL_OFFSET
    sub x1, x0, x20
    ldr x2, [x1, #CPU_START_SP]
    mov sp, x2
    LOAD_ADDRESS x1, secondary_main
    b enable_mmu
    .size secondary_start, . - secondary_start

    .type enable_mmu, %function
// To the function whose physical address is in x1 with x0; x20 = KERNEL_OFFSET, sp is a kernel address already. The start
// table maps these instructions at their physical addresses.
enable_mmu:
    mov x2, #MAIR_VALUE
    msr mair_el1, x2
    ldr x2, =TCR_VALUE
    msr tcr_el1, x2
    LOAD_ADDRESS x2, start_root_table
    msr ttbr0_el1, x2
    LOAD_ADDRESS x2, kernel_root_table
    msr ttbr1_el1, x2
    LOAD_ADDRESS x4, user_root_table
    add x1, x1, x20
    LOAD_ADDRESS x3, 1f
    add x3, x3, x20
    tlbi vmalle1
    dsb ish
    isb
    mrs x2, sctlr_el1
    mov x5, #SCTLR_MMU_AND_CACHES
    orr x2, x2, x5
    msr sctlr_el1, x2
    isb
    br x3
1:  msr ttbr0_el1, x4
    isb
    tlbi vmalle1
    dsb ish
    isb
    // Where the CPU has pointer authentication, return addresses are signed from here on, with one key for all.
    mrs x3, id_aa64isar1_el1
    tst x3, #0xff0
    b.eq 2f
    ldr x3, =0x243f6a8885a308d3
    msr S3_0_C2_C1_0, x3
    msr S3_0_C2_C1_1, x3
    orr x2, x2, #SCTLR_SIGN_WITH_KEY_A
    msr sctlr_el1, x2
    isb
2:  stp xzr, xzr, [sp, #-16]!
    mov x29, sp
    blr x1
    .size enable_mmu, . - enable_mmu
    .ltorg
