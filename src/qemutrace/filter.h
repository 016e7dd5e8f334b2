#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "qemutrace/expression.h"

namespace qperf::qemutrace {

/// "1.5s", "200ms", "10us", "7ns", "3" (seconds) as nanoseconds.
Result<uint64_t> parse_duration_ns(std::string_view text);

struct FilterOptions {
  std::vector<std::string> events;  // globs, each may hold several separated by commas; a leading '-' takes events away
  std::string from;                 // since the first record of the trace; empty: no bound
  std::string until;                // exclusive
  std::string where;                // Expression; empty: none
};

/// Chooses events by name, time since the first record, and condition. Loss records pass where their time does: a gap is a gap
/// in whatever is looked at.
class Filter {
 public:
  Filter() = default;
  /// A field that no declaration has is a usage error: it would match nothing, silently.
  static Result<Filter> make(const FilterOptions& options, const Declarations& declarations);

  /// Must be asked for every event in the file's order: the first sets the time origin.
  [[nodiscard]] bool keeps(const Event& event);
  [[nodiscard]] bool passes_all() const noexcept { return trivial_; }

 private:
  struct Pattern {
    std::string glob;
    bool excludes;
  };
  [[nodiscard]] bool name_wanted(const EventInfo& info);

  bool trivial_ = true;
  std::vector<Pattern> patterns_;
  std::vector<uint8_t> decided_;  // by EventInfo::index: 0 not yet, 1 wanted, 2 not
  std::optional<uint64_t> from_ns_;
  std::optional<uint64_t> until_ns_;
  std::optional<Expression> where_;
  std::optional<uint64_t> origin_ns_;
};

}  // namespace qperf::qemutrace
