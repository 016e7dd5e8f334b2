// The clock: the time-stamp counter, measured once against the HPET.
//
// Under TCG the time-stamp counter is the host's, of unknown frequency but even, the same on all CPUs and cheap; the HPET is
// QEMU's virtual clock itself, at 100 MHz, but costs a device access. Under -icount the time-stamp counter counts instructions
// instead and stands still while all CPUs idle: there every reading comes from the HPET.
#include "kernel.h"
#include "platform.h"

#define HPET_PERIOD_FS (HPET_BASE + 4)
#define HPET_CONFIGURATION (HPET_BASE + 0x10)
#define HPET_RUN 1u
#define HPET_MAX_PERIOD_FS 100000000u
#define FS_PER_NS 1000000u

#define CALIBRATION_NS (50 * NS_PER_MS)
#define CALIBRATION_TRIES 32

bool clock_from_hpet;
u64 clock_tsc_start;
u64 clock_tsc_factor;
u64 clock_hpet_factor;

struct reading {
  u64 tsc;
  u64 hpet;
};

// Both counters at one moment: the tightest of several tries.
static struct reading read_both(void) {
  struct reading best = {0, 0};
  u64 best_width = UINT64_MAX;
  for (u32 i = 0; i < CALIBRATION_TRIES; i++) {
    const u64 before = clock_read_tsc();
    const u64 hpet = clock_read_hpet();
    const u64 width = clock_read_tsc() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = (struct reading){before + width / 2, hpet};
  }
  return best;
}

// The time-stamp counter across exactly 2000 instructions and the few around them.
static u64 tsc_across_loop(void) {
  u64 iterations = 1000;
  const u64 before = clock_read_tsc();
  __asm__ volatile("1: decq %0\n jnz 1b" : "+r"(iterations) : : "memory");
  return clock_read_tsc() - before;
}

static bool tsc_counts_instructions(void) {
  const u64 first = tsc_across_loop();
  return first >= 2000 && first < 2020 && tsc_across_loop() == first;
}

void clock_init(void) {
  const u32 period_fs = *(volatile u32*)HPET_PERIOD_FS;
  if (period_fs < FS_PER_NS || period_fs > HPET_MAX_PERIOD_FS)
    kernel_panic("no HPET, which the machine option hpet=on gives", period_fs, 0);
  *(volatile u32*)HPET_CONFIGURATION |= HPET_RUN;
  clock_hpet_factor = ((u64)period_fs << 32) / FS_PER_NS;
  clock_from_hpet = true;
  if (tsc_counts_instructions()) return;

  const struct reading start = read_both();
  const u64 start_ns = clock_scale(start.hpet, clock_hpet_factor);
  while (arch_clock_ns() - start_ns < CALIBRATION_NS) arch_cpu_relax();
  const struct reading end = read_both();
  const u64 elapsed_ns = clock_scale(end.hpet - start.hpet, clock_hpet_factor);
  clock_tsc_start = start.tsc;
  clock_tsc_factor = (elapsed_ns << 32) / (end.tsc - start.tsc);
  clock_from_hpet = false;
}
