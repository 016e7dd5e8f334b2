#pragma once

#include "arch.h"

struct spinlock {
  u32 held;
};

ALWAYS_INLINE void spin_lock(struct spinlock* lock) {
  while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(&lock->held, __ATOMIC_RELAXED)) arch_cpu_relax();
  }
}

ALWAYS_INLINE void spin_unlock(struct spinlock* lock) { __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE); }
