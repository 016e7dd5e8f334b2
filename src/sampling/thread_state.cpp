#include "sampling/thread_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace qperf::sampling {

ThreadState::~ThreadState() {
  if (file_ >= 0) ::close(file_);
}

Result<void> ThreadState::open(int thread_id) {
  const std::string path = "/proc/self/task/" + std::to_string(thread_id) + "/stat";
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return Error{ErrorCode::kIo, path + ": " + std::strerror(errno)};
  return {};
}

bool ThreadState::sleeps() const noexcept {
  if (file_ < 0) return false;
  std::array<char, 64> text;  // the number, the name of at most 15 characters, the letter
  const ssize_t size = ::pread(file_, text.data(), text.size(), 0);
  if (size <= 0) return false;
  const auto state = letter({text.data(), static_cast<size_t>(size)});
  return state == 'S' || state == 'D';
}

std::optional<char> ThreadState::letter(std::string_view stat) noexcept {
  const auto name_end = stat.rfind(") ");  // the name may hold both characters, what follows it neither
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return std::nullopt;
  return stat[name_end + 2];
}

}  // namespace qperf::sampling
