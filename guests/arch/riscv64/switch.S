#include "arch_asm.inc"
#include "arch_defs.h"

.macro FOR_CALLEE_SAVED instruction
    \instruction s0, 0(sp)
    \instruction ra, 8(sp)
    \instruction s1, 16(sp)
    \instruction s2, 24(sp)
    \instruction s3, 32(sp)
    \instruction s4, 40(sp)
    \instruction s5, 48(sp)
    \instruction s6, 56(sp)
    \instruction s7, 64(sp)
    \instruction s8, 72(sp)
    \instruction s9, 80(sp)
    \instruction s10, 88(sp)
    \instruction s11, 96(sp)
.endm

// (u64 *save_sp, u64 load_sp); arch_new_stack writes the same layout.
FUNCTION arch_switch_stack
    addi sp, sp, -112
    FOR_CALLEE_SAVED sd
    sd sp, 0(a0)
    mv sp, a1
    FOR_CALLEE_SAVED ld
    addi sp, sp, 112
    ret
END_FUNCTION arch_switch_stack

// Where a new stack starts: s1 = entry. No frame above it.
FUNCTION new_stack_entry
    li ra, 0
    jr s1
END_FUNCTION new_stack_entry

// (u64 *save_sp, u64 entry, u64 user_sp, u64 arg), interrupts off.
FUNCTION arch_enter_user
    addi sp, sp, -112
    FOR_CALLEE_SAVED sd
    sd sp, 0(a0)
    sd sp, CPU_KERNEL_SP(tp)
    csrw sepc, a1
    // Previous privilege user, previous interrupt enable on.
    li t0, 0x100
    csrc sstatus, t0
    li t0, 0x20
    csrs sstatus, t0
    csrw sscratch, tp
    mv sp, a2
    mv a0, a3
    li ra, 0
    li s0, 0
    sret
END_FUNCTION arch_enter_user

// (u64 kernel_sp, u64 value)
FUNCTION arch_leave_user
    mv sp, a0
    mv a0, a1
    FOR_CALLEE_SAVED ld
    addi sp, sp, 112
    ret
END_FUNCTION arch_leave_user
