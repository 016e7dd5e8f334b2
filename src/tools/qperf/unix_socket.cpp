#include "tools/qperf/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/printable.h"

namespace qperf::tools {

Result<int> connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::kUsage, printable(path) + ": longer than the " + std::to_string(sizeof address.sun_path - 1) +
                                        " bytes of a socket's path"};
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return Error{ErrorCode::kIo, printable(path) + ": " + std::strerror(error)};
}

}  // namespace qperf::tools
