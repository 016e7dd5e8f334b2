#include <cstddef>
#include <cstdint>
#include <string>

#include "trace_reading.h"

/// Any bytes behind a header of each version and byte order, and as they are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  static constexpr uint8_t kVersions[] = {4, 3, 2, 0};
  const bool big = (*data & 4U) != 0;
  std::string header(8, '\xff');
  const std::string magic("\xf2\xb1\x77\xcb\x0a\xa4\x29\xb4", 8);
  header += big ? magic : std::string(magic.rbegin(), magic.rend());
  std::string version(8, '\0');
  version[big ? 7 : 0] = static_cast<char>(kVersions[*data & 3U]);
  header += version;
  if ((*data & 8U) != 0) header.clear();
  qperf::qemutrace::fuzzing::read_everything(header + body);
  return 0;
}
