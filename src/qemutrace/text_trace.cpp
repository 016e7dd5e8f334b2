#include "qemutrace/text_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr size_t kMaxLineBytes = size_t{128} << 10;  // ten strings of 512 bytes and their words are far below
constexpr size_t kMaxUndeclaredKinds = 4096;

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() < 256 &&
         std::all_of(
             text.begin(), text.end(),
             [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

void stamp(const TextLead& lead, Event& event) {
  event.time_ns = lead.time_ns;
  event.pid = lead.pid;
  event.tid = lead.tid;
  event.has_time = lead.has_time;
  event.has_pid = lead.has_pid;
  event.has_tid = lead.has_tid;
  event.is_loss = false;
  event.missing = 0;
}

}  // namespace

TextTraceReader::TextTraceReader(Input input, const Declarations& declarations)
    : input_(std::move(input)), declarations_(declarations) {
  host_event_.arguments.push_back({.type = "const char *", .name = "text", .kind = ArgumentKind::kString, .width_bytes = 8});
  host_event_.format = "\"%s\"";
}

std::string TextTraceReader::description() const {
  return std::string(form_ == nullptr ? "text without QEMU trace events" : form_->description);
}

TextTraceReader::Kind& TextTraceReader::kind_of(std::string_view name, const Declaration* declaration) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  Kind& kind = kinds_.emplace_back();
  kind.info.name = name;
  kind.info.declaration = declaration;
  kind.info.index = static_cast<uint32_t>(kinds_.size() - 1);
  if (declaration != nullptr) {
    kind.info.arguments = declaration->arguments;
    kind.format = CompiledFormat::compile(*declaration);
  }
  by_name_.emplace(kind.info.name, &kind);
  return kind;
}

