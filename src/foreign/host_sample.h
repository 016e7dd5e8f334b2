#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Profiles of other tools, read into captures of format version 5. Everything read is untrusted.
namespace qperf::foreign {

/// One function of a foreign stack. Lives as long as the sample.
struct HostFrame {
  std::string_view function;  // empty: not known
  std::string_view module;    // the binary, as it was printed; empty: not known
};

/// One sample or sum of samples. Views live until the sink returns.
struct HostSample {
  std::string_view thread;  // its name; empty: not known
  uint64_t pid = 0;
  uint64_t tid = 0;
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time_ns;  // of whatever clock the tool had
  uint64_t weight = 1;
  std::vector<HostFrame> frames;  // leaf first; may be empty
};

class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual Result<void> sample(const HostSample& sample) = 0;
};

/// More frames of one stack are left out and counted.
inline constexpr size_t kMaxHostFrames = 4096;

/// What a reader saw.
struct ReadCounts {
  uint64_t samples = 0;
  uint64_t bad_lines = 0;      // neither a sample nor a frame
  uint64_t first_bad_line = 0;  // from 1
  uint64_t cut_lines = 0;      // longer than kMaxLineBytes
  uint64_t cut_stacks = 0;     // of more than kMaxHostFrames frames
};

}  // namespace qperf::foreign
