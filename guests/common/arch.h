// What an architecture supplies to the common kernel, and what it may call. Nothing else crosses the border.
//
// An architecture is a folder arch/NAME with:
//   flags        compiler flags, one line (target, code model, no floating point)
//   kernel.ld    linker script, see "Image" below
//   arch_defs.h  constants, for C and assembly, see "Constants"
//   arch_asm.inc   assembly macros, see "Assembly macros"
//   arch_inline.h  the functions marked (inline) below
//   *.S, *.c     everything else
//
// Image. Linked in the upper half (>= 0x8000000000000000), loaded where QEMU's -kernel puts it (ELF p_paddr), e_entry the
// physical entry. Kept by every linker script:
//   - text, rodata, data, bss, then the sections .stacks (NOLOAD) and, last, .hostile_stacks (NOLOAD), whose end is the symbol
//     __image_end, 2 MiB aligned. Every address from the image's start to __image_end is mapped; the page AT
//     __image_end is NOT: the hostile frame chains reach for it, less than 1 MiB above their stack pointer. (loongarch64, where
//     the image's window leaves no address unmapped, has .hostile_stacks alone at another address, __image_end behind it.)
//   - section .user (all of user_program.o): linked at USER_TEXT_VA, loaded inside the image; symbols __user_load and
//     __user_load_end, both page aligned: the addresses of the loaded bytes inside the image.
//   - the note .note.gnu.build-id and all debug sections stay.
//   - the image's start has the symbol __image_start, the bss __bss_start and __bss_end (8-byte aligned).
//
// Boot. The architecture's entry code, on the boot CPU: zeroes the bss, turns the MMU on with the final addresses, maps the
// user region (.user readable and executable from user mode at USER_TEXT_VA, user_stacks writable at USER_STACKS_VA, both 4 KiB
// pages, one address space shared by all CPUs), then calls kernel_main(number of the boot CPU) on boot_stack with frame pointer
// 0 and return address 0.
//
// Frames. Every function but those of arch_asm.inc that say so keeps a frame pointer. A chain ends in a frame whose saved frame
// pointer and return address are both 0. Trap entry from the kernel builds a frame of the ordinary layout in which the return
// address is the interrupted pc and the saved frame pointer the interrupted one, so that chains go through an interrupt; trap
// entry from user mode builds one with (0, 0). The C code below trap entry must see that frame pointer.
//
// CPU numbers are QEMU's vCPU indices, everywhere.
#pragma once

#include "layout.h"
#include "types.h"

struct cpu;
struct task;

enum trap_cause { TRAP_TIMER, TRAP_IPI, TRAP_SYSCALL, TRAP_DEVICE };

// Constants (arch_defs.h).
// ARCH_NAME                    "riscv64"
// ARCH_FRAME_SAVED_FP          bytes from the frame pointer to the saved frame pointer
// ARCH_FRAME_RETURN            bytes from the frame pointer to the return address
// ARCH_LOOP_INSNS              instructions of one iteration of the counted loop, at least 4
// ARCH_COUNTED_FIXED_INSNS     instructions of one call of a COUNTED_FUNCTION apart from its loop, `ret` included
// ARCH_LEAF_FIXED_INSNS        the same for a LEAF_FUNCTION
// ARCH_HOSTILE_FIXED_INSNS     the same for a HOSTILE_FUNCTION
// ARCH_FAR                     (may be missing) the attribute of a variable that is linked far from all others
#include "arch_defs.h"

#ifndef ARCH_FAR
#define ARCH_FAR
#endif

// Assembly macros (arch_asm.inc, included by common/counted.S).
// COUNTED_FUNCTION name        void name(u64 iterations): keeps a frame, then runs the counted loop `iterations` (>= 1) times.
// LEAF_FUNCTION name           the same without ever setting up a frame: the caller stays in the link register (or at [sp]).
// HOSTILE_FUNCTION name        void name(u64 iterations, u64 frame_pointer): keeps a frame, sets the frame-pointer register
//                              to the given value, runs the loop, restores the frame pointer from its stack and returns.
// Each defines a global symbol of type function with its size, straight-line code around one loop: the counts are exact.

// CPU and interrupts.

// (inline) This CPU's struct; set by arch_init_cpu. Must be re-read after any point where the task can move to another CPU.
ALWAYS_INLINE struct cpu* arch_this_cpu(void);

// (inline) Interrupts off; returns what arch_irq_restore needs. Compiler barriers, both.
ALWAYS_INLINE u64 arch_irq_save(void);
ALWAYS_INLINE void arch_irq_restore(u64 flags);
ALWAYS_INLINE void arch_irq_enable(void);

// (inline) A pause in a spin loop.
ALWAYS_INLINE void arch_cpu_relax(void);

