#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/writer.h"
#include "foreign/capture_import.h"
#include "foreign/folded_text.h"
#include "foreign/line_reader.h"
#include "foreign/perf_script.h"

namespace {

class Nowhere final : public qperf::capture::ByteSink {
 public:
  qperf::Result<void> write(std::span<const std::byte>) override { return {}; }
};

/// Everything that the reader finds must fit into a capture.
template <typename Reader>
void import(std::string_view text, const char* format) {
  Nowhere nowhere;
  qperf::foreign::CaptureImport sink(nowhere, {.format = format, .start_monotonic_ns = std::nullopt});
  Reader reader(sink);
  const auto read =
      qperf::foreign::split_lines(text, [&](std::string_view line, bool cut) { return reader.line(line, cut); });
  if (!read) std::abort();
  if constexpr (requires { reader.finish(); }) {
    if (!reader.finish()) std::abort();
  }
  if (reader.counts().samples != sink.counts().samples + sink.counts().before_start) std::abort();
  if (!sink.finish("names.elf")) std::abort();
}

}  // namespace

/// Any bytes as the text of perf script, and as folded stacks.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  import<qperf::foreign::PerfScriptReader>(text, "perf script");
  import<qperf::foreign::FoldedReader>(text, "folded");
  return 0;
}
