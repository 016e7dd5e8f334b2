#include "sampling/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/printable.h"
#include "capture/format.h"

namespace qperf::sampling {

namespace {

/// A file that holds anything else was named by mistake: a kernel, a disk.
bool begins_like_a_capture(const std::string& path) {
  constexpr auto kMagic = std::span(capture::kFileMagic).first<6>();  // of every format's version
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  std::array<std::byte, kMagic.size()> begin{};
  const ssize_t got = ::pread(fd, begin.data(), begin.size(), 0);
  ::close(fd);
  return got == static_cast<ssize_t>(begin.size()) && std::ranges::equal(begin, kMagic);
}

}  // namespace

OutputFile::~OutputFile() {
  remove_if_unused();
  if (fd_ >= 0) ::close(fd_);
}

Error OutputFile::failed(const char* what) const {
  return Error{ErrorCode::kIo, "out=" + printable(path_) + ": " + what + ": " + std::strerror(errno)};
}

Result<void> OutputFile::open(const std::string& path) {
  path_ = path;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
  fd_ = ::open(path.c_str(), kFlags | O_EXCL, 0644);
  const bool created = fd_ >= 0;
  if (!created) fd_ = ::open(path.c_str(), kFlags, 0644);
  if (fd_ < 0) return failed("cannot be opened for writing");
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Error{ErrorCode::kUsage,
                   "out=" + printable(path_) + ": another capture is being written to it; give another file"};
    return failed("cannot be locked");
  }
  created_ = created;  // only now: whoever holds the lock may write to it
  struct stat status {};
  if (fstat(fd_, &status) != 0) return failed("cannot be looked at");
  if (S_ISREG(status.st_mode) && status.st_size > 0 && !begins_like_a_capture(path))
    return Error{ErrorCode::kUsage, "out=" + printable(path_) +
                                        ": is no capture of qperf's and not empty: it is not written over; give another file, or remove it"};
  return {};
}

Result<void> OutputFile::empty() {
  created_ = false;
  struct stat status {};
  if (fstat(fd_, &status) != 0) return failed("cannot be looked at");
  // A device or pipe has no length to cut.
  if (S_ISREG(status.st_mode) && ftruncate(fd_, 0) != 0) return failed("cannot be emptied");
  return {};
}

Result<void> OutputFile::cut(uint64_t size_bytes) {
  const auto size = static_cast<off_t>(size_bytes);
  if (ftruncate(fd_, size) != 0 || lseek(fd_, size, SEEK_SET) != size) return failed("cannot be cut back");
  return {};
}

void OutputFile::remove_if_unused() {
  if (std::exchange(created_, false)) ::unlink(path_.c_str());
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> OutputFile::close() {
  remove_if_unused();
  if (fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0) return {};
  return failed("cannot be closed");
}

}  // namespace qperf::sampling
