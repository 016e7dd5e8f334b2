#include "tools/qperf/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tools/qperf/terminal.h"

namespace qperf::tools {

int write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kDone;
  if (errno == EPIPE) return kDone;
  return report_error(Error{ErrorCode::kIo, std::string("standard output: ") + std::strerror(errno)});
}

}  // namespace qperf::tools
