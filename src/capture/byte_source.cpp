#include "capture/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace qperf::capture {
namespace {

constexpr size_t kFirstBufferBytes = size_t{256} << 10;

}  // namespace

Result<FileSource> FileSource::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 std::string("cannot be opened: ") + std::strerror(errno)};
  return FileSource(descriptor);
}

FileSource::FileSource(FileSource&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      position_(other.position_) {}

FileSource::~FileSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::span<const std::byte>> FileSource::peek(size_t count) {
  while (end_ - begin_ < count) {
    make_room();
    const ssize_t got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno)};
    if (got == 0) break;
    end_ += static_cast<size_t>(got);
  }
  return std::span<const std::byte>(buffer_).subspan(begin_, end_ - begin_);
}

uint64_t FileSource::size() const noexcept {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || status.st_size < 0) return 0;
  return static_cast<uint64_t>(status.st_size);
}

void FileSource::skip(size_t count) noexcept {
  begin_ += count;
  position_ += count;
}

Result<void> FileSource::seek(uint64_t position) {
  if (::lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) < 0)
    return Error{ErrorCode::kIo, std::string("cannot be read a second time: ") + std::strerror(errno)};
  begin_ = end_ = 0;
  position_ = position;
  return {};
}

void FileSource::make_room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ < buffer_.size()) return;
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return;
  }
  // Grows only once the file has filled what there is: a length that lies costs nothing.
  buffer_.resize(std::max(kFirstBufferBytes, buffer_.size() * 2));
}

}  // namespace qperf::capture
