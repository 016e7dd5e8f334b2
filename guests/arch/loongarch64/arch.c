#include "arch.h"

#include "kernel.h"
#include "platform.h"

#define UART_BASE (DEVICES_OFFSET + 0x1fe001e0ul)
#define UART_DATA 0
#define UART_LINE_STATUS 5
#define UART_TRANSMIT_EMPTY 0x20

// The virt machine's sleep control register, and "enter soft off".
#define SLEEP_CONTROL (DEVICES_OFFSET + 0x100e001cul)
#define SLEEP_SOFT_OFF 0x34

// The selector is big-endian.
#define FW_CFG_DATA (DEVICES_OFFSET + 0x1e020000ul)
#define FW_CFG_SELECTOR (DEVICES_OFFSET + 0x1e020008ul)
#define FW_CFG_CPU_COUNT 0x0500

#define IOCSR_IPI_STATUS 0x1000
#define IOCSR_IPI_ENABLE 0x1004
#define IOCSR_IPI_CLEAR 0x100c
#define IOCSR_IPI_SEND 0x1040
#define IOCSR_MAIL_SEND 0x1048
#define SEND_AND_WAIT (1ul << 31)
#define SEND_CPU_SHIFT 16

#define INTERRUPT_TIMER (1ul << 11)
#define INTERRUPT_IPI (1ul << 12)
#define EXCEPTION_INTERRUPT 0
#define EXCEPTION_SYSCALL 11
#define EXCEPTION_SHIFT 16
#define EXCEPTION_MASK 0x3f

#define CLOCK_HZ 100000000u
#define NS_PER_TICK 10
#define TIMER_ENABLE 1ul
#define TIMER_STEP_TICKS 4ul

struct trap_frame {
  u64 pc;
  // r1..r31 at their number; r3 (sp) and r21 count for user mode only.
  u64 r[31];
  u64 status;
};

extern u8 trap_entry[], secondary_start[], new_stack_entry[];
void arch_trap(struct trap_frame* frame, bool from_user);
void arch_refill_trap(u64 address, u64 pc);

static u32 machine_cpus;

static u32 cpu_config(u64 word) {
  u64 value;
  __asm__ volatile("cpucfg %0, %1" : "=r"(value) : "r"(word));
  return (u32)value;
}

static u32 iocsr_read(u64 address) {
  u64 value;
  __asm__ volatile("iocsrrd.w %0, %1" : "=r"(value) : "r"(address) : "memory");
  return (u32)value;
}

static void iocsr_write(u64 address, u32 value) {
  __asm__ volatile("iocsrwr.w %0, %1" : : "r"((u64)value), "r"(address) : "memory");
}
static void iocsr_write_u64(u64 address, u64 value) {
  __asm__ volatile("iocsrwr.d %0, %1" : : "r"(value), "r"(address) : "memory");
}

void arch_init_boot(void) {
  // kernel_panic needs this.
  __asm__ volatile("move $r21, %0" : : "r"(&cpus[0]));
  const u32 ratio = cpu_config(5);
  const u64 clock_hz = (u64)cpu_config(4) * (ratio & 0xffff) / (ratio >> 16 ? ratio >> 16 : 1);
  if (clock_hz != CLOCK_HZ) kernel_panic("the stable counter is not at 100 MHz", clock_hz, 0);

  *(volatile u16*)FW_CFG_SELECTOR = FW_CFG_CPU_COUNT;
  machine_cpus = *(volatile u8*)FW_CFG_DATA;
  machine_cpus |= (u32) * (volatile u8*)FW_CFG_DATA << 8;
}

void arch_init_cpu(struct cpu* cpu) {
  __asm__ volatile("move $r21, %0" : : "r"(cpu));
  CSR_WRITE(CSR_SAVE_CPU, (u64)cpu);
  CSR_WRITE(CSR_EENTRY, (u64)trap_entry);
  tlb_init();
  iocsr_write(IOCSR_IPI_CLEAR, iocsr_read(IOCSR_IPI_STATUS));
  iocsr_write(IOCSR_IPI_ENABLE, UINT32_MAX);
  CSR_WRITE(CSR_TICLR, 1);
  CSR_WRITE(CSR_ECFG, INTERRUPT_TIMER | INTERRUPT_IPI);
}

// A mailbox is written in halves.
static void send_mail(const struct cpu* cpu, u64 mailbox, u64 value) {
  const u64 target = SEND_AND_WAIT | (u64)cpu->number << SEND_CPU_SHIFT;
  iocsr_write_u64(IOCSR_MAIL_SEND, target | (2 * mailbox + 1) << 2 | (value & 0xffffffff00000000));
  iocsr_write_u64(IOCSR_MAIL_SEND, target | 2 * mailbox << 2 | value << 32);
}

static void wait_ns(u64 duration_ns) {
  const u64 start_ns = arch_clock_ns();
  while (arch_clock_ns() - start_ns < duration_ns) arch_cpu_relax();
}

// The machine's own start code waits on every other CPU for an IPI and a first mailbox that is not 0. What comes before that
// code is ready for it is lost, so this repeats until the CPU has taken its stack.
bool arch_start_cpu(struct cpu* cpu, u64 stack_top) {
  if (cpu->number >= machine_cpus) return false;
  u64* start_sp = &cpu->arch_words[CPU_START_SP / 8];
  __atomic_store_n(start_sp, stack_top, __ATOMIC_SEQ_CST);
  do {
    send_mail(cpu, 1, (u64)cpu);
    send_mail(cpu, 0, (u64)secondary_start - KERNEL_OFFSET);
    arch_send_ipi(cpu);
    wait_ns(NS_PER_MS);
  } while (__atomic_load_n(start_sp, __ATOMIC_ACQUIRE));
  return true;
}

void arch_send_ipi(struct cpu* cpu) { iocsr_write(IOCSR_IPI_SEND, (u32)(SEND_AND_WAIT | (u64)cpu->number << SEND_CPU_SHIFT)); }

void arch_timer_arm(u64 deadline_ns) {
  arch_this_cpu()->arch_words[CPU_DEADLINE / 8] = deadline_ns;
  const u64 now_ns = arch_clock_ns();
  const u64 ticks = deadline_ns > now_ns ? (deadline_ns - now_ns) / NS_PER_TICK : 0;
  CSR_WRITE(CSR_TCFG, (ticks / TIMER_STEP_TICKS + 1) * TIMER_STEP_TICKS | TIMER_ENABLE);
}

// An interrupt that is enabled but for the CPU's interrupt enable ends it all the same.
void arch_wait_for_interrupt(void) { __asm__ volatile("idle 0" : : : "memory"); }

void arch_console_putc(char c) {
  volatile u8* uart = (volatile u8*)UART_BASE;
  while (!(uart[UART_LINE_STATUS] & UART_TRANSMIT_EMPTY)) arch_cpu_relax();
  uart[UART_DATA] = (u8)c;
}

void arch_power_off(void) {
  *(volatile u8*)SLEEP_CONTROL = SLEEP_SOFT_OFF;
  for (;;) arch_wait_for_interrupt();
}

u64 arch_mmio_address(void) { return UART_BASE; }

bool arch_firmware_call(void) { return false; }

u64 arch_new_stack(u64 stack_top, void (*entry)(void)) {
  // The callee-saved registers as arch_switch_stack stores them: fp, ra, s0, ...
  u64* saved = (u64*)(stack_top - 96);
  for (size_t i = 0; i < 12; i++) saved[i] = 0;
  saved[1] = (u64)new_stack_entry;
  saved[2] = (u64)entry;
  return (u64)saved;
}

static void timer_trap(bool from_user) {
  CSR_WRITE(CSR_TICLR, 1);
  // One that was pending when a later deadline replaced its own.
  const u64 deadline_ns = arch_this_cpu()->arch_words[CPU_DEADLINE / 8];
  if (arch_clock_ns() < deadline_ns) {
    arch_timer_arm(deadline_ns);
    return;
  }
  kernel_trap(TRAP_TIMER, from_user, 0, 0);
}

void arch_trap(struct trap_frame* frame, bool from_user) {
  const u64 status = CSR_READ(CSR_ESTAT);
  const u64 exception = status >> EXCEPTION_SHIFT & EXCEPTION_MASK;
  if (exception == EXCEPTION_INTERRUPT && status & INTERRUPT_TIMER) {
    timer_trap(from_user);
    return;
  }
  if (exception == EXCEPTION_INTERRUPT && status & INTERRUPT_IPI) {
    iocsr_write(IOCSR_IPI_CLEAR, iocsr_read(IOCSR_IPI_STATUS));
    kernel_trap(TRAP_IPI, from_user, 0, 0);
    return;
  }
  if (exception == EXCEPTION_SYSCALL && from_user) {
    frame->pc += 4;
    frame->r[3] = kernel_trap(TRAP_SYSCALL, true, frame->r[10], frame->r[3]);
    return;
  }
  print("QG trap status=0x%lx address=0x%lx\n", status, CSR_READ(CSR_BADV));
  kernel_panic("unexpected trap", exception, frame->pc);
}

void arch_refill_trap(u64 address, u64 pc) { kernel_panic("no translation", address, pc); }
