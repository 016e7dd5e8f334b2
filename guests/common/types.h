#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
// `unsigned long`, so that one print format (%lu) fits on all four LP64 targets.
typedef unsigned long u64;

_Static_assert(sizeof(u64) == 8, "every target is LP64");

#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE static inline __attribute__((always_inline, unused))
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define NS_PER_MS 1000000ul
