#include "tools/qperf/record/program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/printable.h"

namespace qperf::tools {
namespace {

/// Closes what it holds; -1 holds nothing.
class Descriptor {
 public:
  explicit Descriptor(int raw = -1) noexcept : raw_(raw) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int raw = -1) noexcept {
    if (raw_ >= 0) ::close(raw_);
    raw_ = raw;
  }
  [[nodiscard]] int raw() const noexcept { return raw_; }

 private:
  int raw_;
};

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

/// The input is small (a command or two): a pipe's buffer takes it whole, so that nothing is written while output waits.
constexpr size_t kMaxInputBytes = 4096;

using Deadline = std::chrono::steady_clock::time_point;

/// Waits for the child's end, at most until `deadline`; false: it lives on.
bool wait_until(Deadline deadline, pid_t child, int& status) {
  constexpr auto kLongestNap = std::chrono::milliseconds(20);
  for (auto nap = std::chrono::milliseconds(1);; nap = std::min(2 * nap, kLongestNap)) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(nap);
  }
}

Result<Captured> collect(pid_t child, int output, const std::string& name, unsigned timeout_seconds) {
  Captured captured;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  bool in_time = true;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    in_time = left > 0;
    if (!in_time) break;
    pollfd waiting{.fd = output, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    char block[65536];
    const ssize_t got = ::read(output, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const size_t room = kMaxCapturedBytes - captured.text.size();
    captured.cut = captured.cut || static_cast<size_t>(got) > room;
    captured.text.append(block, std::min(static_cast<size_t>(got), room));
  }
  // Whoever closes its output and lives on has no more time than one that prints on.
  if (!in_time || !wait_until(deadline, child, captured.status)) {
    in_time = false;
    ::kill(child, SIGKILL);
    while (::waitpid(child, &captured.status, 0) < 0 && errno == EINTR) {
    }
  }
  if (!in_time)
    return Error{ErrorCode::kIo, fmt::format("{}: did not answer within {} seconds", printable(name), timeout_seconds)};
  return captured;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
    return Error{ErrorCode::kNotFound, fmt::format("{}: {}", printable(name), std::strerror(errno))};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (;;) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(file)) return file;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  return Error{ErrorCode::kNotFound, fmt::format("{}: there is no such program in PATH", printable(name))};
}

Result<Captured> run_captured(const std::vector<std::string>& arguments, std::string_view input, unsigned timeout_seconds) {
  const std::string& name = arguments.front();
  const auto failed = [&name](int error) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", printable(name), std::strerror(error))};
  };
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return failed(errno);
  Descriptor in_read(in[0]);
  Descriptor in_write(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return failed(errno);
  const Descriptor out_read(out[0]);
  Descriptor out_write(out[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in_read.raw(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out_write.raw(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out_write.raw(), STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t child = -1;
  const int spawned = ::posix_spawn(&child, name.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return failed(spawned);
  in_read.reset();
  out_write.reset();
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;  // a program that does not read its input is no reason to die
  ::sigaction(SIGPIPE, &ignore, &before);
  [[maybe_unused]] const ssize_t ignored = ::write(in_write.raw(), input.data(), std::min(input.size(), kMaxInputBytes));
  ::sigaction(SIGPIPE, &before, nullptr);
  in_write.reset();
  return collect(child, out_read.raw(), name, timeout_seconds);
}

}  // namespace qperf::tools
