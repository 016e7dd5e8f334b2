#include "qemutrace/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;  // stays in a core's cache
static_assert(kBufferBytes >= 2 * Input::kMaxPeek);
constexpr int kWaitMilliseconds = 100;

}  // namespace

Result<Input> Input::open(const std::string& path, Options options) {
  Input input;
  input.options_ = std::move(options);
  input.owned_ = path != "-";
  input.fd_ = input.owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  struct stat status{};
  if (input.fd_ < 0 || ::fstat(input.fd_, &status) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: {}", printable(path), std::strerror(errno))};
  if (S_ISDIR(status.st_mode))
    return Error{ErrorCode::kIo, fmt::format("{}: is a directory, expected a trace", printable(path))};
  input.regular_ = S_ISREG(status.st_mode);
  if (input.regular_) input.whole_bytes_ = static_cast<uint64_t>(status.st_size);
  input.buffer_.resize(kBufferBytes);
  input.begin_ = input.end_ = input.buffer_.data();
  return input;
}

Input Input::memory(std::string_view bytes) {
  Input input;
  input.ended_ = true;
  input.begin_ = bytes.data();
  input.end_ = bytes.data() + bytes.size();
  input.end_offset_ = bytes.size();
  return input;
}

Input::Input(Input&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(other.owned_),
      regular_(other.regular_),
      ended_(other.ended_),
      options_(std::move(other.options_)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      end_offset_(other.end_offset_),
      whole_bytes_(other.whole_bytes_),
      read_error_(std::move(other.read_error_)) {}

Input::~Input() {
  if (fd_ >= 0 && owned_) ::close(fd_);
}

/// Whether to try again. A FIFO or socket waits for its writer; a regular file's end is final unless followed.
bool Input::wait_for_more(bool regular_end) {
  if (regular_end && !options_.follow) return false;
  if (regular_end) {
    const timespec pause{.tv_sec = 0, .tv_nsec = kWaitMilliseconds * 1'000'000L};
    ::nanosleep(&pause, nullptr);
    return !options_.on_wait || options_.on_wait();
  }
  pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, kWaitMilliseconds) <= 0) {
    if (options_.on_wait && !options_.on_wait()) return false;
  }
  return true;
}

void Input::fill(size_t count) {
  if (ended_) return;
  if (options_.progress) options_.progress(offset(), whole_bytes_);
  const auto left = static_cast<size_t>(end_ - begin_);
  char* const base = buffer_.data();
  // What is left moves to the front; at most one record, so the copy is small against the read.
  std::memmove(base, begin_, left);
  begin_ = base;
  end_ = base + left;
  while (static_cast<size_t>(end_ - begin_) < count) {
    if (!regular_ && !wait_for_more(false)) {
      ended_ = true;
      return;
    }
    const auto used = static_cast<size_t>(end_ - base);
    const ssize_t got = ::read(fd_, base + used, buffer_.size() - used);
    if (got > 0) {
      end_ += got;
      end_offset_ += static_cast<uint64_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) {
      if (options_.on_wait && !options_.on_wait()) ended_ = true;
      if (ended_) return;
      continue;
    }
    if (got < 0) read_error_ = std::strerror(errno);
    if (got < 0 || !regular_ || !wait_for_more(true)) {
      ended_ = true;
      return;
    }
  }
}

}  // namespace qperf::qemutrace
