// Call instructions and others that look like them. `call_N` stands right after a call, `other_N` after something else.
// `link_N`: the return address is still in the link register (x86_64: at [rsp]); `saved_N`: it is in the frame.
    .cfi_sections FRAME_SECTION
    .text
    .globl calls
    .type calls, @function
calls:
    .cfi_startproc
#if defined(__riscv)
    .option push
    .option norvc
    .option norelax
    jal ra, calls
    .globl call_0
call_0:
    jalr ra, 8(t0)
    .globl call_1
call_1:
    .option rvc
    c.jalr t1
    .globl call_2
call_2:
    .option norvc
    jal zero, calls
    .globl other_0
other_0:
    jalr zero, 0(t0)
    .globl other_1
other_1:
    jal t0, calls
    .globl other_2
other_2:
    .option rvc
    c.jr t0
    .globl other_3
other_3:
    c.ebreak
    .globl other_4
other_4:
    .option pop
#elif defined(__loongarch__)
    bl calls
    .globl call_0
call_0:
    jirl $ra, $t0, 8
    .globl call_1
call_1:
    b calls
    .globl other_0
other_0:
    jirl $zero, $ra, 0
    .globl other_1
other_1:
    beq $a0, $a1, calls
    .globl other_2
other_2:
#elif defined(__aarch64__)
    .arch_extension pauth
    bl calls
    .globl call_0
call_0:
    blr x1
    .globl call_1
call_1:
    blraaz x1
    .globl call_2
call_2:
    blrab x1, x2
    .globl call_3
call_3:
    b calls
    .globl other_0
other_0:
    br x1
    .globl other_1
other_1:
    retaa
    .globl other_2
other_2:
    braa x1, x2
    .globl other_3
other_3:
#else
    call calls
    .globl call_0
call_0:
    call *%rax
    .globl call_1
call_1:
    call *%r11
    .globl call_2
call_2:
    call *8(%rax)
    .globl call_3
call_3:
    call *0x1000(%r12)
    .globl call_4
call_4:
    call *calls(%rip)
    .globl call_5
call_5:
    call *(%rax,%rbx,8)
    .globl call_6
call_6:
    jmp *%rax
    .globl other_0
other_0:
    push %rbp
    .globl other_1
other_1:
    push 8(%rax)
    .globl other_2
other_2:
    nop
    nop
    nop
    .globl other_3
other_3:
#endif
    .cfi_endproc
    .size calls, . - calls

    .globl framed
    .type framed, @function
framed:
    .cfi_startproc
    .globl link_0
link_0:
#if defined(__riscv)
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    .globl link_1
link_1:
    sd ra, 8(sp)
    .cfi_offset ra, -8
    .globl saved_0
saved_0:
    nop
    ld ra, 8(sp)
    .cfi_restore ra
    .globl link_2
link_2:
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
#elif defined(__loongarch__)
    addi.d $sp, $sp, -16
    .cfi_def_cfa_offset 16
    .globl link_1
link_1:
    st.d $ra, $sp, 8
    .cfi_offset 1, -8
    .globl saved_0
saved_0:
    nop
    ld.d $ra, $sp, 8
    .cfi_restore 1
    .globl link_2
link_2:
    addi.d $sp, $sp, 16
    .cfi_def_cfa_offset 0
    ret
#elif defined(__aarch64__)
    paciasp
    .cfi_negate_ra_state
    .globl link_1
link_1:
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 30, -8
    .cfi_offset 29, -16
    .globl saved_0
saved_0:
    nop
    ldp x29, x30, [sp], #16
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    .globl link_2
link_2:
    autiasp
    .cfi_negate_ra_state
    ret
#else
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    .globl saved_0
saved_0:
    mov %rsp, %rbp
    .cfi_def_cfa_register rbp
    .globl saved_1
saved_1:
    pop %rbp
    .cfi_def_cfa rsp, 8
    .globl link_1
link_1:
    ret
#endif
    .cfi_endproc
    .size framed, . - framed

    // No call frame information from here on.
    .globl direct
    .type direct, @function
    .globl far_away
    .set far_away, direct + 0x6000000
direct:
#if defined(__riscv)
    .option push
    .option norelax
    call bare
    .globl after_forward
after_forward:
    call calls
    .globl after_backward
after_backward:
    call far_away
    .option pop
#elif defined(__loongarch__)
    call36 bare
    .globl after_forward
after_forward:
    call36 calls
    .globl after_backward
after_backward:
    bl far_away
#elif defined(__aarch64__)
    bl bare
    .globl after_forward
after_forward:
    bl calls
    .globl after_backward
after_backward:
    bl far_away
#else
    call bare
    .globl after_forward
after_forward:
    call calls
    .globl after_backward
after_backward:
    call far_away
#endif
    .globl after_far
after_far:
    nop
    .size direct, . - direct

    .globl bare
    .type bare, @function
bare:
    nop
    .globl inside_bare
inside_bare:
    nop
    .size bare, . - bare

    // A label with a size, one without, and names that are no names of code.
    .globl sized_label
    .type sized_label, @notype
sized_label:
    nop
.Lnever_a_name:
    nop
    .size sized_label, . - sized_label
    .globl unsized_label
unsized_label:
$x_never_a_name:
    nop
    nop
    .globl end_of_code
end_of_code:
    nop
