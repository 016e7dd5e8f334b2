#include "qemutrace/print.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kNumberBytes = 2 + 16;  // 0x and digits
constexpr size_t kLeadBytes = 64;        // microseconds, pid=, newline
constexpr uint64_t kExactDouble = uint64_t{1} << 53;

constexpr std::array<char, 512> kHexPairs = [] {
  std::array<char, 512> out{};
  constexpr const char* kDigits = "0123456789abcdef";
  for (size_t i = 0; i < 256; ++i) {
    out[2 * i] = kDigits[i >> 4];
    out[2 * i + 1] = kDigits[i & 15];
  }
  return out;
}();

char* write_text(std::string_view text, char* out) noexcept {
  return std::ranges::copy(text, out).out;
}

char* write_hex(uint64_t value, char* out) noexcept {
  *out++ = '0';
  *out++ = 'x';
  const auto digits = static_cast<unsigned>(value == 0 ? 1 : (std::bit_width(value) + 3) / 4);
  unsigned left = digits;
  for (; left >= 2; left -= 2, value >>= 8) std::memcpy(out + left - 2, &kHexPairs[2 * (value & 0xff)], 2);
  if (left == 1) *out = kHexPairs[2 * (value & 0xf) + 1];
  return out + digits;
}

char* write_decimal(uint64_t value, char* out) noexcept {
  std::array<char, 20> digits;
  size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  return write_text({digits.data() + at, digits.size() - at}, out);
}

constexpr std::array<bool, 256> kPlainInRepr = [] {
  std::array<bool, 256> out{};
  for (size_t c = 0x20; c < 0x7f; ++c) out[c] = c != '\'' && c != '\\';
  return out;
}();

}  // namespace

char* TextSink::reserve(size_t bytes) {
  if (used_ + bytes > block_.size()) {
    if (fd_ >= 0) flush();
    if (used_ + bytes > block_.size()) block_.resize(std::max(kBlockBytes, (used_ + bytes) * (fd_ < 0 ? 2 : 1)));
  }
  return block_.data() + used_;
}

void TextSink::append(std::string_view text) { commit(write_text(text, reserve(text.size()))); }

void TextSink::flush() {
  size_t written = 0;
  while (fd_ >= 0 && failure_ == 0 && written < used_) {
    const ssize_t count = ::write(fd_, block_.data() + written, used_ - written);
    if (count >= 0) written += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) failure_ = errno;
  }
  if (fd_ >= 0) used_ = 0;
}

char* write_bytes_repr(std::string_view bytes, char* out) noexcept {
  *out++ = 'b';
  // Python changes to double quotes when that saves escaping.
  const bool doubled = bytes.find('\'') != std::string_view::npos && bytes.find('"') == std::string_view::npos;
  const char quote = doubled ? '"' : '\'';
  *out++ = quote;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlainInRepr[byte] || (c == '\'' && doubled)) {
      *out++ = c;
      continue;
    }
    *out++ = '\\';
    if (c == '\\' || c == '\'') {
      *out++ = c;
    } else if (c == '\t' || c == '\n' || c == '\r') {
      *out++ = c == '\t' ? 't' : c == '\n' ? 'n' : 'r';
    } else {
      *out++ = 'x';
      out = write_text({&kHexPairs[2 * size_t{byte}], 2}, out);
    }
  }
  *out++ = quote;
  return out;
}

const SimpletracePrinter::Plan& SimpletracePrinter::plan_for(const EventInfo& info) {
  if (info.index >= plans_.size()) plans_.resize(std::max<size_t>(info.index + 1, plans_.size() * 2));
  Plan& plan = plans_[info.index];
  if (plan.info == &info) [[likely]]
    return plan;
  plan.info = &info;
  // A name from a mapping record reached here only if it is declared: letters, digits, underscores.
  plan.name = info.name + " ";
  plan.bytes = plan.name.size() + kLeadBytes;
  plan.fields.clear();
  for (const Argument& argument : info.arguments) {
    plan.fields.push_back(" " + argument.name + "=");  // a C name, as the declaration's parser has seen to
    plan.bytes += plan.fields.back().size() + kNumberBytes;
  }
  return plan;
}

