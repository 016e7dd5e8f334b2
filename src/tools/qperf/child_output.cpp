#include "tools/qperf/child_output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace qperf::tools {
namespace {

/// Both ends close themselves.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

Result<pid_t> spawn(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));  // execv's old signature
  words.push_back(nullptr);
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words.front(), actions.get(), nullptr, words.data(), environ);
  if (error == 0) return child;
  return Error{error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               fmt::format("{}: cannot be run: {}", arguments.front(), std::strerror(error))};
}

/// False if there is more than `most_bytes`.
bool read_all(int descriptor, size_t most_bytes, std::string& text) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (text.size() + static_cast<size_t>(got) > most_bytes) return false;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> child_output(const std::vector<std::string>& arguments, size_t most_bytes) {
  Pipe pipe;
  if (::pipe2(pipe.ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: no pipe: {}", arguments.front(), std::strerror(errno))};
  QPERF_ASSIGN_OR_RETURN(const pid_t child, spawn(arguments, pipe.ends[1]));
  pipe.close_end(1);
  std::string text;
  const bool whole = read_all(pipe.ends[0], most_bytes, text);
  if (!whole) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole) return Error{ErrorCode::kLimit, fmt::format("{}: wrote more than {} bytes", arguments.front(), most_bytes)};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: failed", arguments.front())};
  return text;
}

}  // namespace qperf::tools
