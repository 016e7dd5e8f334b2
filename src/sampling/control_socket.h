#pragma once

#include <poll.h>

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace qperf::sampling {

/// A Unix socket that takes one command a line and answers with one line. Served by whoever calls wait(); never blocks on a
/// client: one that does not read its answers is disconnected.
class ControlSocket {
 public:
  static constexpr size_t kMaxClients = 8;
  static constexpr size_t kMaxLineBytes = 256;

  /// Gets a line without its end, gives the answer without its end.
  using Handler = std::function<std::string(std::string_view)>;

  ControlSocket() = default;
  ~ControlSocket() { close(); }
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Creates `path` with mode 0600; refuses one that exists or is too long.
  Result<void> listen(const std::string& path);
  /// Serves clients until `wake_fd` is readable or `timeout_ms` have passed. Works without listen(), too: then it only waits.
  void wait(int wake_fd, int timeout_ms, const Handler& handler);
  /// Answers nobody any more and removes the path.
  void close();

 private:
  struct Client {
    int fd;
    std::string line;  // not yet ended
  };

  void accept_client();
  /// False if the client is gone or has to go.
  static bool serve(Client& client, const Handler& handler);

  int listener_ = -1;
  std::string path_;
  std::list<Client> clients_;
  std::vector<pollfd> polled_;
};

}  // namespace qperf::sampling
