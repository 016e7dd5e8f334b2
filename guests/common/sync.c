#include "sync.h"

static void append_current(struct wait_queue* queue) {
  struct task* task = task_current();
  task->queue_next = NULL;
  if (queue->tail) queue->tail->queue_next = task;
  if (!queue->tail) queue->head = task;
  queue->tail = task;
}

static struct task* take_first(struct wait_queue* queue) {
  struct task* task = queue->head;
  if (!task) return NULL;
  queue->head = task->queue_next;
  if (!queue->head) queue->tail = NULL;
  return task;
}

void wait_queue_wait(struct wait_queue* queue) {
  append_current(queue);
  task_block(WAIT_QUEUE, (u64)queue, 0);
  task_wait();
}

bool wait_queue_wake_one(struct wait_queue* queue) {
  struct task* task = take_first(queue);
  if (!task) return false;
  task_wake(task, WAKE_BY_TASK, task_current()->id);
  return true;
}

void mutex_lock(struct mutex* mutex) {
  const u64 flags = sched_lock();
  if (mutex->owner) {
    append_current(&mutex->waiters);
    task_block(WAIT_MUTEX, (u64)mutex, 0);
    task_wait();
  } else {
    mutex->owner = task_current();
  }
  sched_unlock(flags);
}

void mutex_unlock(struct mutex* mutex) {
  const u64 flags = sched_lock();
  mutex->owner = take_first(&mutex->waiters);
  if (mutex->owner) task_wake(mutex->owner, WAKE_BY_TASK, task_current()->id);
  sched_unlock(flags);
}