/// The next whole line without its newline. A line that no back end writes is passed over.
bool TextTraceReader::next_line(std::string_view& line) {
  bool skipping = false;
  for (;;) {
    auto bytes = input_.peek(1);
    size_t scanned = 0;
    const void* newline = nullptr;
    // Nothing at all may be a null pointer, which memchr must not get.
    while (scanned == bytes.size() || (newline = std::memchr(bytes.data() + scanned, '\n', bytes.size() - scanned)) == nullptr) {
      scanned = bytes.size();
      if (scanned > kMaxLineBytes) break;
      bytes = input_.peek(scanned + 1);
      if (bytes.size() == scanned) {
        ended_ = true;
        report_.torn_bytes = bytes.size();
        if (!input_.read_error().empty()) report_.broken = fmt::format("at byte {}: {}", input_.offset(), input_.read_error());
        return false;
      }
      if (bytes.data() == nullptr) return false;
    }
    if (newline == nullptr) {
      input_.consume(bytes.size());
      skipping = true;
      continue;
    }
    const auto length = static_cast<size_t>(static_cast<const char*>(newline) - bytes.data());
    input_.consume(length + 1);
    if (skipping) {
      ++report_.other_lines;
      skipping = false;
      continue;
    }
    line = {bytes.data(), length};
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

bool TextTraceReader::next(Event& event) {
  std::string_view line;
  while (!ended_ && next_line(line)) {
    if (parse(line, event)) {
      ++report_.events;
      return true;
    }
    ++report_.other_lines;
  }
  return false;
}

bool TextTraceReader::parse(std::string_view line, Event& event) {
  if (form_ != nullptr) {
    if (const auto lead = form_->parse(line); lead && take(*form_, *lead, event)) return true;
  }
  for (const TextForm& form : kTextForms) {
    if (&form == form_) continue;
    if (const auto lead = form.parse(line); lead && take(form, *lead, event)) {
      form_ = &form;
      return true;
    }
  }
  return false;
}

void TextTraceReader::undeclared(std::string_view name, Event& event) {
  if (kinds_.size() >= kMaxUndeclaredKinds + declarations_.all().size()) name = "(more undeclared names)";
  Kind& kind = kind_of(name, nullptr);
  event.info = &kind.info;
  event.state = ValueState::kUndeclared;
  event.value_count = 0;
  ++report_.undeclared_events;
  ++report_.undeclared[kind.info.name];
}

/// An event of the host's kernel has no declaration here: its fields stay one text.
bool TextTraceReader::take_host(const TextLead& lead, Event& event) {
  const size_t colon = lead.rest.find(':');
  const std::string_view name = lead.rest.substr(0, colon);
  if (colon == std::string_view::npos || !is_name(name) || declarations_.find(name) != nullptr) return false;
  if (kinds_.size() >= kMaxUndeclaredKinds + declarations_.all().size() && !by_name_.contains(name)) return false;
  Kind& kind = kind_of(name, &host_event_);
  std::string_view text = lead.rest.substr(colon + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  event.info = &kind.info;
  event.state = ValueState::kDecoded;
  event.value_count = 1;
  event.values[0] = {text.size(), text.data()};
  return true;
}

bool TextTraceReader::take(const TextForm& form, const TextLead& lead, Event& event) {
  if (lead.is_host) {
    stamp(lead, event);
    return take_host(lead, event);
  }
  const std::string_view name = lead.rest.substr(0, lead.rest.find_first_of(form.fields ? ":" : " "));
  if (!is_name(name)) return false;
  const Declaration* declaration = declarations_.find(name);
  if (declaration == nullptr && !form.certain) return false;
  stamp(lead, event);
  if (declaration == nullptr) {
    undeclared(name, event);
    return true;
  }
  Kind& kind = kind_of(name, declaration);
  event.info = &kind.info;
  event.state = ValueState::kDecoded;
  event.value_count = static_cast<uint8_t>(declaration->arguments.size());
  std::fill_n(event.values.begin(), event.value_count, Value{});
  const std::string_view text = lead.rest.substr(std::min(name.size() + 1, lead.rest.size()));
  if (form.fields) {
    if (fields(kind, text, event)) return true;
  } else if (kind.format) {
    if (const auto missing = kind.format->match(text, *declaration, event.values)) {
      event.missing = *missing;
      return true;
    }
  }
  if (kind.mismatch == nullptr) {
    kind.mismatch = &report_.mismatches[kind.info.name];
    kind.mismatch->second =
        kind.format ? fmt::format("the text does not fit the declared format, first '{}'", printable(text.substr(0, 60)))
                    : std::string("the declared format cannot be read back");
  }
  ++kind.mismatch->first;
  ++report_.mismatched_events;
  event.state = ValueState::kMismatch;
  event.value_count = 0;
  return true;
}

/// babeltrace: ` { cpu_id = 1 }, { vpid = 7, vtid = 8 }, { vdev = 0x55, name = "a\"b" }`. Fields are found by name in any
/// block.
bool TextTraceReader::fields(const Kind& kind, std::string_view text, Event& event) {
  unescaped_.clear();
  event.missing = static_cast<uint16_t>((1U << event.value_count) - 1);
  size_t i = 0;
  while ((i = text.find_first_not_of(" ,{}", i)) != std::string_view::npos) {
    const size_t equals = text.find(" = ", i);
    if (equals == std::string_view::npos) return false;
    const std::string_view field = text.substr(i, equals - i);
    i = equals + 3;
    Value value;
    if (i < text.size() && text[i] == '"') {
      std::string& string = unescaped_.emplace_back();
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        string += text[i];
      }
      if (i == text.size()) return false;
      ++i;
      value = {string.size(), string.data()};
    } else {
      const bool negative = i < text.size() && text[i] == '-';
      if (negative) ++i;
      const bool hex = text.substr(i).starts_with("0x");
      if (hex) i += 2;
      const auto [end, failure] = std::from_chars(text.data() + i, text.data() + text.size(), value.number, hex ? 16 : 10);
      if (failure != std::errc{}) return false;
      i = static_cast<size_t>(end - text.data());
      if (negative) value.number = ~value.number + 1;
    }
    if (field == "vpid" && !value.is_string()) {
      event.pid = static_cast<uint32_t>(value.number);
      event.has_pid = true;
    } else if (field == "vtid" && !value.is_string()) {
      event.tid = static_cast<uint32_t>(value.number);
      event.has_tid = true;
    }
    const auto index = kind.info.argument_index(field);
    if (!index) continue;
    const Argument& argument = kind.info.arguments[*index];
    if ((argument.kind == ArgumentKind::kString) != value.is_string()) return false;
    if (!value.is_string()) value.number = widened(value.number, argument);
    event.values[*index] = value;
    event.missing = static_cast<uint16_t>(event.missing & ~(1U << *index));
  }
  return true;
}

}  // namespace qperf::qemutrace
