#include "virtio_blk.h"

#include "sched.h"

#define REG_MAGIC 0x000
#define REG_VERSION 0x004
#define REG_DEVICE 0x008
#define REG_DEVICE_FEATURES 0x010
#define REG_DEVICE_FEATURES_SELECT 0x014
#define REG_DRIVER_FEATURES 0x020
#define REG_DRIVER_FEATURES_SELECT 0x024
#define REG_PAGE_BYTES 0x028
#define REG_QUEUE_SELECT 0x030
#define REG_QUEUE_MAX 0x034
#define REG_QUEUE_SIZE 0x038
#define REG_QUEUE_ALIGN 0x03c
#define REG_QUEUE_PAGE 0x040
#define REG_QUEUE_NOTIFY 0x050
#define REG_INTERRUPT_STATUS 0x060
#define REG_INTERRUPT_ACK 0x064
#define REG_STATUS 0x070
#define REG_CAPACITY 0x100

#define MAGIC 0x74726976u
#define DEVICE_BLOCK 2
#define FEATURE_FLUSH (1u << 9)
#define STATUS_DRIVER 3u
#define STATUS_DRIVER_OK 4u

#define PAGE_BYTES 4096
#define QUEUE_SIZE 32
#define DESCRIPTORS_PER_REQUEST 3
#define DESCRIPTOR_NEXT 1
#define DESCRIPTOR_DEVICE_WRITES 2

struct descriptor {
  u64 address;
  u32 bytes;
  u16 flags;
  u16 next;
};

// The queue as version 1 lays it out: the used ring begins a page.
static struct {
  struct descriptor descriptors[QUEUE_SIZE];
  u16 available_flags;
  u16 available_index;
  u16 available[QUEUE_SIZE + 1];
  __attribute__((aligned(PAGE_BYTES))) u16 used_flags;
  u16 used_index;
  struct {
    u32 head;
    u32 bytes;
  } used[QUEUE_SIZE];
  u16 used_event;
} queue __attribute__((aligned(PAGE_BYTES)));
_Static_assert(QUEUE_SIZE >= DISK_REQUESTS * DESCRIPTORS_PER_REQUEST, "every request has its own descriptors");

// Guarded, like all here, by the scheduler's lock.
static struct {
  // NULL: free. It stays in use until its task has read the status.
  struct task* task;
  bool done;
  struct {
    u32 operation;
    u32 reserved;
    u64 sector;
  } header;
  u8 status;
} requests[DISK_REQUESTS];

static u32 disk_slot;
static u16 used_seen;

static volatile u32* reg(u64 offset) { return (volatile u32*)(arch_virtio_registers(disk_slot) + offset); }

// NOINLINE: profilers are to find who rings the device.
static NOINLINE void notify_device(void) { *reg(REG_QUEUE_NOTIFY) = 0; }

static NOINLINE void acknowledge_device(void) { *reg(REG_INTERRUPT_ACK) = *reg(REG_INTERRUPT_STATUS); }

static void finish_requests(u32 slot) {
  const u64 flags = sched_lock();
  acknowledge_device();
  while (used_seen != __atomic_load_n(&queue.used_index, __ATOMIC_ACQUIRE)) {
    const u32 index = queue.used[used_seen++ % QUEUE_SIZE].head / DESCRIPTORS_PER_REQUEST;
    if (index >= DISK_REQUESTS || !requests[index].task || requests[index].done)
      kernel_panic("a disk request that is not under way", index, 0);
    requests[index].done = true;
    task_wake(requests[index].task, WAKE_BY_DEVICE, slot);
  }
  sched_unlock(flags);
  arch_device_irq_done(slot);
}

static bool is_disk(u32 slot) {
  disk_slot = slot;
  return *reg(REG_MAGIC) == MAGIC && *reg(REG_DEVICE) == DEVICE_BLOCK;
}

