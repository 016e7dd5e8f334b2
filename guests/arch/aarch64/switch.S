#include "arch_asm.inc"

.macro FOR_CALLEE_SAVED instruction
    \instruction x19, x20, [sp, #0]
    \instruction x21, x22, [sp, #16]
    \instruction x23, x24, [sp, #32]
    \instruction x25, x26, [sp, #48]
    \instruction x27, x28, [sp, #64]
    \instruction x29, x30, [sp, #80]
.endm

// (u64 *save_sp, u64 load_sp); arch_new_stack writes the same layout.
FUNCTION arch_switch_stack
    sub sp, sp, #96
    FOR_CALLEE_SAVED stp
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    FOR_CALLEE_SAVED ldp
    add sp, sp, #96
    ret
END_FUNCTION arch_switch_stack

// Where a new stack starts: x19 = entry. The record that ends the chain is below it.
FUNCTION new_stack_entry
    stp xzr, xzr, [sp, #-16]!
    mov x29, sp
    blr x19
    udf #0
END_FUNCTION new_stack_entry

// (u64 *save_sp, u64 entry, u64 user_sp, u64 arg), interrupts off. The CPU keeps this stack pointer for the trap back.
FUNCTION arch_enter_user
    sub sp, sp, #96
    FOR_CALLEE_SAVED stp
    mov x4, sp
    str x4, [x0]
    msr elr_el1, x1
    msr sp_el0, x2
    msr spsr_el1, xzr
    mov x0, x3
    mov x29, xzr
    mov x30, xzr
    eret
END_FUNCTION arch_enter_user

// (u64 kernel_sp, u64 value)
FUNCTION arch_leave_user
    mov sp, x0
    mov x0, x1
    FOR_CALLEE_SAVED ldp
    add sp, sp, #96
    ret
END_FUNCTION arch_leave_user
