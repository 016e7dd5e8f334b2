// The functions whose executed instructions are known exactly, in the architecture's own terms.
#include "arch_asm.inc"

COUNTED_FUNCTION share_10
COUNTED_FUNCTION share_20
COUNTED_FUNCTION share_30
COUNTED_FUNCTION share_40
COUNTED_FUNCTION recurse_bottom
LEAF_FUNCTION leaf_without_frame
HOSTILE_FUNCTION hostile_cycle
HOSTILE_FUNCTION hostile_unaligned
HOSTILE_FUNCTION hostile_mmio
HOSTILE_FUNCTION hostile_unmapped

    .section .rodata
    .balign 8
    .globl user_program_address
    .type user_program_address, %object
    .size user_program_address, 8
user_program_address:
    .quad user_program
