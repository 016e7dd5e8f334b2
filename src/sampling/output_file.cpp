#include "sampling/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/printable.h"

namespace qperf::sampling {

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> OutputFile::open(const std::string& path) {
  path_ = path;
  const auto failed = [this](const char* what) {
    return Error{ErrorCode::kIo, "out=" + printable(path_) + ": " + what + ": " + std::strerror(errno)};
  };
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
  if (fd_ < 0) return failed("cannot be opened for writing");
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Error{ErrorCode::kUsage,
                   "out=" + printable(path_) + ": another capture is being written to it; give another file"};
    return failed("cannot be locked");
  }
  struct stat status {};
  if (fstat(fd_, &status) != 0) return failed("cannot be looked at");
  // A device or pipe has no length to cut.
  if (S_ISREG(status.st_mode) && ftruncate(fd_, 0) != 0) return failed("cannot be emptied");
  return {};
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return Error{ErrorCode::kIo, "out=" + printable(path_) + ": cannot be written: " + std::strerror(errno)};
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> OutputFile::close() {
  if (fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0) return {};
  return Error{ErrorCode::kIo, "out=" + printable(path_) + ": cannot be closed: " + std::strerror(errno)};
}

}  // namespace qperf::sampling