// (inline) Nanoseconds of the guest's own clock: monotonic, the same on all CPUs, cheap, no call.
ALWAYS_INLINE u64 arch_clock_ns(void);

// Once, on the boot CPU, before anything else: console, clock frequency.
void arch_init_boot(void);

// On each CPU, interrupts off: arch_this_cpu() becomes `cpu`, trap vector, timer and IPI delivery enabled (but interrupts stay
// off).
void arch_init_cpu(struct cpu* cpu);

// Starts CPU `cpu->number`; it must arrive in secondary_main(cpu) on `stack_top` with the MMU on, frame pointer and return
// address 0. False when the machine has no such CPU. Where the machine can tell, ask it: no time-outs.
bool arch_start_cpu(struct cpu* cpu, u64 stack_top);

// Makes `cpu` take a TRAP_IPI soon. Interrupts are off.
void arch_send_ipi(struct cpu* cpu);

// One-shot: TRAP_TIMER on this CPU once arch_clock_ns() >= deadline_ns, at once if that has passed. Replaces the earlier one.
// kernel_trap(TRAP_TIMER) always arms again, so an architecture needs no acknowledgement beyond its own.
void arch_timer_arm(u64 deadline_ns);

// Called and returns with interrupts off; halts this CPU until an interrupt arrives. That interrupt has been taken inside, or
// is taken as soon as interrupts are enabled. No lost wake-up between the caller's check and the halt.
void arch_wait_for_interrupt(void);

// Console and power.

void arch_console_putc(char c);

// QEMU ends with status 0, without options that the README's command line lacks.
__attribute__((noreturn)) void arch_power_off(void);

// A mapped kernel address of a device register that is harmless to read; for the hostile frame chains.
u64 arch_mmio_address(void);

// One call to the machine's firmware at a higher privilege (SBI). False where there is none: then nothing was called.
bool arch_firmware_call(void);

// Tasks and user mode.

// Prepares a stack so that the first arch_switch_stack to it enters `entry` with frame pointer 0 and return address 0,
// interrupts off. Returns the value for load_sp. stack_top is 16-byte aligned.
u64 arch_new_stack(u64 stack_top, void (*entry)(void));

// Saves the callee-saved registers on the stack, stores the stack pointer in *save_sp, continues on load_sp.
void arch_switch_stack(u64* save_sp, u64 load_sp);

// Enters user mode at `entry` with first argument `arg`, interrupts on. Before that saves the callee-saved registers on the
// kernel stack and its pointer in *save_sp. Comes back, returning `value`, when kernel code (in a trap from this user mode)
// calls arch_leave_user(*save_sp, value); interrupts are then off. Traps from user mode run on the kernel stack right below
// that point; the task may be switched away in a trap, but never to another CPU.
u64 arch_enter_user(u64* save_sp, u64 entry, u64 user_sp, u64 arg);
__attribute__((noreturn)) void arch_leave_user(u64 kernel_sp, u64 value);

// (inline) From user mode: kernel_trap(TRAP_SYSCALL, true, number, arg), returns its result. Clobbers what the convention
// allows.
ALWAYS_INLINE u64 arch_user_syscall(u64 number, u64 arg);

// Devices, on architectures whose arch_defs.h has ARCH_VIRTIO_SLOTS, the number of the machine's virtio-mmio slots. Theirs alone
// are the sources in devices/ and the workloads that need them.

// The mapped address of a slot's registers.
u64 arch_virtio_registers(u32 slot);

// The physical address of kernel data.
u64 arch_physical_address(const void* data);

// From now on TRAP_DEVICE with `number` slot, on the CPU that calls this. Each must be answered with arch_device_irq_done before
// the next one of that slot can come; the device itself is quiet by then.
void arch_device_irq_enable(u32 slot);
void arch_device_irq_done(u32 slot);

// What the architecture calls.

extern u8 boot_stack[BOOT_STACK_BYTES];
extern u8 user_stacks[MAX_CPUS][USER_STACK_BYTES];

__attribute__((noreturn)) void kernel_main(u32 boot_cpu_number);
__attribute__((noreturn)) void secondary_main(struct cpu* cpu);

// Every timer, IPI, device interrupt and system call, with interrupts off; once per trap, after the registers are saved. `number`
// and `arg` count for TRAP_SYSCALL, whose result goes to user mode's result register; `number` also for TRAP_DEVICE. It may switch tasks and come back later.
u64 kernel_trap(enum trap_cause cause, bool from_user, u64 number, u64 arg);

// Every other trap.
__attribute__((noreturn)) void kernel_panic(const char* what, u64 value, u64 pc);

#include "arch_inline.h"
