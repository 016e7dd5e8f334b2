#include "sched_record.h"

#define MAX_WAIT_RECORDS 8192
#define MAX_QUEUE_RECORDS 8192
#define MAX_TASK_RECORDS 512

static struct wait_record waits[MAX_WAIT_RECORDS];
static u64 wait_count;
static u64 waits_dropped;
static struct queue_record queued[MAX_QUEUE_RECORDS];
static u64 queued_count;
static u64 queued_dropped;
static struct task_record records[MAX_TASK_RECORDS];
static u64 record_count;
static u64 records_dropped;

void record_wait(const struct wait_record* record) {
  if (wait_count == MAX_WAIT_RECORDS) {
    waits_dropped++;
    return;
  }
  waits[wait_count++] = *record;
}

void record_queue(const struct queue_record* record) {
  if (queued_count == MAX_QUEUE_RECORDS) {
    queued_dropped++;
    return;
  }
  queued[queued_count++] = *record;
}

void record_task(const struct task* task) {
  if (record_count == MAX_TASK_RECORDS) {
    records_dropped++;
    return;
  }
  struct task_record* record = &records[record_count++];
  *record = (struct task_record){.id = task->id,
                                 .tid = task->tid,
                                 .state = task->state,
                                 .run_ns = task->run_ns,
                                 .runnable_ns = task->runnable_ns,
                                 .blocked_ns = task->blocked_ns,
                                 .switches = task->switches,
                                 .preemptions = task->preemptions,
                                 .migrations = task->migrations};
  for (size_t i = 0; i <= TASK_NAME_BYTES; i++) record->name[i] = task->name[i];
}

void print_wait_records(void) {
  for (u64 i = 0; i < wait_count; i++) {
    const struct wait_record* wait = &waits[i];
    print("QG wait task=%lu sequence=%lu reason=%u blocked_ns=%lu runnable_ns=%lu early=%u kept_cpu=%u\n", wait->task_id,
          wait->sequence, wait->reason, wait->blocked_ns, wait->runnable_ns, wait->early, wait->kept_cpu);
  }
  print("QG waits count=%lu dropped=%lu\n", wait_count, waits_dropped);
}

void print_queue_records(void) {
  for (u64 i = 0; i < queued_count; i++) {
    const struct queue_record* record = &queued[i];
    print("QG queued task=%lu reason=%u runnable_ns=%lu\n", record->task_id, record->reason, record->runnable_ns);
  }
  print("QG queueds count=%lu dropped=%lu\n", queued_count, queued_dropped);
}

void print_task_records(void) {
  for (u64 i = 0; i < record_count; i++) {
    const struct task_record* task = &records[i];
    print("QG task id=%lu tid=%lu name=%s state=%u run_ns=%lu runnable_ns=%lu blocked_ns=%lu switches=%lu preemptions=%lu ",
          task->id, task->tid, task->name, task->state, task->run_ns, task->runnable_ns, task->blocked_ns, task->switches,
          task->preemptions);
    print("migrations=%lu\n", task->migrations);
  }
  print("QG tasks count=%lu dropped=%lu\n", record_count, records_dropped);
}
