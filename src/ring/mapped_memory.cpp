#include "ring/mapped_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace qperf::ring {

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

Result<MappedMemory> MappedMemory::allocate(size_t size_bytes, const char* purpose) {
  void* data =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Error{ErrorCode::kLimit, std::string(purpose) + ": the host refuses " + std::to_string(size_bytes >> 20) +
                                        " MiB of address space (" + std::strerror(errno) +
                                        "); ask for less with queue= or max_frames="};
  return MappedMemory(static_cast<std::byte*>(data), size_bytes);
}

}  // namespace qperf::ring
