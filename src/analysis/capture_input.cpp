#include "analysis/capture_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/printable.h"
#include "capture/header_keys.h"

namespace qperf::analysis {
namespace {

constexpr size_t kMagicBytes = 8;

/// The first bytes of a file, fewer if it is shorter.
Result<std::vector<std::byte>> first_bytes(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) return Error{ErrorCode::kIo, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno))};
  std::vector<std::byte> bytes(kMagicBytes);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  return bytes;
}

}  // namespace

Result<bool> is_legacy_file(const std::string& path) {
  QPERF_ASSIGN_OR_RETURN(const auto magic, first_bytes(path));
  return capture::is_legacy_capture(magic);
}

Result<CaptureInput> survey_capture(const std::string& path) {
  CaptureInput input{.path = path, .legacy = false, .summary = {}, .fingerprints = {}};
  QPERF_ASSIGN_OR_RETURN(input.legacy, is_legacy_file(path));
  if (input.legacy) return input;
  capture::Handlers handlers;
  handlers.fingerprints = [&](std::span<const capture::Fingerprint> seen) -> Result<void> {
    const size_t room = kMaxFingerprints - input.fingerprints.size();
    const auto taken = seen.first(std::min(room, seen.size()));
    input.fingerprints.insert(input.fingerprints.end(), taken.begin(), taken.end());
    return {};
  };
  QPERF_ASSIGN_OR_RETURN(input.summary, capture::read_capture(path, handlers));
  std::ranges::stable_sort(input.fingerprints, {}, &capture::Fingerprint::wall_ns);
  return input;
}

std::string describe_mode(const CaptureInput& input) {
  const capture::Header& header = input.summary.header;
  if (input.legacy) return "older format, no clock";
  if (const auto format = capture::import_format(input.summary.metadata)) return "imported: " + printable(*format);
  switch (header.mode) {
    case guest::Mode::kWall: return fmt::format("wall at {} Hz", header.freq_hz);
    case guest::Mode::kIcount: {
      std::string text = fmt::format("icount, every {} instructions", header.period_insns);
      if (header.jitter_percent != 0) text += fmt::format(" (jitter {} %)", header.jitter_percent);
      return text;
    }
    case guest::Mode::kExact: return "exact, every block counted";
  }
  return "?";
}

WallNs end_of(const CaptureInput& input) noexcept {
  const auto& summary = input.summary;
  if (summary.trailer) return summary.trailer->end_wall_ns;
  return summary.last_ledger ? summary.last_ledger->wall_ns : 0;
}

}  // namespace qperf::analysis
