#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/image_set.h"
#include "analysis/lookups.h"
#include "base/keyed_hash.h"
#include "base/types.h"
#include "capture/records.h"
#include "profile/ids.h"

namespace qperf::analysis {

/// Turns what the recorder saw into what the stack was: puts back the caller that only the link register knows, takes away roots
/// that are no return addresses, and tells those from the places where an exception interrupted. Every question about an address is asked once.
class StackRules {
 public:
  StackRules(const ImageSet& images, GuestRange kernel_range, LookupTable& lookups)
      : images_(images), kernel_range_(kernel_range), lookups_(lookups), facts_(images.eras()) {}

  /// Code outside the ELFs is known by having been executed: announce each pc before the first apply().
  void saw_executed(uint32_t era, GuestVa pc);

  struct Outcome {
    bool caller_restored = false;
    uint32_t roots_dropped = 0;
  };

  /// Fills `stack`, leaf first: the pc's lookup, then the callers'.
  Outcome apply(uint32_t era, const capture::Site& site, std::vector<LookupId>& stack);

 private:
  /// What is known about a run-time address in one era.
  struct Facts {
    std::optional<PlacedAddress> place;
    std::optional<bool> can_be_returned_to;
    std::optional<bool> follows_call;
    std::optional<std::optional<GuestVa>> call_target;  // of the call in front of it; link-time
    std::optional<std::optional<GuestVa>> calls_from;   // the start of the function whose call it returns to; link-time
    std::optional<bool> calls_without_cfi;              // that function is assembly without CFI
    std::optional<symbols::ReturnAddressAt> return_address;
    std::optional<LookupId> as_executed;
    std::optional<LookupId> as_returned_to;
  };

  Facts& facts(uint32_t era, GuestVa address);
  bool follows_call(uint32_t era, GuestVa address);
  bool can_be_returned_to(uint32_t era, GuestVa address);
  /// Whether a frame's address is where an exception interrupted, not where a call returns to. An address behind no call is
  /// recognized by that. One behind a call by `callee`, the address one frame further in if a call returns there: a function that
  /// the call does not go to, that calls on and that is assembly without CFI, as exception entries are. A leaf without CFI that
  /// was interrupted itself is no such: the frame that misses between it and its caller's caller explains the other target.
  bool was_interrupted(uint32_t era, std::optional<GuestVa> callee, GuestVa address);
  bool caller_is_in_link(uint32_t era, const capture::Site& site);
  LookupId lookup(uint32_t era, GuestVa address, Reached reached);

  const ImageSet& images_;
  GuestRange kernel_range_;
  LookupTable& lookups_;
  std::vector<tsl::robin_map<uint64_t, Facts, KeyedHash>> facts_;  // by era
  tsl::robin_set<uint64_t, KeyedHash> executed_pages_;             // of code outside the ELFs
};

}  // namespace qperf::analysis
