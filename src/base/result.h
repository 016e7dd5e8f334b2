#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace qperf {

/// What kind of failure an Error is: decides the exit code and whether a caller may go on.
enum class ErrorCode {
  kUsage,        // the user asked for something impossible or mistyped it
  kNotFound,     // a file, symbol or item that was named does not exist
  kIo,           // the system refused to open, read or write
  kBadFormat,    // bytes that are not what their framing promised
  kTruncated,    // a file or record that ends before its own length
  kUnsupported,  // understood, but not something this build or version can do
  kLimit,        // a stated bound would be exceeded
};

/// A failure a stranger can act on: subject, what was found, what is allowed, what to do next.
struct Error {
  ErrorCode code;
  std::string message;

  /// Prefixes the message with where it happened ("capture.bin: chunk 3").
  [[nodiscard]] Error in(std::string_view context) &&;
};

/// A value or an Error. Move-only use is the norm; check with `if (!result)`.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Error& error() const& { return *error_; }
  [[nodiscard]] Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace qperf

#define QPERF_CONCAT_INNER(a, b) a##b
#define QPERF_CONCAT(a, b) QPERF_CONCAT_INNER(a, b)

/// Returns early with the Error of a Result<void> expression.
#define QPERF_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (auto qperf_result = (expression); !qperf_result) return std::move(qperf_result).error(); \
  } while (false)

/// Declares or assigns `target` from a Result<T> expression, or returns early with its Error.
#define QPERF_ASSIGN_OR_RETURN(target, expression) \
  QPERF_ASSIGN_OR_RETURN_IMPL(QPERF_CONCAT(qperf_result_, __LINE__), target, expression)
#define QPERF_ASSIGN_OR_RETURN_IMPL(temporary, target, expression) \
  auto temporary = (expression);                                   \
  if (!temporary) return std::move(temporary).error();             \
  target = *std::move(temporary)
