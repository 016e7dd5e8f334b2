#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "export/text_sink.h"

namespace qperf::exporter {

/// A file that appears whole or not at all: written without a name where the file system allows that, so that nothing is left of a
/// program that is killed, else beside its place under another name; then renamed. "-" is stdout, and what exists but is no regular file (a pipe, a device) is written directly.
class OutputFile final : public TextSink {
 public:
  [[nodiscard]] static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes what was not committed.
  ~OutputFile() override;

  /// Buffered.
  void write(std::string_view text) override;
  /// Writes the rest and closes; tells the first failure of all writes. Nothing may be written after it.
  [[nodiscard]] Result<void> finish();
  /// finish(), then puts the file in its place.
  [[nodiscard]] Result<void> commit();

 private:
  OutputFile(std::string path, std::string temporary, int descriptor);
  void flush();

  std::string path_;       // as named in messages
  std::string temporary_;  // its name until it is committed; empty: it has none, or is written directly
  std::string target_;     // what path_ points to, behind symbolic links; empty: written directly
  int descriptor_;
  int error_ = 0;  // errno of the first failed write
  std::string buffer_;
};

}  // namespace qperf::exporter
