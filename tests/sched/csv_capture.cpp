#include "csv_capture.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "capture/events.h"

namespace qperf::sched {
namespace {

constexpr size_t kEventsPerFlush = 300;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::optional<uint64_t> number(const std::string& text, int base = 10) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One line into its vCPU's chunk; false if it is not of the form.
bool add_line(const std::vector<std::string>& fields, capture::EventChunk& chunk, uint64_t sequence) {
  const auto ns = number(fields[0]);
  if (!ns) return false;
  capture::Event event{.sequence = sequence, .wall_ns = *ns};
  if (fields[2] == "idle" || fields[2] == "resume") {
    event.type = fields[2] == "idle" ? capture::EventType::kVcpuIdle : capture::EventType::kVcpuResume;
    chunk.events.push_back(event);
    return true;
  }
  const auto kind = number(fields[2]);
  if (!kind || fields.size() < 8) return false;
  event.kind = *kind;
  for (size_t i = 0; i < event.args.size(); ++i) {
    const auto value = number(fields[3 + i]);
    if (!value) return false;
    event.args[i] = *value;
  }
  if (fields.size() > 8 && (*kind == guest::trace_kind::kBlock || *kind == guest::trace_kind::kWake)) {
    std::vector<GuestVa> stack;
    for (const auto& frame : split(fields[8], ';')) stack.push_back(GuestVa{number(frame, 16).value_or(0)});
    event.stack = static_cast<uint32_t>(chunk.stacks.size());
    chunk.stacks.push_back(std::move(stack));
  }
  chunk.events.push_back(event);
  return true;
}

}  // namespace

Result<void> csv_to_capture(const std::string& csv_path, capture::ByteSink& sink) {
  std::ifstream file(csv_path);
  if (!file) return Error{ErrorCode::kIo, csv_path + ": cannot be opened"};
  capture::Header header;
  header.freq_hz = 99;
  header.vcpus = header.max_vcpus = 2;
  header.qperf_version = "0.1.0";
  header.trace_address = GuestVa{0xffffffc080400000};
  capture::Writer writer(sink);
  QPERF_RETURN_IF_ERROR(writer.begin(header));
  std::map<uint32_t, capture::EventChunk> chunks;
  std::map<uint32_t, uint64_t> sequences;
  size_t pending = 0;
  WallNs last_ns = 0;
  const auto flush = [&]() -> Result<void> {
    for (auto& [vcpu, chunk] : chunks) {
      QPERF_RETURN_IF_ERROR(writer.events(chunk));
      chunk.stored_before += chunk.events.size();
      chunk.events.clear();
      chunk.stacks.clear();
    }
    pending = 0;
    return {};
  };
  size_t line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    const auto fields = split(line, ',');
    const auto vcpu = fields.size() < 3 ? std::nullopt : number(fields[1]);
    if (!vcpu || *vcpu > 1) return Error{ErrorCode::kBadFormat, csv_path + ": line " + std::to_string(line_number) + ": no vCPU 0 or 1"};
    auto& chunk = chunks[static_cast<uint32_t>(*vcpu)];
    chunk.vcpu = VcpuIndex{static_cast<uint32_t>(*vcpu)};
    if (!add_line(fields, chunk, sequences[chunk.vcpu.raw]++))
      return Error{ErrorCode::kBadFormat, csv_path + ": line " + std::to_string(line_number) + ": not an event"};
    last_ns = std::max(last_ns, chunk.events.back().wall_ns);
    if (++pending == kEventsPerFlush) QPERF_RETURN_IF_ERROR(flush());
  }
  QPERF_RETURN_IF_ERROR(flush());
  capture::Trailer trailer;
  trailer.end_wall_ns = last_ns;
  return writer.finish(trailer);
}

}  // namespace qperf::sched
