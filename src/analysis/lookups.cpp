#include "analysis/lookups.h"

namespace qperf::analysis {

LookupId LookupTable::intern(const Lookup& lookup) {
  const auto [position, added] = ids_.try_emplace(lookup, static_cast<uint32_t>(lookups_.size()));
  if (added) lookups_.push_back(lookup);
  return LookupId{position->second};
}

}  // namespace qperf::analysis
