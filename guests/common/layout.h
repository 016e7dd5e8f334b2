// Numbers that C, assembly and the linker scripts agree on.
#pragma once

#define MAX_CPUS 32

// Where user mode sees its code (the ELF's .user section, linked there) and its stacks (one page per CPU).
#define USER_TEXT_VA 0x400000
#define USER_STACKS_VA 0x800000
#define USER_STACK_BYTES 4096

#define BOOT_STACK_BYTES 16384
#define TASK_STACK_BYTES 32768
#define HOSTILE_STACK_BYTES 16384
