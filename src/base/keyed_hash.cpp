#include "base/keyed_hash.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdlib>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace qperf {
namespace {

struct Secrets {
  HashSecret words;
  std::array<unsigned char, XXH3_SECRET_SIZE_MIN> bytes{};
  uint64_t seed = 0;
};

Secrets draw() {
  Secrets secrets;
  std::array<uint64_t, 4> drawn{};
  if (getrandom(drawn.data(), sizeof(drawn), 0) != static_cast<ssize_t>(sizeof(drawn))) {
    // A sandbox that forbids the call: where memory lies and what time it is are not in a file written before, either.
    const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    for (size_t i = 0; i < drawn.size(); ++i) {
      const std::array<uint64_t, 3> known{reinterpret_cast<uintptr_t>(&secrets), reinterpret_cast<uintptr_t>(&draw), now};
      drawn[i] = XXH3_64bits_withSeed(known.data(), sizeof(known), i);
    }
  }
  // Odd, as a factor with trailing zeros would lose bits of the other one.
  secrets.words = {drawn[0], drawn[1] | 1};
  secrets.seed = drawn[2];
  XXH3_generateSecret(secrets.bytes.data(), secrets.bytes.size(), drawn.data(), sizeof(drawn));
  return secrets;
}

const Secrets secrets = draw();

}  // namespace

const HashSecret hash_secret = secrets.words;

uint64_t keyed_hash(std::span<const std::byte> bytes) noexcept {
  // Short ones by the seed, long ones by the secret, which need not be made of a seed each time.
  return XXH3_64bits_withSecretandSeed(bytes.data(), bytes.size(), secrets.bytes.data(), secrets.bytes.size(), secrets.seed);
}

}  // namespace qperf
