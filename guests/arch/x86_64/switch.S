#include "arch_asm.inc"
#include "arch_defs.h"

.macro PUSH_CALLEE_SAVED
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
.endm

.macro POP_CALLEE_SAVED
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
.endm

// (u64 *save_sp, u64 load_sp); arch_new_stack writes the same layout.
FUNCTION arch_switch_stack
    PUSH_CALLEE_SAVED
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    POP_CALLEE_SAVED
    ret
END_FUNCTION arch_switch_stack

// Where a new stack starts: rbx = entry, and the word at rsp is 0, the return address that it finds. No frame above it.
FUNCTION new_stack_entry
    jmp *%rbx
END_FUNCTION new_stack_entry

// (u64 *save_sp, u64 entry, u64 user_sp, u64 arg), interrupts off.
FUNCTION arch_enter_user
    PUSH_CALLEE_SAVED
    movq %rsp, (%rdi)
    // The CPU aligns the stack of a trap by itself.
    movq %gs:CPU_TASK_STATE, %rax
    movq %rsp, TASK_STATE_RSP0(%rax)
    // The word above the user's first frame is its return address: 0, never written.
    subq $8, %rdx
    pushq $USER_DATA
    pushq %rdx
    pushq $0x202
    pushq $USER_CODE
    pushq %rsi
    movq %rcx, %rdi
    xorl %ebp, %ebp
    iretq
END_FUNCTION arch_enter_user

// (u64 kernel_sp, u64 value)
FUNCTION arch_leave_user
    movq %rdi, %rsp
    movq %rsi, %rax
    POP_CALLEE_SAVED
    ret
END_FUNCTION arch_leave_user
