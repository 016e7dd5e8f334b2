#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace qperf {

uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace qperf
