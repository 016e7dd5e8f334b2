#include "arch_asm.inc"
#include "arch_defs.h"
#include "layout.h"

// From direct address mode at a physical address to the final address of what follows. Clobbers t0, t1.
.macro ENABLE_MMU
    li.d $t0, KERNEL_WINDOW
    csrwr $t0, CSR_DMW0
    li.d $t0, DEVICES_WINDOW
    csrwr $t0, CSR_DMW1
    move $t0, $zero
    csrwr $t0, CSR_DMW2
    move $t0, $zero
    csrwr $t0, CSR_DMW3
    // Direct addressing ignores the upper bits: the jump comes first.
    la.pcrel $t0, 1f
    li.d $t1, KERNEL_OFFSET
    or $t0, $t0, $t1
    jr $t0
1:  li.w $t0, CRMD_PAGING
    csrwr $t0, CSR_CRMD
.endm

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
// From QEMU's boot code on the boot CPU, direct addressing, interrupts off.
_start:
    ENABLE_MMU
    la.pcrel $t0, __bss_start
    la.pcrel $t1, __bss_end
2:  st.d $zero, $t0, 0
    addi.d $t0, $t0, 8
    bltu $t0, $t1, 2b
    la.pcrel $sp, boot_stack
    li.w $t0, BOOT_STACK_BYTES
    add.d $sp, $sp, $t0
    csrrd $a0, CSR_CPUID
    bstrpick.d $a0, $a0, 8, 0
    la.pcrel $t0, kernel_main
    move $fp, $zero
    move $ra, $zero
    jr $t0
    .size _start, . - _start

    .globl secondary_start
    .type secondary_start, @function
// The same on another CPU; its struct is in the second mailbox.
secondary_start:
    ENABLE_MMU
    li.w $t0, IOCSR_MAILBOX_1
    iocsrrd.d $a0, $t0
    ld.d $sp, $a0, CPU_START_SP
    st.d $zero, $a0, CPU_START_SP
    la.pcrel $t0, secondary_main
    move $fp, $zero
    move $ra, $zero
    jr $t0
    .size secondary_start, . - secondary_start