char* SimpletracePrinter::write_delta(uint64_t time_ns, char* out) {
  const bool backwards = !first_ && time_ns < last_ns_;
  const uint64_t delta_ns = first_ ? 0 : backwards ? last_ns_ - time_ns : time_ns - last_ns_;
  first_ = false;
  last_ns_ = time_ns;
  if (delta_ns > kExactDouble) [[unlikely]] {  // Python divides and rounds to a double first
    const auto us = static_cast<double>(static_cast<long double>(delta_ns) / 1000.0L);
    return out + std::max(std::snprintf(out, 40, "%0.3f", backwards ? -us : us), 0);
  }
  if (backwards) *out++ = '-';
  out = write_decimal(delta_ns / 1000, out);
  const auto part = static_cast<unsigned>(delta_ns % 1000);
  *out++ = '.';
  *out++ = static_cast<char>('0' + part / 100);
  *out++ = static_cast<char>('0' + part / 10 % 10);
  *out++ = static_cast<char>('0' + part % 10);
  return out;
}

void SimpletracePrinter::print(const Event& event) {
  if (event.state != ValueState::kDecoded) return;
  const Plan& plan = plan_for(*event.info);
  size_t bytes = plan.bytes;
  for (unsigned i = 0; i < event.value_count; ++i) {
    if (event.values[i].is_string()) bytes += 4 * event.values[i].number + 3;
  }
  char* out = sink_.reserve(bytes);
  out = write_text(plan.name, out);
  if (event.has_time) {
    out = write_delta(event.time_ns, out);
  } else {
    *out++ = '-';
  }
  if (event.has_pid) out = write_decimal(event.pid, write_text(" pid=", out));
  if (event.has_tid) out = write_decimal(event.tid, write_text(" tid=", out));
  if (event.value_count == 0) *out++ = ' ';  // QEMU's script joins no fields after a blank
  for (unsigned i = 0; i < event.value_count; ++i) {
    if ((event.missing >> i & 1U) != 0) continue;
    out = write_text(plan.fields[i], out);
    const Value& value = event.values[i];
    out = value.is_string() ? write_bytes_repr(value.string(), out) : write_hex(value.number, out);
  }
  *out++ = '\n';
  sink_.commit(out);
}

void append_value(const Value& value, const Argument& argument, std::string& out) {
  auto to = std::back_inserter(out);
  if (value.is_string()) {
    fmt::format_to(to, "\"{}\"", printable(value.string()));
    return;
  }
  switch (argument.kind) {
    case ArgumentKind::kSigned: fmt::format_to(to, "{}", static_cast<int64_t>(value.number)); return;
    case ArgumentKind::kBool: fmt::format_to(to, "{}", value.number != 0); return;
    case ArgumentKind::kUnsigned: fmt::format_to(to, "{}", value.number); return;
    case ArgumentKind::kPointer:
    case ArgumentKind::kString: fmt::format_to(to, "{:#x}", value.number); return;
  }
}

void PrettyPrinter::print(const Event& event) {
  line_.clear();
  auto to = std::back_inserter(line_);
  if (event.has_time) fmt::format_to(to, "{:>7}.{:09} ", event.time_ns / 1'000'000'000, event.time_ns % 1'000'000'000);
  if (event.has_pid || event.has_tid) fmt::format_to(to, "{:>7} ", event.has_tid ? event.tid : event.pid);
  if (event.is_loss) {
    fmt::format_to(to, "*** {} events lost here: QEMU's trace buffer was full\n", event.values[0].number);
    sink_.append(line_);
    return;
  }
  line_ += printable(event.name());
  if (event.state != ValueState::kDecoded) {
    line_ += event.state == ValueState::kUndeclared ? " (not declared: values unknown)\n"
                                                    : " (does not fit its declaration: values unknown)\n";
    sink_.append(line_);
    return;
  }
  if (event.info->index >= plans_.size()) plans_.resize(event.info->index + 1);
  Plan& plan = plans_[event.info->index];
  if (plan.info != event.info) {
    const Declaration* declaration = event.info->declaration;
    plan.info = event.info;
    // A record with a vCPU in front has one value more than the format reads: its fields are named instead.
    const bool as_declared = declaration != nullptr && declaration->arguments.size() == event.info->arguments.size();
    plan.format = as_declared ? CompiledFormat::compile(*declaration) : std::nullopt;
  }
  const bool whole = event.missing == 0 && plan.format && plan.format->reads_all(event.value_count);
  line_ += ' ';
  if (whole) {
    plan.format->render({event.values.data(), event.value_count}, line_);
  } else {
    for (size_t i = 0; i < event.value_count; ++i) {
      if (!event.has_value(i)) continue;
      fmt::format_to(to, "{}{}=", i == 0 ? "" : " ", event.info->arguments[i].name);
      append_value(event.values[i], event.info->arguments[i], line_);
    }
  }
  names_.learn(event);
  if (const std::string device = names_.describe(event); !device.empty()) fmt::format_to(to, "  [{}]", device);
  line_ += '\n';
  sink_.append(line_);
}

}  // namespace qperf::qemutrace
