#include "tools/qperf/record/qemu_arguments.h"

#include <algorithm>
#include <array>

namespace qperf::tools {
namespace {

/// Options whose value is free text and may look like an option.
constexpr std::array<std::string_view, 4> kFreeText = {"append", "name", "fw_cfg", "uuid"};

/// "name=..." among the parts, or the first part if that has no name and `implied` says that this is it.
std::optional<std::string> part(const std::vector<std::string>& parts, std::string_view name, bool implied) {
  const std::string prefix = std::string(name) + "=";
  std::optional<std::string> found;
  if (implied && parts.front().find('=') == std::string::npos) found = parts.front();
  for (const std::string& text : parts) {
    if (text.starts_with(prefix)) found = text.substr(prefix.size());
  }
  return found;
}

class ArgumentReader {
 public:
  /// `value`: the next word, empty at the end. Returns whether it is taken.
  bool option(std::string_view name, const std::string& value) {
    if (name == "enable-kvm") accelerator("kvm", "-enable-kvm");
    if (name == "daemonize") out_.daemonizes = true;
    if (std::ranges::find(kFreeText, name) != kFreeText.end()) return true;
    if (value.empty()) return false;
    if (name == "kernel") out_.kernel = value;
    if (name == "D") out_.log_file = value;
    if (name == "d") {
      const auto items = split_at_commas(value);
      out_.log_per_thread = std::ranges::find(items, "tid") != items.end();  // the last -d counts
    }
    if (name == "qmp" || name == "qmp-pretty") qmp(value);
    if (name == "accel" || name == "machine" || name == "M") {
      const auto accel = part(split_at_commas(value), "accel", name == "accel");
      if (accel) accelerator(*accel, "-" + std::string(name) + " " + value);
    }
    if (name == "plugin") {
      const auto file = part(split_at_commas(value), "file", true);
      const std::string_view path = file ? std::string_view(*file) : std::string_view();
      out_.loads_qperf = out_.loads_qperf || path.substr(path.rfind('/') + 1).starts_with("libqperf");
    }
    return false;  // a value that is taken for an option does no harm: none of the names above begins without '-'
  }

  QemuArguments out() && { return std::move(out_); }

 private:
  /// The first one named is the first one tried; "kvm:tcg" lists two.
  void accelerator(const std::string& list, std::string option) {
    if (!out_.accelerator_option.empty()) return;
    out_.accelerator = list.substr(0, list.find(':'));
    out_.accelerator_option = std::move(option);
  }

  void qmp(const std::string& value) {
    const std::string first = split_at_commas(value).front();
    if (first.starts_with("unix:")) out_.qmp_socket = first.substr(5);
  }

  QemuArguments out_;
};

}  // namespace

QemuArguments read_qemu_arguments(std::span<const std::string> arguments) {
  ArgumentReader reader;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with('-') || word.size() < 2) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (reader.option(word, i + 1 < arguments.size() ? arguments[i + 1] : std::string())) ++i;
  }
  return std::move(reader).out();
}

std::string with_commas_doubled(std::string_view value) {
  std::string out;
  for (const char c : value) out.append(c == ',' ? 2 : 1, c);
  return out;
}

std::vector<std::string> split_at_commas(std::string_view value) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] != ',') {
      parts.back() += value[i];
    } else if (i + 1 < value.size() && value[i + 1] == ',') {
      parts.back() += ',';
      ++i;
    } else {
      parts.emplace_back();
    }
  }
  return parts;
}

}  // namespace qperf::tools
