#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace_reading.h"

/// Any bytes as the text of a log.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  qperf::qemutrace::fuzzing::read_everything({reinterpret_cast<const char*>(data), size});
  return 0;
}
