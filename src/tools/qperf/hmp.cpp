#include "tools/qperf/hmp.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "tools/qperf/unix_socket.h"

namespace qperf::tools {
namespace {

constexpr int kSilenceMilliseconds = 10'000;
constexpr size_t kMaxAnswerBytes = size_t{64} << 20;
constexpr std::string_view kPrompt = "(qemu) ";

Error hmp_error(const std::string& what) { return Error{ErrorCode::kIo, "monitor: " + what}; }

}  // namespace

std::string without_echo(std::string_view received) {
  received.remove_prefix(std::min(received.find('\n'), received.size()));
  std::string text;
  for (const char c : received.substr(received.empty() ? 0 : 1)) {
    if (c != '\r') text += c;
  }
  return text;
}

Result<Hmp> Hmp::connect(const std::string& path) {
  auto fd = connect_unix(path);
  if (!fd) return std::move(fd).error().in("monitor socket");
  Hmp out(*fd);
  QPERF_ASSIGN_OR_RETURN(const std::string greeting, out.read_to_prompt());
  if (greeting.find("QEMU") == std::string::npos)
    return Error{ErrorCode::kBadFormat,
                 printable(path) + ": no monitor of QEMU's: it says '" + printable(greeting.substr(0, 80)) + "'"};
  return out;
}

Hmp::Hmp(Hmp&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Hmp::~Hmp() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> Hmp::read_to_prompt() {
  std::string received;
  while (!received.ends_with(kPrompt)) {
    // A machine's protocol speaks first, too, and never prompts.
    if (received.starts_with("{\"QMP\""))
      return Error{ErrorCode::kBadFormat, "monitor: the socket speaks QMP: give it as --qmp"};
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kSilenceMilliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return hmp_error("no answer for ten seconds; another client may hold the socket");
    char block[65536];
    const ssize_t got = ready < 0 ? -1 : ::read(fd_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return hmp_error(std::strerror(errno));
    if (got == 0) return hmp_error("QEMU closed the connection");
    received.append(block, static_cast<size_t>(got));
    if (received.size() > kMaxAnswerBytes) return Error{ErrorCode::kLimit, "monitor: an answer above 64 MiB"};
  }
  received.resize(received.size() - kPrompt.size());
  return received;
}

Result<std::string> Hmp::run(std::string_view line) {
  const std::string typed = std::string(line) + "\n";
  if (::send(fd_, typed.data(), typed.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(typed.size()))
    return hmp_error(std::strerror(errno));
  QPERF_ASSIGN_OR_RETURN(const std::string received, read_to_prompt());
  return without_echo(received);
}

}  // namespace qperf::tools
