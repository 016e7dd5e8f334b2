#include <cstddef>
#include <cstdint>

#include "emulator.h"

/// The C library's own names for what the program's malloc stands in front of.
extern "C" {
void* __libc_malloc(size_t size);              // NOLINT
void* __libc_calloc(size_t count, size_t size);  // NOLINT
void* __libc_realloc(void* old, size_t size);  // NOLINT
}

namespace {
// Initial-exec storage needs no allocation itself, which malloc could not do.
thread_local uint64_t allocations __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace

// Exported, so that the plugin, glib and the C++ library come here as well.
extern "C" {
__attribute__((visibility("default"))) void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
}

namespace fake_qemu {
uint64_t allocations_of_this_thread() { return allocations; }
}  // namespace fake_qemu
