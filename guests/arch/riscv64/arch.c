#include "arch.h"

#include "devices.h"
#include "kernel.h"

#define UART_BASE (DEVICES_VA + 0x10000000ul)
#define UART_DATA 0
#define UART_LINE_STATUS 5
#define UART_TRANSMIT_EMPTY 0x20

#define SBI_BASE 0x10
#define SBI_TIME 0x54494d45
#define SBI_IPI 0x735049
#define SBI_HART 0x48534d
#define SBI_RESET 0x53525354

#define CAUSE_INTERRUPT (1ul << 63)
#define CAUSE_SOFTWARE (CAUSE_INTERRUPT | 1)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 5)
#define CAUSE_EXTERNAL (CAUSE_INTERRUPT | 9)
#define CAUSE_USER_CALL 8
#define SIE_SOFTWARE (1ul << 1)
#define SIE_TIMER (1ul << 5)
#define SIE_EXTERNAL (1ul << 9)

struct trap_frame {
  u64 pc;
  // x1..x31 at their number; x4 (tp) counts for user mode only.
  u64 x[31];
  u64 status;
};

struct sbi_result {
  long error;
  u64 value;
};

extern u8 trap_entry[], secondary_start[], new_stack_entry[];
void arch_trap(struct trap_frame* frame, bool from_user);

static struct sbi_result sbi_call(u64 extension, u64 function, u64 arg0, u64 arg1, u64 arg2) {
  register u64 a0 __asm__("a0") = arg0;
  register u64 a1 __asm__("a1") = arg1;
  register u64 a2 __asm__("a2") = arg2;
  register u64 a6 __asm__("a6") = function;
  register u64 a7 __asm__("a7") = extension;
  __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
  return (struct sbi_result){(long)a0, a1};
}

void arch_init_boot(void) {}

void arch_init_cpu(struct cpu* cpu) {
  __asm__ volatile("mv tp, %0\n csrw sscratch, zero\n csrw stvec, %1\n csrw sie, %2"
                   :
                   : "r"(cpu), "r"(trap_entry), "r"(SIE_SOFTWARE | SIE_TIMER | SIE_EXTERNAL)
                   : "memory");
}

bool arch_start_cpu(struct cpu* cpu, u64 stack_top) {
  cpu->arch_words[CPU_START_SP / 8] = stack_top;
  return sbi_call(SBI_HART, 0, cpu->number, (u64)secondary_start - KERNEL_OFFSET, (u64)cpu).error == 0;
}

void arch_send_ipi(struct cpu* cpu) { sbi_call(SBI_IPI, 0, 1, cpu->number, 0); }
void arch_timer_arm(u64 deadline_ns) { sbi_call(SBI_TIME, 0, (deadline_ns + 99) / 100, 0, 0); }
void arch_wait_for_interrupt(void) { __asm__ volatile("wfi" : : : "memory"); }

void arch_console_putc(char c) {
  volatile u8* uart = (volatile u8*)UART_BASE;
  while (!(uart[UART_LINE_STATUS] & UART_TRANSMIT_EMPTY)) arch_cpu_relax();
  uart[UART_DATA] = (u8)c;
}

void arch_power_off(void) {
  sbi_call(SBI_RESET, 0, 0, 0, 0);
  for (;;) arch_wait_for_interrupt();
}

u64 arch_mmio_address(void) { return UART_BASE; }

bool arch_firmware_call(void) { return sbi_call(SBI_BASE, 0, 0, 0, 0).error == 0; }

u64 arch_new_stack(u64 stack_top, void (*entry)(void)) {
  // The callee-saved registers as arch_switch_stack stores them: s0, ra, s1, ...
  u64* saved = (u64*)(stack_top - 112);
  for (size_t i = 0; i < 14; i++) saved[i] = 0;
  saved[1] = (u64)new_stack_entry;
  saved[2] = (u64)entry;
  return (u64)saved;
}

void arch_trap(struct trap_frame* frame, bool from_user) {
  u64 cause, address;
  __asm__ volatile("csrr %0, scause\n csrr %1, stval" : "=r"(cause), "=r"(address));
  if (cause == CAUSE_TIMER) {
    kernel_trap(TRAP_TIMER, from_user, 0, 0);
    return;
  }
  if (cause == CAUSE_SOFTWARE) {
    __asm__ volatile("csrc sip, %0" : : "r"(SIE_SOFTWARE));
    kernel_trap(TRAP_IPI, from_user, 0, 0);
    return;
  }
  if (cause == CAUSE_EXTERNAL) {
    u32 slot;
    if (claim_device_irq(&slot)) kernel_trap(TRAP_DEVICE, from_user, slot, 0);
    return;
  }
  if (cause == CAUSE_USER_CALL && from_user) {
    frame->pc += 4;
    frame->x[9] = kernel_trap(TRAP_SYSCALL, true, frame->x[16], frame->x[9]);
    return;
  }
  kernel_panic("unexpected trap", cause << 48 | (address & 0xffffffffffff), frame->pc);
}
