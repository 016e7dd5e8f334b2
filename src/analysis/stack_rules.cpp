#include "analysis/stack_rules.h"

namespace qperf::analysis {
namespace {

constexpr unsigned kPageShift = 12;

}  // namespace

StackRules::Facts& StackRules::facts(uint32_t era, GuestVa address) {
  const auto [position, added] = facts_[era].try_emplace(address.raw);
  if (added) position.value().place = images_.place(era, address);
  return position.value();
}

void StackRules::saw_executed(uint32_t era, GuestVa pc) {
  if (!facts(era, pc).place) executed_pages_.insert(pc.raw >> kPageShift);
}

bool StackRules::follows_call(uint32_t era, GuestVa address) {
  Facts& known = facts(era, address);
  if (!known.follows_call) known.follows_call = known.place && images_[known.place->image].follows_call(known.place->address);
  return *known.follows_call;
}

bool StackRules::can_be_returned_to(uint32_t era, GuestVa address) {
  const bool after_call = follows_call(era, address);
  Facts& known = facts(era, address);
  if (known.can_be_returned_to) return *known.can_be_returned_to;
  if (!known.place) {
    known.can_be_returned_to = executed_pages_.contains(address.raw >> kPageShift);
  } else if (after_call) {
    known.can_be_returned_to = true;
  } else {
    // Entry code puts the address of a label where a call would put its return address (ret_from_fork, ret_from_exception).
    known.can_be_returned_to = images_[known.place->image].function_start(known.place->address) == known.place->address;
  }
  return *known.can_be_returned_to;
}

bool StackRules::caller_is_in_link(uint32_t era, const capture::Site& site) {
  if (!site.link || !kernel_range_.contains(*site.link)) return false;
  Facts& known = facts(era, site.pc);
  if (!known.place) return false;
  const PlacedAddress place = *known.place;
  const symbols::Image& image = images_[place.image];
  if (!known.return_address) known.return_address = image.return_address_at(place.address);
  switch (*known.return_address) {
    case symbols::ReturnAddressAt::kSaved: return false;
    case symbols::ReturnAddressAt::kLinkRegister:
      // The frame pointer still is the caller's, so the walk began one function too far up. Equal to frames[0] is recursion.
      return can_be_returned_to(era, *site.link);
    case symbols::ReturnAddressAt::kUnknown: break;
  }
  // Assembly without CFI. A function that has saved the link and called on finds its own address in it; one that has saved it
  // and called nobody yet finds what the first frame says too. Anything else came from the caller.
  if (!follows_call(era, *site.link)) return false;
  if (!site.frames.empty() && site.frames.front() == *site.link) return false;
  const PlacedAddress caller = *facts(era, *site.link).place;
  if (caller.image != place.image) return true;
  const auto own_start = image.function_start(place.address);
  return own_start && image.function_start(caller.address) != own_start;
}

bool StackRules::was_interrupted(uint32_t era, std::optional<GuestVa> callee, GuestVa address) {
  if (!facts(era, address).place) return false;
  if (!follows_call(era, address)) return true;
  if (!callee) return false;
  // No reference outlives the next facts(): the table may grow.
  Facts& known = facts(era, address);
  const PlacedAddress place = *known.place;
  const symbols::Image& image = images_[place.image];
  if (!known.call_target) known.call_target = image.call_target(place.address);
  const auto target = *known.call_target;
  Facts& inner = facts(era, *callee);
  if (!target || !inner.place || inner.place->image != place.image) return false;
  const GuestVa call = inner.place->address - 1;  // a return address may lie behind its function's end
  if (!inner.calls_from) inner.calls_from = image.function_start(call);
  if (!*inner.calls_from || **inner.calls_from == *target) return false;
  if (!inner.calls_without_cfi)
    inner.calls_without_cfi = image.return_address_at(call) == symbols::ReturnAddressAt::kUnknown;
  return *inner.calls_without_cfi;
}

LookupId StackRules::lookup(uint32_t era, GuestVa address, Reached reached) {
  Facts& known = facts(era, address);
  std::optional<LookupId>& id = reached == Reached::kExecuted ? known.as_executed : known.as_returned_to;
  if (id) return *id;
  const Home home = known.place ? Home::kImage : kernel_range_.contains(address) ? Home::kModule : Home::kOutside;
  const PlacedAddress place = known.place.value_or(PlacedAddress{.image = 0, .address = address});
  id = lookups_.intern({.home = home, .reached = reached, .image = place.image, .address = place.address});
  return *id;
}

StackRules::Outcome StackRules::apply(uint32_t era, const capture::Site& site, std::vector<LookupId>& stack) {
  Outcome outcome;
  stack.clear();
  stack.push_back(lookup(era, site.pc, Reached::kExecuted));
  std::optional<GuestVa> callee;
  const auto push_caller = [&](GuestVa address) {
    const bool interrupted = was_interrupted(era, callee, address);
    stack.push_back(lookup(era, address, interrupted ? Reached::kExecuted : Reached::kReturnedTo));
    callee = interrupted ? std::nullopt : std::optional(address);
  };
  if (caller_is_in_link(era, site)) {
    push_caller(*site.link);
    outcome.caller_restored = true;
  }
  size_t kept = site.frames.size();
  if (!capture::is_truncated(site.stop))  // a truncated walk did not reach its root
    while (kept > 0 && !can_be_returned_to(era, site.frames[kept - 1])) --kept;
  outcome.roots_dropped = static_cast<uint32_t>(site.frames.size() - kept);
  for (size_t i = 0; i < kept; ++i) push_caller(site.frames[i]);
  return outcome;
}

}  // namespace qperf::analysis
