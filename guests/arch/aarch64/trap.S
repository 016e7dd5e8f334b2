#include "arch_asm.inc"
#include "arch_defs.h"

.macro FOR_SAVED_PAIRS instruction
    \instruction x2, x3, [sp, #16]
    \instruction x4, x5, [sp, #32]
    \instruction x6, x7, [sp, #48]
    \instruction x8, x9, [sp, #64]
    \instruction x10, x11, [sp, #80]
    \instruction x12, x13, [sp, #96]
    \instruction x14, x15, [sp, #112]
    \instruction x16, x17, [sp, #128]
    \instruction x18, x19, [sp, #144]
    \instruction x20, x21, [sp, #160]
    \instruction x22, x23, [sp, #176]
    \instruction x24, x25, [sp, #192]
    \instruction x26, x27, [sp, #208]
    \instruction x28, x29, [sp, #224]
.endm

.macro VECTOR kind, target
    .balign 128
    sub sp, sp, #TRAP_BYTES
    stp x0, x1, [sp]
    mov x1, #\kind
    b \target
.endm

.macro UNUSED_VECTORS kind
    .rept 4
    VECTOR \kind, trap_from_kernel
    .endr
.endm

// Kinds: 0 synchronous, 1 interrupt, 2 anything else.
    .text
    .balign 2048
    .globl trap_vectors
    .type trap_vectors, %function
trap_vectors:
    UNUSED_VECTORS 2
    VECTOR 0, trap_from_kernel
    VECTOR 1, trap_from_kernel
    VECTOR 2, trap_from_kernel
    VECTOR 2, trap_from_kernel
    VECTOR 0, trap_from_user
    VECTOR 1, trap_from_user
    VECTOR 2, trap_from_user
    VECTOR 2, trap_from_user
    UNUSED_VECTORS 2
END_FUNCTION trap_vectors

.macro SAVE_REST
    FOR_SAVED_PAIRS stp
    mrs x2, sp_el0
    mrs x3, elr_el1
    mrs x4, spsr_el1
    stp x30, x2, [sp, #240]
    stp x3, x4, [sp, #TRAP_PC]
.endm

.macro RESTORE_AND_RETURN
    ldp x3, x4, [sp, #TRAP_PC]
    ldp x30, x2, [sp, #240]
    msr sp_el0, x2
    msr elr_el1, x3
    msr spsr_el1, x4
    FOR_SAVED_PAIRS ldp
    ldp x0, x1, [sp]
    add sp, sp, #TRAP_BYTES
    eret
.endm

FUNCTION trap_from_kernel
    SAVE_REST
    stp x29, x3, [sp, #TRAP_RECORD]
    add x29, sp, #TRAP_RECORD
    mov x0, sp
    mov w2, #0
    bl arch_trap
    RESTORE_AND_RETURN
END_FUNCTION trap_from_kernel

FUNCTION trap_from_user
    SAVE_REST
    stp xzr, xzr, [sp, #TRAP_RECORD]
    add x29, sp, #TRAP_RECORD
    mov x0, sp
    mov w2, #1
    bl arch_trap
    RESTORE_AND_RETURN
END_FUNCTION trap_from_user
