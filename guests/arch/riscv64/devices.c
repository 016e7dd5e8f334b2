#include "devices.h"

#include "kernel.h"

#define VIRTIO_BASE (DEVICES_VA + 0x10001000ul)
#define VIRTIO_STRIDE 0x1000ul
#define VIRTIO_FIRST_IRQ 1

#define PLIC_BASE (DEVICES_VA + 0x0c000000ul)
#define PLIC_ENABLE 0x2000ul
#define PLIC_ENABLE_STRIDE 0x80ul
#define PLIC_CONTEXT 0x200000ul
#define PLIC_CONTEXT_STRIDE 0x1000ul
#define PLIC_THRESHOLD 0ul
#define PLIC_CLAIM 4ul

static volatile u32* plic(u64 offset) { return (volatile u32*)(PLIC_BASE + offset); }

// Each hart has two contexts: machine mode's, then supervisor mode's.
static u64 context(void) { return 2ul * this_cpu()->number + 1; }

static volatile u32* claim_register(void) { return plic(PLIC_CONTEXT + PLIC_CONTEXT_STRIDE * context() + PLIC_CLAIM); }

u64 arch_virtio_registers(u32 slot) { return VIRTIO_BASE + VIRTIO_STRIDE * slot; }

u64 arch_physical_address(const void* data) { return (u64)data - KERNEL_OFFSET; }

void arch_device_irq_enable(u32 slot) {
  const u64 flags = arch_irq_save();
  const u32 irq = VIRTIO_FIRST_IRQ + slot;
  *plic(4ul * irq) = 1;
  *plic(PLIC_ENABLE + PLIC_ENABLE_STRIDE * context()) |= 1u << irq;
  *plic(PLIC_CONTEXT + PLIC_CONTEXT_STRIDE * context() + PLIC_THRESHOLD) = 0;
  arch_irq_restore(flags);
}

void arch_device_irq_done(u32 slot) { *claim_register() = VIRTIO_FIRST_IRQ + slot; }

bool claim_device_irq(u32* slot) {
  const u32 irq = *claim_register();
  *slot = irq - VIRTIO_FIRST_IRQ;
  return irq >= VIRTIO_FIRST_IRQ && *slot < ARCH_VIRTIO_SLOTS;
}
