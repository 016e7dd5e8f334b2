// Wait queues and the mutex, on the scheduler's lock.
#pragma once

#include "sched.h"

// With the lock held, which is free while the task waits. Somebody else may have been faster: check the condition again.
void wait_queue_wait(struct wait_queue* queue);
// With the lock held. False when nobody waits.
bool wait_queue_wake_one(struct wait_queue* queue);

// Handed over to the longest waiter at unlock: no waiter starves, and each wait is one block and one wake.
struct mutex {
  struct task* owner;
  struct wait_queue waiters;
};

void mutex_lock(struct mutex* mutex);
void mutex_unlock(struct mutex* mutex);
