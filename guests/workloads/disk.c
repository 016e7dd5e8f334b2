// Known disk I/O: three tasks read, write and flush given sectors, check what they read, and print every request.
#include "sched_record.h"
#include "virtio_blk.h"

#define MAX_REQUESTS 64
#define READER_REQUESTS 48
#define READER_FIRST_SECTOR 2048
#define READER_SECTORS 8

struct worker {
  const char* name;
  void (*run)(void*);
  u64 task_id;
  u64 count;
  u64 wrong_sectors;
  struct disk_request requests[MAX_REQUESTS];
  u64 data[DISK_MAX_SECTORS * SECTOR_BYTES / sizeof(u64)];
};

static void transfer(struct worker* worker, enum disk_operation operation, u64 sector, u32 sectors) {
  if (worker->count == MAX_REQUESTS || sectors > DISK_MAX_SECTORS) kernel_panic("too much disk I/O", worker->count, 0);
  struct disk_request* request = &worker->requests[worker->count++];
  *request = (struct disk_request){.operation = operation, .sector = sector, .sectors = sectors};
  disk_run(request, worker->data);
}

// Sector after sector: what a read-ahead likes.
static void read_in_order(void* argument) {
  struct worker* worker = argument;
  worker->task_id = task_current()->id;
  for (u64 i = 0; i < READER_REQUESTS; i++)
    transfer(worker, DISK_READ, READER_FIRST_SECTOR + i * READER_SECTORS, READER_SECTORS);
}

// Here and there, in all sizes; (4100, 8) overlaps (4096, 8) and (4103, 1).
static void write_scattered(void* argument) {
  static const struct {
    u64 sector;
    u32 sectors;
  } writes[] = {{4096, 8}, {9000, 1},  {4100, 8},  {6000, 64}, {4103, 1}, {12000, 16}, {100, 2},   {8192, 32},
                {300, 4},  {7777, 7}, {10000, 8}, {5000, 1},  {200, 3},  {11111, 11}, {13000, 64}, {50, 5}};
  struct worker* worker = argument;
  worker->task_id = task_current()->id;
  for (size_t i = 0; i < ARRAY_LENGTH(writes); i++) transfer(worker, DISK_WRITE, writes[i].sector, writes[i].sectors);
}

static u64 pattern(u64 sector, u64 word) { return (sector << 32 | word) ^ 0x5bd1e9955bd1e995; }

// Writes, flushes, reads back and compares: the driver works.
static void write_and_check(void* argument) {
  struct worker* worker = argument;
  worker->task_id = task_current()->id;
  const size_t words = SECTOR_BYTES / sizeof(u64);
  for (u64 sector = 16384; sector < 16384 + 10 * 16; sector += 16) {
    for (u64 i = 0; i < 16 * words; i++) worker->data[i] = pattern(sector + i / words, i);
    transfer(worker, DISK_WRITE, sector, 16);
    transfer(worker, DISK_FLUSH, 0, 0);
    for (u64 i = 0; i < 16 * words; i++) worker->data[i] = 0;
    transfer(worker, DISK_READ, sector, 16);
    for (u64 i = 0; i < 16 * words; i++) {
      if (worker->data[i] == pattern(sector + i / words, i)) continue;
      worker->wrong_sectors++;
      break;
    }
  }
}

static struct worker workers[] = {
    {.name = "disk_reader", .run = read_in_order},
    {.name = "disk_writer", .run = write_scattered},
    {.name = "disk_checker", .run = write_and_check},
};

static const char* operation_name(enum disk_operation operation) {
  return operation == DISK_READ ? "read" : operation == DISK_WRITE ? "write" : "flush";
}

static struct cpu* cpu_at(u32 index) {
  u32 skip = index % cpu_count();
  FOR_EACH_CPU(cpu) {
    if (skip-- == 0) return cpu;
  }
  kernel_panic("no CPU", index, 0);
}

static void run_disk(void) {
  disk_init();
  print("QG disk sectors=%lu\n", disk_sectors());
  trace_phase_begin("disk");
  struct task_group group = {0};
  for (u32 i = 0; i < ARRAY_LENGTH(workers); i++) {
    task_create(&(struct task_options){
        .name = workers[i].name, .cpu = cpu_at(i), .run = workers[i].run, .argument = &workers[i], .group = &group});
  }
  task_group_wait(&group);
  trace_phase_end("disk");
  for (size_t i = 0; i < ARRAY_LENGTH(workers); i++) {
    const struct worker* worker = &workers[i];
    for (u64 j = 0; j < worker->count; j++) {
      const struct disk_request* r = &worker->requests[j];
      print("QG io task=%lu name=%s operation=%s sector=%lu sectors=%u status=%u submitted_ns=%lu finished_ns=%lu\n",
            worker->task_id, worker->name, operation_name(r->operation), r->sector, r->sectors, r->status, r->submitted_ns,
            r->finished_ns);
    }
    print("QG io_total task=%lu name=%s requests=%lu wrong_sectors=%lu\n", worker->task_id, worker->name, worker->count,
          worker->wrong_sectors);
  }
  print_wait_records();
}

const struct workload workload = {.name = "disk", .tick_period_ns = 10 * NS_PER_MS, .run = run_disk};
