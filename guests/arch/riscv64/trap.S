#include "arch_asm.inc"
#include "arch_defs.h"

.macro FOR_SAVED_REGISTERS instruction
    \instruction x1, 8(sp)
    .irp n, 5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \instruction x\n, 8*\n(sp)
    .endr
.endm

// sscratch is 0 in the kernel and this CPU's struct in user mode.
    .text
    .balign 4
FUNCTION trap_entry
    csrrw tp, sscratch, tp
    bnez tp, from_user
    csrr tp, sscratch
    csrw sscratch, zero
    addi sp, sp, -TRAP_BYTES
    FOR_SAVED_REGISTERS sd
    csrr t0, sepc
    sd s0, TRAP_RECORD(sp)
    sd t0, TRAP_RECORD+8(sp)
    addi s0, sp, TRAP_BYTES
    csrr t1, sstatus
    sd t0, TRAP_PC(sp)
    sd t1, TRAP_STATUS(sp)
    mv a0, sp
    li a1, 0
    call arch_trap
    ld t0, TRAP_PC(sp)
    ld t1, TRAP_STATUS(sp)
    csrw sepc, t0
    csrw sstatus, t1
    FOR_SAVED_REGISTERS ld
    addi sp, sp, TRAP_BYTES
    sret

from_user:
    sd sp, CPU_USER_SP(tp)
    ld sp, CPU_KERNEL_SP(tp)
    addi sp, sp, -TRAP_BYTES
    FOR_SAVED_REGISTERS sd
    ld t0, CPU_USER_SP(tp)
    sd t0, 8*2(sp)
    csrr t0, sscratch
    sd t0, 8*4(sp)
    csrw sscratch, zero
    sd zero, TRAP_RECORD(sp)
    sd zero, TRAP_RECORD+8(sp)
    addi s0, sp, TRAP_BYTES
    csrr t0, sepc
    csrr t1, sstatus
    sd t0, TRAP_PC(sp)
    sd t1, TRAP_STATUS(sp)
    mv a0, sp
    li a1, 1
    call arch_trap
    ld t0, TRAP_PC(sp)
    ld t1, TRAP_STATUS(sp)
    csrw sepc, t0
    csrw sstatus, t1
    addi t0, sp, TRAP_BYTES
    sd t0, CPU_KERNEL_SP(tp)
    csrw sscratch, tp
    FOR_SAVED_REGISTERS ld
    ld tp, 8*4(sp)
    ld sp, 8*2(sp)
    sret
END_FUNCTION trap_entry
