#include "arch_asm.inc"
#include "arch_defs.h"

// One stub of 16 bytes per vector: what it pushes on the CPU's frame makes all frames alike.
FUNCTION trap_stubs
    .set .Lvector, 0
    .rept 256
    .balign 16
    .if .Lvector == 8 || (.Lvector >= 10 && .Lvector <= 14) || .Lvector == 17 || .Lvector == 21 || .Lvector == 29 || .Lvector == 30
    .else
    pushq $0
    .endif
    pushq $.Lvector
    jmp trap_entry
    .set .Lvector, .Lvector + 1
    .endr
END_FUNCTION trap_stubs

FUNCTION trap_entry
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rbx
    pushq %rbp
    pushq %rsi
    pushq %rdi
    .irp n, 8,9,10,11,12,13,14,15
    pushq %r\n
    .endr
    cld
    testb $3, TRAP_CODE_SEGMENT-TRAP_REGISTERS(%rsp)
    jnz from_user
    pushq TRAP_PC-TRAP_REGISTERS(%rsp)
    pushq %rbp
    movq %rsp, %rbp
    movq %rsp, %rdi
    xorl %esi, %esi
    call arch_trap
1:
    addq $TRAP_REGISTERS, %rsp
    .irp n, 15,14,13,12,11,10,9,8
    popq %r\n
    .endr
    popq %rdi
    popq %rsi
    popq %rbp
    popq %rbx
    popq %rdx
    popq %rcx
    popq %rax
    addq $16, %rsp
    iretq

from_user:
    pushq $0
    pushq $0
    movq %rsp, %rbp
    movq %rsp, %rdi
    movl $1, %esi
    call arch_trap
    // Another task may have been in user mode on this CPU since.
    leaq TRAP_BYTES(%rsp), %rax
    movq %gs:CPU_TASK_STATE, %rdx
    movq %rax, TASK_STATE_RSP0(%rdx)
    jmp 1b
END_FUNCTION trap_entry
