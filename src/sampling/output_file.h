#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "capture/writer.h"

namespace qperf::sampling {

/// The capture on disk, locked against a second writer for the life of this object. What the file held before is kept until
/// empty(): a start that is refused later costs nobody a capture.
class OutputFile final : public capture::ByteSink {
 public:
  OutputFile() = default;
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Opens or creates and locks the file, whose bytes stay. A file that is created here and never emptied is removed again.
  Result<void> open(const std::string& path);
  /// Forgets what the file held; writing begins at its start.
  Result<void> empty();
  Result<void> write(std::span<const std::byte> bytes) override;
  /// Takes back everything beyond the first `size_bytes`; the next write goes there. Fails where the file has no length.
  Result<void> cut(uint64_t size_bytes);
  /// Reports what the last writes may have left undone; the lock goes with it.
  Result<void> close();

 private:
  void remove_if_unused();
  [[nodiscard]] Error failed(const char* what) const;

  int fd_ = -1;
  bool created_ = false;  // and not yet used
  std::string path_;
};

}  // namespace qperf::sampling
