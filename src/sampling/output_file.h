#pragma once

#include <string>

#include "base/result.h"
#include "capture/writer.h"

namespace qperf::sampling {

/// The capture on disk: created or emptied, and locked against a second writer for the life of this object.
class OutputFile final : public capture::ByteSink {
 public:
  OutputFile() = default;
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Empties the file only after the lock is held, so that a running capture never loses its bytes to a second one.
  Result<void> open(const std::string& path);
  Result<void> write(std::span<const std::byte> bytes) override;
  /// Reports what the last writes may have left undone; the lock goes with it.
  Result<void> close();

 private:
  int fd_ = -1;
  std::string path_;
};

}  // namespace qperf::sampling
