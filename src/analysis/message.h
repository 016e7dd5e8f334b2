#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qperf::analysis {

enum class Severity : uint8_t {
  kNote,     // worth knowing, changes nothing
  kWarning,  // weakens the result
};

/// A line for the user, without the program's name.
struct Message {
  Severity severity;
  std::string text;
};

using Messages = std::vector<Message>;

}  // namespace qperf::analysis
