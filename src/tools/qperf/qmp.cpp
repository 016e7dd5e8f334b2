#include "tools/qperf/qmp.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/json_quoted.h"
#include "base/printable.h"
#include "tools/qperf/unix_socket.h"

namespace qperf::tools {
namespace {

constexpr unsigned kMaxDepth = 32;
constexpr size_t kMaxReplyBytes = size_t{64} << 20;
constexpr int kSilenceMilliseconds = 10'000;

/// Recursive descent over one JSON text.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : rest_(text) {}

  Result<JsonValue> whole() {
    JsonValue out;
    if (!value(out, 0)) return Error{ErrorCode::kBadFormat, "not JSON: '" + printable(rest_.substr(0, 40)) + "'"};
    blanks();
    if (!rest_.empty())
      return Error{ErrorCode::kBadFormat, "text after the JSON value: '" + printable(rest_.substr(0, 40)) + "'"};
    return out;
  }

 private:
  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(std::string_view token) {
    blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool value(JsonValue& out, unsigned depth) {
    using Kind = JsonValue::Kind;
    if (depth > kMaxDepth) return false;
    if (take("null")) return true;
    if (take("true") || take("false")) {
      out.kind = Kind::kBool;
      out.boolean = rest_.data()[-2] == 'u';  // "true", not "false"
      return true;
    }
    if (take("{")) return object(out, depth);
    if (take("[")) return array(out, depth);
    if (rest_.starts_with('"')) {
      out.kind = Kind::kString;
      return string(out.text);
    }
    const size_t length = std::min(rest_.find_first_not_of("+-0123456789.eE"), rest_.size());
    if (length == 0) return false;
    out.kind = Kind::kNumber;
    out.text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

  bool array(JsonValue& out, unsigned depth) {
    out.kind = JsonValue::Kind::kArray;
    if (take("]")) return true;
    do {
      if (!value(out.items.emplace_back(), depth + 1)) return false;
    } while (take(","));
    return take("]");
  }

  bool object(JsonValue& out, unsigned depth) {
    out.kind = JsonValue::Kind::kObject;
    if (take("}")) return true;
    do {
      auto& [name, member] = out.members.emplace_back();
      blanks();
      if (!rest_.starts_with('"') || !string(name) || !take(":") || !value(member, depth + 1)) return false;
    } while (take(","));
    return take("}");
  }

  bool string(std::string& out) {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\\') {
        if (rest_.empty()) return false;
        c = rest_.front();
        rest_.remove_prefix(1);
        if (c == 'u') {
          unsigned code = 0;
          const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + std::min<size_t>(4, rest_.size()), code, 16);
          if (failure != std::errc{} || end != rest_.data() + 4) return false;
          rest_.remove_prefix(4);
          // Event names and monitor texts are ASCII; anything else is only ever shown.
          c = code < 0x80 ? static_cast<char>(code) : '?';
        } else if (c == 'n' || c == 'r' || c == 't') {
          c = c == 'n' ? '\n' : c == 'r' ? '\r' : '\t';
        }
      }
      out += c;
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

Error system_error(std::string_view doing) { return Error{ErrorCode::kIo, std::string(doing) + ": " + std::strerror(errno)}; }

}  // namespace

const JsonValue* JsonValue::member(std::string_view name) const noexcept {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<JsonValue> parse_json(std::string_view text) { return JsonParser(text).whole(); }

Result<Qmp> Qmp::connect(const std::string& path) {
  auto fd = connect_unix(path);
  if (!fd) return std::move(fd).error().in("QMP socket");
  Qmp out(*fd);
  QPERF_ASSIGN_OR_RETURN(const JsonValue greeting, out.receive());
  if (greeting.member("QMP") == nullptr)
    return Error{ErrorCode::kBadFormat,
                 printable(path) + ": no QMP greeting; is it a plain monitor? start QEMU with -qmp unix:" + printable(path) +
                     ",server=on,wait=off"};
  QPERF_ASSIGN_OR_RETURN([[maybe_unused]] const JsonValue done, out.execute("qmp_capabilities"));
  return out;
}

Qmp::Qmp(Qmp&& other) noexcept : fd_(std::exchange(other.fd_, -1)), received_(std::move(other.received_)) {}

Qmp::~Qmp() {
  if (fd_ >= 0) ::close(fd_);
}

Result<JsonValue> Qmp::receive() {
  size_t newline = 0;
  while ((newline = received_.find('\n')) == std::string::npos) {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, kSilenceMilliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return system_error("QMP");
    if (ready == 0) return Error{ErrorCode::kIo, "QMP: no answer for ten seconds; another client may hold the socket"};
    char block[65536];
    const ssize_t got = ::read(fd_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("QMP");
    if (got == 0) return Error{ErrorCode::kIo, "QMP: QEMU closed the connection"};
    received_.append(block, static_cast<size_t>(got));
    if (received_.size() > kMaxReplyBytes) return Error{ErrorCode::kLimit, "QMP: an answer above 64 MiB"};
  }
  auto value = parse_json(std::string_view(received_).substr(0, newline));
  received_.erase(0, newline + 1);
  if (!value) return std::move(value).error().in("QMP");
  return value;
}

Result<JsonValue> Qmp::execute(std::string_view command, std::string_view arguments) {
  std::string request = "{\"execute\": " + json_quoted(command);
  if (!arguments.empty()) request += ", \"arguments\": " + std::string(arguments);
  request += "}\n";
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t count = ::send(fd_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("QMP");
    sent += static_cast<size_t>(count);
  }
  for (;;) {
    QPERF_ASSIGN_OR_RETURN(JsonValue reply, receive());
    if (const JsonValue* value = reply.member("return")) return JsonValue(*value);
    if (const JsonValue* error = reply.member("error")) {
      const JsonValue* text = error->member("desc");
      return Error{ErrorCode::kUnsupported, "QEMU: " + printable(text == nullptr ? "error without a description" : text->text)};
    }
  }
}

}  // namespace qperf::tools
