#include "sampling/control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/printable.h"

namespace qperf::sampling {

Result<void> ControlSocket::listen(const std::string& path) {
  const auto failed = [&path](const std::string& what, ErrorCode code = ErrorCode::kUsage) {
    return Error{code, "control=" + printable(path) + ": " + what};
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failed("too long, at most " + std::to_string(sizeof address.sun_path - 1) + " bytes are allowed");
  path.copy(address.sun_path, path.size());
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return failed(std::strerror(errno), ErrorCode::kIo);
  // Before bind(), so that the path never exists with wider rights.
  if (fchmod(listener_, 0600) != 0) return failed(std::strerror(errno), ErrorCode::kIo);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EADDRINUSE) return failed("already exists; remove it or give another path");
    return failed(std::string("cannot be created: ") + std::strerror(errno), ErrorCode::kIo);
  }
  path_ = path;
  if (::listen(listener_, kMaxClients) != 0) return failed(std::strerror(errno), ErrorCode::kIo);
  return {};
}

void ControlSocket::wait(int wake_fd, int timeout_ms, const Handler& handler) {
  polled_.clear();
  polled_.push_back({.fd = wake_fd, .events = POLLIN, .revents = 0});
  polled_.push_back({.fd = clients_.size() < kMaxClients ? listener_ : -1, .events = POLLIN, .revents = 0});
  for (const auto& client : clients_) polled_.push_back({.fd = client.fd, .events = POLLIN, .revents = 0});
  if (::poll(polled_.data(), polled_.size(), timeout_ms) <= 0) return;

  size_t index = 2;
  for (auto client = clients_.begin(); client != clients_.end(); ++index) {
    const bool keep = polled_[index].revents == 0 || serve(*client, handler);
    if (listener_ < 0) return;  // the handler closed everything
    if (keep) {
      ++client;
      continue;
    }
    ::close(client->fd);
    client = clients_.erase(client);
  }
  if ((polled_[1].revents & POLLIN) != 0) accept_client();
}

void ControlSocket::accept_client() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) clients_.push_back({.fd = fd, .line = {}});
}

bool ControlSocket::serve(Client& client, const Handler& handler) {
  std::array<char, 512> buffer{};
  const ssize_t received = ::recv(client.fd, buffer.data(), buffer.size(), 0);
  if (received < 0) return errno == EAGAIN || errno == EINTR;
  if (received == 0) return false;
  const auto answer = [&client](std::string text) {
    text += '\n';
    return ::send(client.fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
  };
  client.line.append(buffer.data(), static_cast<size_t>(received));
  for (size_t end = client.line.find('\n'); end != std::string::npos; end = client.line.find('\n')) {
    std::string line = client.line.substr(0, end);
    client.line.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    if (!answer(handler(line))) return false;
  }
  if (client.line.size() <= kMaxLineBytes) return true;
  answer("err: line too long, at most " + std::to_string(kMaxLineBytes) + " bytes are allowed");
  return false;
}

void ControlSocket::close() {
  for (const auto& client : clients_) ::close(client.fd);
  clients_.clear();
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace qperf::sampling