void disk_init(void) {
  u32 slot = 0;
  while (slot < ARCH_VIRTIO_SLOTS && !is_disk(slot)) slot++;
  if (slot == ARCH_VIRTIO_SLOTS) kernel_panic("no virtio-blk device", slot, 0);
  if (*reg(REG_VERSION) != 1) kernel_panic("virtio-mmio of another version than 1", *reg(REG_VERSION), 0);
  *reg(REG_STATUS) = 0;
  *reg(REG_STATUS) = STATUS_DRIVER;
  *reg(REG_DEVICE_FEATURES_SELECT) = 0;
  if (!(*reg(REG_DEVICE_FEATURES) & FEATURE_FLUSH)) kernel_panic("a disk that cannot flush", *reg(REG_DEVICE_FEATURES), 0);
  *reg(REG_DRIVER_FEATURES_SELECT) = 0;
  *reg(REG_DRIVER_FEATURES) = FEATURE_FLUSH;
  *reg(REG_PAGE_BYTES) = PAGE_BYTES;
  *reg(REG_QUEUE_SELECT) = 0;
  if (*reg(REG_QUEUE_MAX) < QUEUE_SIZE) kernel_panic("a queue too small", *reg(REG_QUEUE_MAX), 0);
  *reg(REG_QUEUE_SIZE) = QUEUE_SIZE;
  *reg(REG_QUEUE_ALIGN) = PAGE_BYTES;
  *reg(REG_QUEUE_PAGE) = (u32)(arch_physical_address(&queue) / PAGE_BYTES);
  device_interrupt = finish_requests;
  arch_device_irq_enable(slot);
  *reg(REG_STATUS) = STATUS_DRIVER | STATUS_DRIVER_OK;
}

u64 disk_sectors(void) { return *reg(REG_CAPACITY) | (u64)*reg(REG_CAPACITY + 4) << 32; }

static u32 free_request(void) {
  for (u32 i = 0; i < DISK_REQUESTS; i++) {
    if (!requests[i].task) return i;
  }
  kernel_panic("too many disk requests at once", DISK_REQUESTS, 0);
}

static void describe(u32 index, const struct disk_request* request, void* data) {
  const u16 first = (u16)(index * DESCRIPTORS_PER_REQUEST);
  struct descriptor* at = &queue.descriptors[first];
  requests[index].header.operation = request->operation;
  requests[index].header.sector = request->operation == DISK_FLUSH ? 0 : request->sector;
  *at = (struct descriptor){arch_physical_address(&requests[index].header), sizeof requests[index].header, DESCRIPTOR_NEXT,
                            (u16)(first + 1)};
  at++;
  if (request->operation != DISK_FLUSH) {
    const u16 direction = request->operation == DISK_READ ? DESCRIPTOR_DEVICE_WRITES : 0;
    *at = (struct descriptor){arch_physical_address(data), request->sectors * SECTOR_BYTES,
                              (u16)(DESCRIPTOR_NEXT | direction), (u16)(first + 2)};
    at++;
  }
  *at = (struct descriptor){arch_physical_address(&requests[index].status), 1, DESCRIPTOR_DEVICE_WRITES, 0};
  queue.available[queue.available_index % QUEUE_SIZE] = first;
}

void disk_run(struct disk_request* request, void* data) {
  const u64 flags = sched_lock();
  const u32 index = free_request();
  requests[index].task = task_current();
  requests[index].done = false;
  describe(index, request, data);
  request->submitted_ns = arch_clock_ns();
  task_block(request->operation == DISK_READ ? WAIT_DISK_READ : WAIT_DISK_WRITE, arch_virtio_registers(disk_slot),
             request->sector);
  // The device sees the chain before the index.
  __atomic_store_n(&queue.available_index, (u16)(queue.available_index + 1), __ATOMIC_RELEASE);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  notify_device();
  task_wait();
  request->finished_ns = arch_clock_ns();
  request->status = requests[index].status;
  requests[index].task = NULL;
  sched_unlock(flags);
}
