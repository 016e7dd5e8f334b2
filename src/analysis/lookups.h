#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "profile/ids.h"

namespace qperf::analysis {

/// Where an address belongs that is to get a name.
enum class Home : uint8_t {
  kImage,    // the text of an ELF
  kModule,   // the kernel's range, but no ELF that was given
  kOutside,  // neither
};

/// How it was reached: a return address names the instruction before it.
enum class Reached : uint8_t { kExecuted, kReturnedTo };

/// One address to be named once, however many stacks have it.
struct Lookup {
  Home home = Home::kOutside;
  Reached reached = Reached::kExecuted;
  uint32_t image = 0;  // with kImage
  GuestVa address;     // link-time with kImage, else run-time

  friend bool operator==(const Lookup&, const Lookup&) = default;

  /// The address whose name counts: the call's for a return address.
  [[nodiscard]] GuestVa named_address() const noexcept { return reached == Reached::kReturnedTo ? address - 1 : address; }
};

/// Dense from 0 in order of first sight.
struct LookupId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(LookupId, LookupId) = default;
};

/// Distinct lookups.
class LookupTable {
 public:
  LookupId intern(const Lookup& lookup);
  [[nodiscard]] std::span<const Lookup> all() const noexcept { return lookups_; }

 private:
  struct Hash {
    size_t operator()(const Lookup& lookup) const noexcept {
      const uint64_t where =
          (uint64_t{lookup.image} << 8) | (static_cast<uint64_t>(lookup.home) << 1) | static_cast<uint64_t>(lookup.reached);
      return keyed_hash(lookup.address.raw, where);
    }
  };
  std::vector<Lookup> lookups_;
  tsl::robin_map<Lookup, uint32_t, Hash> ids_;
};

}  // namespace qperf::analysis
