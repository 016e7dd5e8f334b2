#include "analysis/ruled_stacks.h"

#include <tsl/robin_map.h>

#include <array>

#include "base/keyed_hash.h"

namespace qperf::analysis {

RuledStacks::RuledStacks(const Collector& collector, const ImageSet& images, GuestRange kernel_range) {
  StackRules rules(images, kernel_range, lookups_);
  const auto count = static_cast<uint32_t>(collector.raw_stacks());
  // Every pc is announced before the first rule is applied.
  std::vector<RawStack> first_of_walk;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> walk_of;  // era << 32 | site
  capture::Site site;
  for (uint32_t id = 0; id < count; ++id) {
    const RawStack raw = collector.raw_stack(profile::StackId{id});
    const auto [position, added] =
        walk_of.try_emplace(uint64_t{raw.era} << 32 | raw.site.raw, static_cast<uint32_t>(first_of_walk.size()));
    walk_of_raw_.push_back(position->second);
    if (!added) continue;
    first_of_walk.push_back(raw);
    collector.read(raw.site, site);
    rules.saw_executed(raw.era, site.pc);
  }
  std::vector<LookupId> lookups;
  std::vector<uint32_t> words;
  for (const RawStack& raw : first_of_walk) {
    collector.read(raw.site, site);
    Walk& walk = walks_.emplace_back();
    walk.stop = site.stop;
    walk.outcome = rules.apply(raw.era, site, lookups);
    words.clear();
    for (const LookupId lookup : lookups) words.push_back(lookup.raw);
    walk.body = bodies_.intern(words);
  }
  for (uint32_t id = 0; id < count; ++id) {
    const uint32_t root = collector.raw_stack(profile::StackId{id}).root;
    ruled_of_raw_.push_back(stacks_.intern(std::array{root, walks_[walk_of_raw_[id]].body.raw}));
  }
}

}  // namespace qperf::analysis
