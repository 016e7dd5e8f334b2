# Boot sector for the BIOS: reads 50 times 8 sectors from sector 2048 on, then writes (4096, 8) (4100, 8) (8192, 8) (4103, 1), then ends
# QEMU through isa-debug-exit at port 0xf4 with 0x10 (all done) or 0x11 (the BIOS reported an error).
.code16
.globl _start
_start:
    ljmp $0, $main
main:
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movw $0x7c00, %sp
    movb %dl, drive
    movw $50, %cx
next_read:
    pushw %cx
    movb $0x42, %ah
    call transfer
    addl $8, packet + 8
    popw %cx
    loop next_read

    movw $writes, %bx
    movw $4, %cx
next_write:
    pushw %cx
    movl (%bx), %eax
    movl %eax, packet + 8
    movw 4(%bx), %ax
    movw %ax, packet + 2
    pushw %bx
    movw $0x4300, %ax
    call transfer
    popw %bx
    addw $6, %bx
    popw %cx
    loop next_write
    movb $0x10, %al
    jmp end
transfer:
    movb drive, %dl
    movw $packet, %si
    int $0x13
    jc failed
    ret
failed:
    movb $0x11, %al
end:
    movw $0xf4, %dx
    outb %al, %dx
halt:
    hlt
    jmp halt

drive:
    .byte 0
    .balign 4
packet:
    .byte 16, 0
    .word 8            # sectors
    .word 0x8000, 0    # buffer
    .quad 2048
writes:
    .long 4096
    .word 8
    .long 4100
    .word 8
    .long 8192
    .word 8
    .long 4103
    .word 1
    .org 510
    .word 0xaa55
