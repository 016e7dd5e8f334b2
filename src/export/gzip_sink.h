#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "export/text_sink.h"

namespace qperf::exporter {

/// Passes everything on gzip-compressed. No time and no name are in the header, so that equal contents give equal bytes with
/// one version of zlib.
class GzipSink final : public TextSink {
 public:
  /// `out` outlives this.
  explicit GzipSink(TextSink& out);
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override;

  void write(std::string_view text) override;
  /// Ends the stream; nothing may be written after it. False: zlib failed (out of memory), what was written is unusable.
  [[nodiscard]] bool finish();
  /// Compressed bytes so far.
  [[nodiscard]] uint64_t bytes_out() const noexcept { return bytes_out_; }

 private:
  struct Stream;

  void deflate_all(int flush);

  TextSink& out_;
  std::unique_ptr<Stream> stream_;
  uint64_t bytes_out_ = 0;
  bool failed_ = false;
};

}  // namespace qperf::exporter
