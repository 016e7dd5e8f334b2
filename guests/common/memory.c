// The compiler calls these by name even in freestanding code.
#include "types.h"

void* memset(void* target, int value, size_t size);
void* memcpy(void* restrict target, const void* restrict source, size_t size);
void* memmove(void* target, const void* source, size_t size);
int memcmp(const void* left, const void* right, size_t size);

void* memset(void* target, int value, size_t size) {
  u8* bytes = target;
  for (size_t i = 0; i < size; i++) bytes[i] = (u8)value;
  return target;
}

void* memcpy(void* restrict target, const void* restrict source, size_t size) {
  u8* to = target;
  const u8* from = source;
  for (size_t i = 0; i < size; i++) to[i] = from[i];
  return target;
}

void* memmove(void* target, const void* source, size_t size) {
  u8* to = target;
  const u8* from = source;
  if (to < from) return memcpy(target, source, size);
  while (size--) to[size] = from[size];
  return target;
}

int memcmp(const void* left, const void* right, size_t size) {
  const u8* a = left;
  const u8* b = right;
  for (size_t i = 0; i < size; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}
