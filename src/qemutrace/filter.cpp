#include "qemutrace/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/printable.h"
#include "qemutrace/glob.h"

namespace qperf::qemutrace {
namespace {

constexpr std::array<std::pair<std::string_view, uint64_t>, 5> kUnits = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"", 1'000'000'000}}};

Error bad_duration(std::string_view text) {
  return Error{ErrorCode::kUsage, "time '" + printable(text) + "': expected a number with ns, us, ms or s, like 1.5s or 200ms"};
}

Result<void> check_fields(const Expression& where, const Declarations& declarations) {
  for (const std::string& field : where.fields()) {
    const bool known = std::any_of(declarations.all().begin(), declarations.all().end(), [&](const Declaration& d) {
      return std::any_of(d.arguments.begin(), d.arguments.end(), [&](const Argument& a) { return a.name == field; });
    });
    if (!known && field != "num_events_dropped" && field != "__cpu")
      return Error{ErrorCode::kUsage,
                   "condition: no event has a field '" + printable(field) + "'; fields are the declared argument names"};
  }
  return {};
}

}  // namespace

Result<uint64_t> parse_duration_ns(std::string_view text) {
  uint64_t whole = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (failure != std::errc{}) return bad_duration(text);
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  std::string_view digits;
  if (rest.starts_with('.')) {
    const size_t length = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    digits = rest.substr(1, std::min<size_t>(length - 1, 9));
    if (digits.empty()) return bad_duration(text);
    rest.remove_prefix(length);
  }
  for (const auto& [unit, ns] : kUnits) {
    if (rest != unit) continue;
    uint64_t out = 0;
    if (__builtin_mul_overflow(whole, ns, &out)) return bad_duration(text);
    uint64_t part_ns = ns;
    for (const char digit : digits) {
      part_ns /= 10;
      if (__builtin_add_overflow(out, static_cast<uint64_t>(digit - '0') * part_ns, &out)) return bad_duration(text);
    }
    return out;
  }
  return bad_duration(text);
}

Result<Filter> Filter::make(const FilterOptions& options, const Declarations& declarations) {
  Filter out;
  for (const std::string& list : options.events) {
    for (std::string_view rest = list;;) {
      const size_t comma = rest.find(',');
      std::string_view item = rest.substr(0, comma);
      const bool excludes = item.starts_with('-');
      if (excludes) item.remove_prefix(1);
      if (item.empty())
        return Error{ErrorCode::kUsage, "event pattern '" + printable(list) + "': expected names or globs between the commas"};
      out.patterns_.push_back({std::string(item), excludes});
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  if (!options.from.empty()) {
    QPERF_ASSIGN_OR_RETURN(out.from_ns_, parse_duration_ns(options.from));
  }
  if (!options.until.empty()) {
    QPERF_ASSIGN_OR_RETURN(out.until_ns_, parse_duration_ns(options.until));
  }
  if (!options.where.empty()) {
    QPERF_ASSIGN_OR_RETURN(out.where_, Expression::parse(options.where));
    QPERF_RETURN_IF_ERROR(check_fields(*out.where_, declarations));
  }
  out.trivial_ = out.patterns_.empty() && !out.from_ns_ && !out.until_ns_ && !out.where_;
  return out;
}

bool Filter::name_wanted(const EventInfo& info) {
  if (info.index >= decided_.size()) decided_.resize(std::max<size_t>(info.index + 1, decided_.size() * 2));
  uint8_t& decided = decided_[info.index];
  if (decided == 0) {
    // As QEMU reads them: patterns add up in order, and "-x" alone means all but x.
    bool wanted = patterns_.front().excludes;
    for (const Pattern& pattern : patterns_) {
      if (glob_matches(pattern.glob, info.name)) wanted = !pattern.excludes;
    }
    decided = wanted ? 1 : 2;
  }
  return decided == 1;
}

bool Filter::keeps(const Event& event) {
  if (trivial_) return true;
  if (!origin_ns_) origin_ns_ = event.time_ns;
  // A record stamped before the first one (another thread) counts as at the origin.
  const uint64_t since_ns = event.time_ns > *origin_ns_ ? event.time_ns - *origin_ns_ : 0;
  if (from_ns_ && since_ns < *from_ns_) return false;
  if (until_ns_ && since_ns >= *until_ns_) return false;
  if (event.is_loss) return true;
  if (!patterns_.empty() && !name_wanted(*event.info)) return false;
  return !where_ || (event.state == ValueState::kDecoded && where_->holds(event));
}

}  // namespace qperf::qemutrace
