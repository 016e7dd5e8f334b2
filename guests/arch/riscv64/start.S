#include "arch_asm.inc"
#include "arch_defs.h"
#include "layout.h"

// satp for Sv39 with the given root table (a physical address, here while the MMU is off). Clobbers t0, t1.
.macro MAKE_SATP target, table
    la \target, \table
    srli \target, \target, 12
    li t0, 8 << 60
    or \target, \target, t0
.endm

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
// From the firmware, MMU off: a0 = hart id.
_start:
    csrw sie, zero
    csrw sstatus, zero
    mv s1, a0
    la t0, __bss_start
    la t1, __bss_end
1:  sd zero, 0(t0)
    addi t0, t0, 8
    bltu t0, t1, 1b
    la sp, boot_stack + BOOT_STACK_BYTES
    li s0, 0
    call build_page_tables
    li s2, KERNEL_OFFSET
    la a1, kernel_main
    add a1, a1, s2
    add sp, sp, s2
    mv a0, s1
    j enable_mmu
    .size _start, . - _start

    .globl secondary_start
    .type secondary_start, @function
// From the firmware, MMU off: a0 = hart id, a1 = struct cpu (a kernel address).
secondary_start:
    csrw sie, zero
    csrw sstatus, zero
    li s2, KERNEL_OFFSET
    mv a0, a1
    sub t0, a1, s2
    ld sp, CPU_START_SP(t0)
    la a1, secondary_main
    add a1, a1, s2
    j enable_mmu
    .size secondary_start, . - secondary_start

    .type enable_mmu, @function
// To a1 with a0, both kept; s2 = KERNEL_OFFSET. The start table maps these instructions at their physical addresses too.
enable_mmu:
    MAKE_SATP t2, start_root_table
    MAKE_SATP t3, root_table
    la t4, 1f
    add t4, t4, s2
    sfence.vma
    csrw satp, t2
    jr t4
1:  csrw satp, t3
    sfence.vma
    li s0, 0
    li ra, 0
    jr a1
    .size enable_mmu, . - enable_mmu
