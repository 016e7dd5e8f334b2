#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace qperf {

/// What makes hashes differ from process to process: drawn once, before main().
struct HashSecret {
  uint64_t first = 0;
  uint64_t second = 0;
};
extern const HashSecret hash_secret;

/// The hash of two words whose values a guest or a file may choose. Without the secret nobody can tell which of them meet in a table's
/// bucket: keys made to meet would cost a look-up time, and a tsl::robin_map memory, as that doubles when it has to probe far.
/// One multiplication, its halves folded so that every bit of both words reaches the low bits, which choose the bucket.
[[nodiscard]] inline uint64_t keyed_hash(uint64_t first, uint64_t second) noexcept {
  __extension__ typedef unsigned __int128 Wide;  // NOLINT: `using` cannot carry the marker that -Wpedantic wants
  const Wide product = static_cast<Wide>(first ^ hash_secret.first) * (second ^ hash_secret.second);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// The same for bytes: XXH3 with a secret of its own.
[[nodiscard]] uint64_t keyed_hash(std::span<const std::byte> bytes) noexcept;

/// For the hash tables: of an integer, or of a text. Every tsl::robin_map has it, or a hash made of keyed_hash() (a test of structure).
/// The order of iteration differs from run to run: no output may depend on it.
struct KeyedHash {
  using is_transparent = void;
  size_t operator()(uint64_t key) const noexcept { return keyed_hash(key, 0); }
  size_t operator()(std::string_view text) const noexcept { return keyed_hash(std::as_bytes(std::span(text))); }
};

}  // namespace qperf
