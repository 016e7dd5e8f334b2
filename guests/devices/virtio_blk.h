// A virtio-blk disk behind virtio-mmio (version 1, what QEMU's machines have by default): one queue, one interrupt.
#pragma once

#include "types.h"

#define SECTOR_BYTES 512
// Requests that can be under way at once: one per task that uses the disk.
#define DISK_REQUESTS 8
#define DISK_MAX_SECTORS 64

enum disk_operation { DISK_READ = 0, DISK_WRITE = 1, DISK_FLUSH = 4 };

// What one request was, and when: beside its block event, and once its task ran again.
struct disk_request {
  enum disk_operation operation;
  u64 sector;
  u32 sectors;
  // The device's answer: 0 done.
  u8 status;
  u64 submitted_ns;
  u64 finished_ns;
};

// Finds and starts the first disk; its interrupts go to this CPU. Once, by a task. A machine without one is a panic.
void disk_init(void);
u64 disk_sectors(void);

// Does one request and waits for it as the scheduler's marker has it, for a read or a write (a flush counts as one): reasons 10
// and 11, resource the slot's registers, detail the first sector. `data` is kernel memory, unused for a flush.
void disk_run(struct disk_request* request, void* data);
