#include "tools/qperf/record/plugin_control.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "tools/qperf/unix_socket.h"

namespace qperf::tools {
namespace {

constexpr int kAnswerMilliseconds = 10'000;
constexpr size_t kMaxAnswerBytes = size_t{1} << 16;

Error control_error(const std::string& what) { return Error{ErrorCode::kIo, "control socket: " + what}; }

}  // namespace

Result<PluginControl> PluginControl::connect(const std::string& path) {
  auto fd = connect_unix(path);
  if (!fd) return std::move(fd).error().in("control socket");
  return PluginControl(*fd);
}

PluginControl::PluginControl(PluginControl&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

PluginControl& PluginControl::operator=(PluginControl&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

PluginControl::~PluginControl() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> PluginControl::ask(std::string_view command) {
  const std::string line = std::string(command) + "\n";
  if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    return control_error(std::strerror(errno));
  std::string answer;
  while (!answer.ends_with('\n')) {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kAnswerMilliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return control_error("no answer for ten seconds");
    char block[4096];
    const ssize_t got = ready < 0 ? -1 : ::recv(fd_, block, sizeof block, 0);
    if (got < 0) return control_error(std::strerror(errno));
    if (got == 0) return control_error("the recording has ended");
    answer.append(block, static_cast<size_t>(got));
    if (answer.size() > kMaxAnswerBytes) return control_error("an answer above 64 KiB");
  }
  answer.pop_back();
  if (answer.starts_with("ok: ")) return answer.substr(4);
  return Error{ErrorCode::kUnsupported, "the plugin answers '" + printable(answer) + "'"};
}

}  // namespace qperf::tools
