#include "arch_asm.inc"
#include "arch_defs.h"

.macro FOR_CALLEE_SAVED instruction
    \instruction $fp, $sp, 0
    \instruction $ra, $sp, 8
    \instruction $s0, $sp, 16
    \instruction $s1, $sp, 24
    \instruction $s2, $sp, 32
    \instruction $s3, $sp, 40
    \instruction $s4, $sp, 48
    \instruction $s5, $sp, 56
    \instruction $s6, $sp, 64
    \instruction $s7, $sp, 72
    \instruction $s8, $sp, 80
.endm

// (u64 *save_sp, u64 load_sp); arch_new_stack writes the same layout.
FUNCTION arch_switch_stack
    addi.d $sp, $sp, -96
    FOR_CALLEE_SAVED st.d
    st.d $sp, $a0, 0
    move $sp, $a1
    FOR_CALLEE_SAVED ld.d
    addi.d $sp, $sp, 96
    ret
END_FUNCTION arch_switch_stack

// Where a new stack starts: s0 = entry. No frame above it.
FUNCTION new_stack_entry
    move $ra, $zero
    jr $s0
END_FUNCTION new_stack_entry

// (u64 *save_sp, u64 entry, u64 user_sp, u64 arg), interrupts off.
FUNCTION arch_enter_user
    addi.d $sp, $sp, -96
    FOR_CALLEE_SAVED st.d
    st.d $sp, $a0, 0
    st.d $sp, $r21, CPU_KERNEL_SP
    csrwr $a1, CSR_ERA
    li.w $t0, PRMD_USER_INTERRUPT
    csrwr $t0, CSR_PRMD
    move $sp, $a2
    move $a0, $a3
    move $ra, $zero
    move $fp, $zero
    ertn
END_FUNCTION arch_enter_user

// (u64 kernel_sp, u64 value)
FUNCTION arch_leave_user
    move $sp, $a0
    move $a0, $a1
    FOR_CALLEE_SAVED ld.d
    addi.d $sp, $sp, 96
    ret
END_FUNCTION arch_leave_user
