#include "arch_asm.inc"
#include "arch_defs.h"
#include "layout.h"

#define CR0_PROTECTED 0x1
#define CR0_ON 0x80010033
#define CR4_ON 0xa0
#define MSR_EFER 0xc0000080
#define EFER_LONG_MODE 0x100

// What QEMU looks for in an ELF given as -kernel: the 32-bit entry of the PVH protocol (type 18, owner "Xen").
    .section .note.pvh, "a", @note
    .balign 4
    .long 4, 8, 18
    .asciz "Xen"
    .quad physical_entry

    .section .rodata
    .balign 8
    .globl start_segments
// By selector: none, kernel code, kernel data, 32-bit kernel code, user data, user code.
start_segments:
    .quad 0, 0x00af9a000000ffff, 0x00cf92000000ffff, 0x00cf9a000000ffff, 0x00cff2000000ffff, 0x00affa000000ffff
start_segments_end:
    .type start_segments, @object
    .size start_segments, start_segments_end - start_segments
start_segments_pointer:
    .word start_segments_end - start_segments - 1
    .long start_segments - KERNEL_OFFSET

// Maps the first GiB at 0 and at KERNEL_OFFSET, for the way up.
    .data
    .balign 4096
start_root_table:
    .quad start_upper_table - KERNEL_OFFSET + 3
    .fill 510, 8, 0
    .quad start_upper_table - KERNEL_OFFSET + 3
start_upper_table:
    .quad start_table - KERNEL_OFFSET + 3
    .fill 509, 8, 0
    .quad start_table - KERNEL_OFFSET + 3
    .quad 0
start_table:
    .set .Lpage, 0
    .rept 512
    .quad .Lpage + 0x83
    .set .Lpage, .Lpage + 0x200000
    .endr

    .section .text.start, "ax"
    .code32
    .globl _start
    .type _start, @function
// From the PVH loader: 32-bit protected mode, no paging, interrupts off.
_start:
    cli
    cld
    lgdt start_segments_pointer - KERNEL_OFFSET
    ljmpl $KERNEL_CODE_32, $1f - KERNEL_OFFSET
1:  movl $KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl $__bss_start - KERNEL_OFFSET, %edi
    movl $__bss_end - KERNEL_OFFSET, %ecx
    subl %edi, %ecx
    shrl $2, %ecx
    xorl %eax, %eax
    rep stosl
    movl $boot_start_64 - KERNEL_OFFSET, %ebx
    jmp enable_mmu
    .size _start, . - _start

    .type secondary_start_32, @function
// From the trampoline.
secondary_start_32:
    movl $secondary_start_64 - KERNEL_OFFSET, %ebx
    jmp enable_mmu
    .size secondary_start_32, . - secondary_start_32

    .type enable_mmu, @function
// To ebx + KERNEL_OFFSET, in 64-bit mode, the start table still in force.
enable_mmu:
    movl $KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $CR4_ON, %eax
    movl %eax, %cr4
    movl $start_root_table - KERNEL_OFFSET, %eax
    movl %eax, %cr3
    movl $MSR_EFER, %ecx
    rdmsr
    orl $EFER_LONG_MODE, %eax
    wrmsr
    movl $CR0_ON, %eax
    movl %eax, %cr0
    ljmpl $KERNEL_CODE, $1f - KERNEL_OFFSET
    .code64
1:  xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    addq $KERNEL_OFFSET, %rbx
    jmp *%rbx
    .size enable_mmu, . - enable_mmu

    .type boot_start_64, @function
boot_start_64:
    movq $boot_stack + BOOT_STACK_BYTES, %rsp
    xorl %ebp, %ebp
    call build_page_tables
    movq $root_table - KERNEL_OFFSET, %rax
    movq %rax, %cr3
    movl $1, %eax
    cpuid
    movl %ebx, %edi
    shrl $24, %edi
    pushq $0
    jmp kernel_main
    .size boot_start_64, . - boot_start_64

    .type secondary_start_64, @function
secondary_start_64:
    movq $root_table - KERNEL_OFFSET, %rax
    movq %rax, %cr3
    movq starting_cpu, %rdi
    movq CPU_START_SP(%rdi), %rsp
    // From here on the starter sends no more.
    movq $0, starting_cpu
    xorl %ebp, %ebp
    pushq $0
    jmp secondary_main
    .size secondary_start_64, . - secondary_start_64

// (const struct table_pointer *segments)
FUNCTION load_segments
    ENTER_FRAME
    lgdt (%rdi)
    movl $KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    pushq $KERNEL_CODE
    pushq $1f
    lretq
1:  LEAVE_FRAME
END_FUNCTION load_segments

// Copied to TRAMPOLINE_PHYSICAL: a started CPU begins here in real mode with cs = TRAMPOLINE_PHYSICAL / 16.
    .section .rodata
    .code16
    .globl trampoline
    .globl trampoline_end
trampoline:
    cli
    cld
    lgdtl %cs:trampoline_pointer - trampoline
    movl %cr0, %eax
    orl $CR0_PROTECTED, %eax
    movl %eax, %cr0
    ljmpl $KERNEL_CODE_32, $secondary_start_32 - KERNEL_OFFSET
    .balign 4
trampoline_pointer:
    .word start_segments_end - start_segments - 1
    .long start_segments - KERNEL_OFFSET
trampoline_end:
    .code64
