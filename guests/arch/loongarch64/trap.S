#include "arch_asm.inc"
#include "arch_defs.h"

// All but sp and r21.
.macro FOR_SAVED_REGISTERS instruction
    .irp n, 1,2,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,22,23,24,25,26,27,28,29,30,31
    \instruction $r\n, $sp, 8*\n
    .endr
.endm

// With the frame's record written: pc and status, then arch_trap(frame, \from_user), then back as far as the registers.
.macro HANDLE_TRAP from_user
    csrrd $t0, CSR_ERA
    csrrd $t1, CSR_PRMD
    st.d $t0, $sp, TRAP_PC
    st.d $t1, $sp, TRAP_STATUS
    addi.d $fp, $sp, TRAP_BYTES
    move $a0, $sp
    li.w $a1, \from_user
    bl arch_trap
    ld.d $t0, $sp, TRAP_PC
    ld.d $t1, $sp, TRAP_STATUS
    csrwr $t0, CSR_ERA
    csrwr $t1, CSR_PRMD
.endm

    .text
    .balign 4096
FUNCTION trap_entry
    csrwr $t0, CSR_SAVE_REGISTER
    csrrd $t0, CSR_PRMD
    andi $t0, $t0, PRMD_USER
    bnez $t0, from_user
    csrrd $t0, CSR_SAVE_REGISTER
    addi.d $sp, $sp, -TRAP_BYTES
    FOR_SAVED_REGISTERS st.d
    csrrd $t0, CSR_ERA
    st.d $fp, $sp, TRAP_RECORD
    st.d $t0, $sp, TRAP_RECORD+8
    HANDLE_TRAP 0
    FOR_SAVED_REGISTERS ld.d
    addi.d $sp, $sp, TRAP_BYTES
    ertn

from_user:
    csrrd $t0, CSR_SAVE_CPU
    st.d $r21, $t0, CPU_USER_R21
    move $r21, $t0
    st.d $sp, $r21, CPU_USER_SP
    ld.d $sp, $r21, CPU_KERNEL_SP
    csrrd $t0, CSR_SAVE_REGISTER
    addi.d $sp, $sp, -TRAP_BYTES
    FOR_SAVED_REGISTERS st.d
    ld.d $t0, $r21, CPU_USER_SP
    ld.d $t1, $r21, CPU_USER_R21
    st.d $t0, $sp, 8*3
    st.d $t1, $sp, 8*21
    st.d $zero, $sp, TRAP_RECORD
    st.d $zero, $sp, TRAP_RECORD+8
    HANDLE_TRAP 1
    // Another task may have been in user mode on this CPU since.
    addi.d $t0, $sp, TRAP_BYTES
    st.d $t0, $r21, CPU_KERNEL_SP
    FOR_SAVED_REGISTERS ld.d
    ld.d $r21, $sp, 8*21
    ld.d $sp, $sp, 8*3
    ertn
END_FUNCTION trap_entry

// An address that neither a window nor the TLB maps. In direct address mode: on to the final addresses by way of a return.
    .text
    .balign 4096
FUNCTION refill_trap_vector
    csrrd $a0, CSR_TLBRBADV
    csrrd $a1, CSR_TLBRERA
    bstrins.d $a1, $zero, 1, 0
    la.pcrel $t0, 1f
    li.d $t1, KERNEL_OFFSET + 1
    or $t0, $t0, $t1
    csrwr $t0, CSR_TLBRERA
    move $t0, $zero
    csrwr $t0, CSR_TLBRPRMD
    ertn
1:  csrrd $r21, CSR_SAVE_CPU
    la.pcrel $sp, refill_stack_end
    move $fp, $zero
    move $ra, $zero
    b arch_refill_trap
END_FUNCTION refill_trap_vector

    .bss
    .balign 16
refill_stack:
    .space 4096
refill_stack_end:
