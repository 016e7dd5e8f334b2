#include "arch.h"

#include "kernel.h"
#include "platform.h"

#define COM1_DATA 0x3f8
#define COM1_LINE_STATUS 0x3fd
#define COM1_TRANSMIT_EMPTY 0x20

#define PIC_MASK_1 0x21
#define PIC_MASK_2 0xa1

// Of the q35 machine as its firmware sets it up: the power management control register, and "enter soft off".
#define PM_CONTROL 0x604
#define PM_SOFT_OFF 0x2000

#define FW_CFG_SELECTOR 0x510
#define FW_CFG_DATA 0x511
#define FW_CFG_CPU_COUNT 5

#define APIC_ENABLED 0x100u
#define APIC_MASKED 0x10000u
#define APIC_DIVIDE_BY_1 0xbu
#define APIC_ASSERT 0x4000u
#define APIC_INIT 0x500u
#define APIC_START_UP 0x600u

struct trap_frame {
  u64 record[2];
  u64 r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
  u64 vector, error_code;
  u64 pc, code_segment, flags, sp, stack_segment;
};

_Static_assert(offsetof(struct trap_frame, vector) == TRAP_VECTOR, "arch_defs.h says where");
_Static_assert(offsetof(struct trap_frame, pc) == TRAP_PC, "arch_defs.h says where");
_Static_assert(sizeof(struct trap_frame) == TRAP_BYTES, "arch_defs.h says how large");

extern u8 trampoline[], trampoline_end[], new_stack_entry[];
void arch_trap(struct trap_frame* frame, bool from_user);

// For the CPU that is being started; its first 64-bit code clears it.
extern struct cpu* starting_cpu;
struct cpu* starting_cpu;

static u32 machine_cpus;

void arch_init_boot(void) {
  // The firmware's last line has no end.
  arch_console_putc('\n');
  port_write_u8(PIC_MASK_1, 0xff);
  port_write_u8(PIC_MASK_2, 0xff);
  descriptors_init();
  // Numbers itself 0, as the boot CPU is; kernel_panic can speak from here on.
  descriptors_load(&cpus[0]);
  clock_init();

  port_write_u16(FW_CFG_SELECTOR, FW_CFG_CPU_COUNT);
  machine_cpus = port_read_u8(FW_CFG_DATA);
  machine_cpus |= (u32)port_read_u8(FW_CFG_DATA) << 8;

  u8* target = (u8*)(KERNEL_OFFSET + TRAMPOLINE_PHYSICAL);
  for (size_t i = 0; i < (size_t)(trampoline_end - trampoline); i++) target[i] = trampoline[i];
}

void arch_init_cpu(struct cpu* cpu) {
  descriptors_load(cpu);
  apic_write(APIC_SPURIOUS, APIC_ENABLED | VECTOR_SPURIOUS);
  apic_write(APIC_TASK_PRIORITY, 0);
  apic_write(APIC_LOCAL_PIN_0, APIC_MASKED);
  apic_write(APIC_LOCAL_PIN_1, APIC_MASKED);
  apic_write(APIC_TIMER_DIVIDER, APIC_DIVIDE_BY_1);
  apic_write(APIC_LOCAL_TIMER, VECTOR_TIMER);
}

static void send_command(u32 apic_id, u32 command) {
  apic_write(APIC_COMMAND_HIGH, apic_id << 24);
  apic_write(APIC_COMMAND_LOW, APIC_ASSERT | command);
}

static void wait_ns(u64 duration_ns) {
  const u64 start_ns = arch_clock_ns();
  while (arch_clock_ns() - start_ns < duration_ns) arch_cpu_relax();
}

// APIC ids are the CPU numbers: so it is with a plain -smp N.
bool arch_start_cpu(struct cpu* cpu, u64 stack_top) {
  if (cpu->number >= machine_cpus) return false;
  cpu->arch_words[CPU_START_SP / 8] = stack_top;
  __atomic_store_n(&starting_cpu, cpu, __ATOMIC_RELEASE);
  send_command(cpu->number, APIC_INIT);
  // A start-up IPI that comes before the CPU has reset itself is lost, one that comes twice is ignored.
  do {
    wait_ns(NS_PER_MS);
    send_command(cpu->number, APIC_START_UP | TRAMPOLINE_PHYSICAL >> 12);
  } while (__atomic_load_n(&starting_cpu, __ATOMIC_ACQUIRE));
  return true;
}

void arch_send_ipi(struct cpu* cpu) { send_command(cpu->number, VECTOR_IPI); }

// QEMU's local APIC timer counts nanoseconds, in 32 bits.
void arch_timer_arm(u64 deadline_ns) {
  arch_this_cpu()->arch_words[CPU_DEADLINE / 8] = deadline_ns;
  const u64 now_ns = arch_clock_ns();
  u64 count = deadline_ns > now_ns ? deadline_ns - now_ns : 1;
  if (count > UINT32_MAX) count = UINT32_MAX;
  apic_write(APIC_TIMER_COUNT, (u32)count);
}

void arch_wait_for_interrupt(void) { __asm__ volatile("sti\n hlt\n cli" : : : "memory"); }

void arch_console_putc(char c) {
  while (!(port_read_u8(COM1_LINE_STATUS) & COM1_TRANSMIT_EMPTY)) arch_cpu_relax();
  port_write_u8(COM1_DATA, (u8)c);
}

void arch_power_off(void) {
  port_write_u16(PM_CONTROL, PM_SOFT_OFF);
  for (;;) __asm__ volatile("cli\n hlt" : : : "memory");
}

u64 arch_mmio_address(void) { return HPET_BASE; }

bool arch_firmware_call(void) { return false; }

u64 arch_new_stack(u64 stack_top, void (*entry)(void)) {
  // The callee-saved registers as arch_switch_stack pops them (r15, r14, r13, r12, rbx, rbp), then where it returns to.
  u64* saved = (u64*)(stack_top - 64);
  for (size_t i = 0; i < 8; i++) saved[i] = 0;
  saved[4] = (u64)entry;
  saved[6] = (u64)new_stack_entry;
  return (u64)saved;
}

void arch_trap(struct trap_frame* frame, bool from_user) {
  if (frame->vector == VECTOR_TIMER) {
    apic_write(APIC_END_OF_INTERRUPT, 0);
    const u64 deadline_ns = arch_this_cpu()->arch_words[CPU_DEADLINE / 8];
    // Far deadlines come in steps, and the two clocks differ by some millionths.
    if (arch_clock_ns() < deadline_ns)
      arch_timer_arm(deadline_ns);
    else
      kernel_trap(TRAP_TIMER, from_user, 0, 0);
    return;
  }
  if (frame->vector == VECTOR_IPI) {
    apic_write(APIC_END_OF_INTERRUPT, 0);
    kernel_trap(TRAP_IPI, from_user, 0, 0);
    return;
  }
  if (frame->vector == VECTOR_SYSCALL && from_user) {
    frame->rax = kernel_trap(TRAP_SYSCALL, true, frame->rax, frame->rdi);
    return;
  }
  if (frame->vector == VECTOR_SPURIOUS) return;
  u64 address;
  __asm__ volatile("movq %%cr2, %0" : "=r"(address));
  print("QG trap vector=%lu error=0x%lx address=0x%lx\n", frame->vector, frame->error_code, address);
  kernel_panic("unexpected trap", frame->vector, frame->pc);
}
