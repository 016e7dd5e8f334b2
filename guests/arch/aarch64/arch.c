#include "arch.h"

#include "kernel.h"

#define DISTRIBUTOR_BASE (KERNEL_OFFSET + 0x08000000ul)
#define DISTRIBUTOR_CONTROL 0x000
#define DISTRIBUTOR_ENABLE 0x100
#define DISTRIBUTOR_SEND 0xf00
#define CPU_INTERFACE_BASE (KERNEL_OFFSET + 0x08010000ul)
#define CPU_INTERFACE_CONTROL 0x00
#define CPU_INTERFACE_PRIORITY_MASK 0x04
#define CPU_INTERFACE_ACKNOWLEDGE 0x0c
#define CPU_INTERFACE_END 0x10
#define UART_BASE (KERNEL_OFFSET + 0x09000000ul)
#define UART_DATA 0x00
#define UART_FLAGS 0x18
#define UART_TRANSMIT_FULL 0x20
#define UART_CONTROL 0x30
#define UART_ENABLE_TRANSMIT 0x101

#define INTERRUPT_IPI 0
#define INTERRUPT_VIRTUAL_TIMER 27
#define INTERRUPT_NUMBER_MASK 0x3ff
#define INTERRUPT_NONE 1020

#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_CPU_ON 0xc4000003

#define TRAP_KIND_SYNCHRONOUS 0
#define TRAP_KIND_INTERRUPT 1
#define SYNDROME_CLASS_SHIFT 26
#define SYNDROME_CLASS_SUPERVISOR_CALL 0x15

struct trap_frame {
  u64 x[31];
  u64 user_sp;
  u64 pc;
  u64 status;
};

u64 arch_clock_tick_ns;

extern u8 trap_vectors[], secondary_start[], new_stack_entry[];
void arch_trap(struct trap_frame* frame, u64 kind, bool from_user);

static u32 read_device(u64 base, u64 offset) { return *(volatile u32*)(base + offset); }
static void write_device(u64 base, u64 offset, u32 value) { *(volatile u32*)(base + offset) = value; }

static u64 psci_call(u64 function, u64 arg0, u64 arg1, u64 arg2) {
  register u64 x0 __asm__("x0") = function;
  register u64 x1 __asm__("x1") = arg0;
  register u64 x2 __asm__("x2") = arg1;
  register u64 x3 __asm__("x3") = arg2;
  __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
  return x0;
}

void arch_init_boot(void) {
  write_device(UART_BASE, UART_CONTROL, UART_ENABLE_TRANSMIT);
  write_device(DISTRIBUTOR_BASE, DISTRIBUTOR_CONTROL, 1);
  u64 frequency_hz;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency_hz));
  arch_clock_tick_ns = 1000000000ul / frequency_hz;
}

void arch_init_cpu(struct cpu* cpu) {
  __asm__ volatile("msr tpidr_el1, %0\n msr vbar_el1, %1\n isb" : : "r"(cpu), "r"(trap_vectors) : "memory");
  if (arch_clock_tick_ns * (1000000000ul / arch_clock_tick_ns) != 1000000000ul)
    kernel_panic("the counter's tick is no whole number of ns", arch_clock_tick_ns, 0);
  write_device(DISTRIBUTOR_BASE, DISTRIBUTOR_ENABLE, 1u << INTERRUPT_IPI | 1u << INTERRUPT_VIRTUAL_TIMER);
  write_device(CPU_INTERFACE_BASE, CPU_INTERFACE_PRIORITY_MASK, 0xff);
  write_device(CPU_INTERFACE_BASE, CPU_INTERFACE_CONTROL, 1);
}

bool arch_start_cpu(struct cpu* cpu, u64 stack_top) {
  cpu->arch_words[CPU_START_SP / 8] = stack_top;
  return psci_call(PSCI_CPU_ON, cpu->number, (u64)secondary_start - KERNEL_OFFSET, (u64)cpu) == 0;
}

void arch_send_ipi(struct cpu* cpu) {
  __asm__ volatile("dsb ish" : : : "memory");
  write_device(DISTRIBUTOR_BASE, DISTRIBUTOR_SEND, 1u << (16 + cpu->number) | INTERRUPT_IPI);
}

void arch_timer_arm(u64 deadline_ns) {
  const u64 ticks = (deadline_ns + arch_clock_tick_ns - 1) / arch_clock_tick_ns;
  __asm__ volatile("msr cntv_cval_el0, %0\n msr cntv_ctl_el0, %1\n isb" : : "r"(ticks), "r"(1ul) : "memory");
}

void arch_wait_for_interrupt(void) { __asm__ volatile("dsb sy\n wfi" : : : "memory"); }

void arch_console_putc(char c) {
  while (read_device(UART_BASE, UART_FLAGS) & UART_TRANSMIT_FULL) arch_cpu_relax();
  write_device(UART_BASE, UART_DATA, (u8)c);
}

void arch_power_off(void) {
  psci_call(PSCI_SYSTEM_OFF, 0, 0, 0);
  for (;;) arch_wait_for_interrupt();
}

u64 arch_mmio_address(void) { return UART_BASE; }

// QEMU answers PSCI calls itself: no code of a firmware runs.
bool arch_firmware_call(void) { return false; }

u64 arch_new_stack(u64 stack_top, void (*entry)(void)) {
  // The callee-saved registers as arch_switch_stack stores them: x19 first, x30 last.
  u64* saved = (u64*)(stack_top - 96);
  for (size_t i = 0; i < 12; i++) saved[i] = 0;
  saved[0] = (u64)entry;
  saved[11] = (u64)new_stack_entry;
  return (u64)saved;
}

static void handle_interrupt(bool from_user, u64 pc) {
  const u32 acknowledged = read_device(CPU_INTERFACE_BASE, CPU_INTERFACE_ACKNOWLEDGE);
  const u32 number = acknowledged & INTERRUPT_NUMBER_MASK;
  if (number >= INTERRUPT_NONE) return;
  // Before the handler, which may switch to another task: the interrupt is over as far as the controller is concerned, and the
  // timer's line falls when it is armed again.
  write_device(CPU_INTERFACE_BASE, CPU_INTERFACE_END, acknowledged);
  if (number == INTERRUPT_IPI) {
    kernel_trap(TRAP_IPI, from_user, 0, 0);
  } else if (number == INTERRUPT_VIRTUAL_TIMER) {
    kernel_trap(TRAP_TIMER, from_user, 0, 0);
  } else {
    kernel_panic("unexpected interrupt", number, pc);
  }
}

void arch_trap(struct trap_frame* frame, u64 kind, bool from_user) {
  if (kind == TRAP_KIND_INTERRUPT) {
    handle_interrupt(from_user, frame->pc);
    return;
  }
  u64 syndrome, address;
  __asm__ volatile("mrs %0, esr_el1\n mrs %1, far_el1" : "=r"(syndrome), "=r"(address));
  const bool call = kind == TRAP_KIND_SYNCHRONOUS && syndrome >> SYNDROME_CLASS_SHIFT == SYNDROME_CLASS_SUPERVISOR_CALL;
  if (call && from_user) {
    frame->x[0] = kernel_trap(TRAP_SYSCALL, true, frame->x[8], frame->x[0]);
    return;
  }
  kernel_panic("unexpected trap", syndrome << 32 | (address & 0xffffffff), frame->pc);
}
