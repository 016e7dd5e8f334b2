#include "capture/header_keys.h"

#include <fmt/core.h>

#include <concepts>
#include <limits>
#include <optional>
#include <utility>

#include "capture/limits.h"

namespace qperf::capture {
namespace {

// One pair of overloads for each type that a Header field has: nullopt leaves the field out, false refuses the value.

template <std::unsigned_integral T>
std::optional<MetadataValue> to_value(T field) {
  if constexpr (std::same_as<T, bool>) {
    return field;
  } else {
    if (field == 0) return std::nullopt;
    return uint64_t{field};
  }
}

template <std::unsigned_integral T>
bool from_value(const MetadataValue& value, T& field) {
  using Stored = std::conditional_t<std::same_as<T, bool>, bool, uint64_t>;
  const auto* stored = std::get_if<Stored>(&value);
  if (stored == nullptr || *stored > std::numeric_limits<T>::max()) return false;
  field = static_cast<T>(*stored);
  return true;
}

template <typename T>
  requires std::same_as<T, std::string> || std::same_as<T, std::vector<std::byte>>
std::optional<MetadataValue> to_value(const T& field) {
  if (field.empty()) return std::nullopt;
  return field;
}

template <typename T>
  requires std::same_as<T, std::string> || std::same_as<T, std::vector<std::byte>>
bool from_value(const MetadataValue& value, T& field) {
  const auto* stored = std::get_if<T>(&value);
  if (stored != nullptr) field = *stored;
  return stored != nullptr;
}

std::optional<MetadataValue> to_value(guest::Target field) { return uint64_t{static_cast<uint8_t>(field)}; }

bool from_value(const MetadataValue& value, guest::Target& field) {
  uint8_t stored = 0;
  if (!from_value(value, stored)) return false;
  const auto target = guest::target_by_value(stored);
  if (target) field = *target;
  return target.has_value();
}

std::optional<MetadataValue> to_value(guest::Mode field) { return uint64_t{static_cast<uint8_t>(field)}; }

bool from_value(const MetadataValue& value, guest::Mode& field) {
  uint8_t stored = 0;
  if (!from_value(value, stored)) return false;
  if (stored < static_cast<uint8_t>(guest::Mode::kWall) || stored > static_cast<uint8_t>(guest::Mode::kExact)) return false;
  field = static_cast<guest::Mode>(stored);
  return true;
}

std::optional<MetadataValue> to_value(std::optional<GuestVa> field) {
  if (!field) return std::nullopt;
  return field->raw;
}

bool from_value(const MetadataValue& value, std::optional<GuestVa>& field) {
  const auto* stored = std::get_if<uint64_t>(&value);
  if (stored != nullptr) field = GuestVa{*stored};
  return stored != nullptr;
}

enum class Presence : uint8_t { kOptional, kRequired };

struct HeaderKey {
  std::string_view key;
  Presence presence;
  std::optional<MetadataValue> (*read)(const Header&);
  bool (*store)(Header&, const MetadataValue&);
};

template <auto Field>
constexpr HeaderKey key_for(std::string_view key, Presence presence = Presence::kOptional) {
  return {key, presence, [](const Header& header) { return to_value(header.*Field); },
          [](Header& header, const MetadataValue& value) { return from_value(value, header.*Field); }};
}

/// The ends of the kernel range, which are members of a member; 0 is an address like any other.
template <GuestVa GuestRange::* End>
constexpr HeaderKey range_key(std::string_view key) {
  return {key, Presence::kRequired,
          [](const Header& header) { return std::optional<MetadataValue>((header.kernel_range.*End).raw); },
          [](Header& header, const MetadataValue& value) { return from_value(value, (header.kernel_range.*End).raw); }};
}

constexpr HeaderKey kKeys[] = {
    key_for<&Header::target>("guest.target", Presence::kRequired),
    key_for<&Header::vcpus>("guest.vcpus"),
    key_for<&Header::max_vcpus>("guest.max_vcpus"),
    key_for<&Header::trace_address>("guest.trace_address"),
    range_key<&GuestRange::first>("kernel.first"),
    range_key<&GuestRange::last>("kernel.last"),
    key_for<&Header::elf_path>(kElfPathKey),
    key_for<&Header::elf_build_id>(kElfBuildIdKey),
    key_for<&Header::mode>("sampling.mode", Presence::kRequired),
    key_for<&Header::freq_hz>("sampling.freq_hz"),
    key_for<&Header::period_insns>("sampling.period_insns"),
    key_for<&Header::jitter_percent>("sampling.jitter_percent"),
    key_for<&Header::max_frames>("sampling.max_frames"),
    key_for<&Header::max_stack_bytes>("sampling.max_stack_bytes"),
    key_for<&Header::idle_known>("sampling.idle_known", Presence::kRequired),
    key_for<&Header::start_monotonic_ns>("host.start_monotonic_ns"),
    key_for<&Header::start_realtime_ns>("host.start_realtime_ns"),
    key_for<&Header::plugin_api>("plugin.api"),
    key_for<&Header::plugin_arguments>("plugin.arguments"),
    key_for<&Header::qperf_version>("qperf.version"),
    key_for<&Header::qemu_version>("qemu.version"),
    key_for<&Header::qemu_command_line>("qemu.command_line"),
};

}  // namespace

std::optional<std::string> import_format(const Metadata& metadata) {
  const auto found = metadata.find(std::string(kImportKey));
  if (found == metadata.end()) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

Result<void> check_header(const Header& header) {
  const auto refuse = [](std::string text) { return Error{ErrorCode::kBadFormat, "header: " + std::move(text)}; };
  // Readers divide by these two.
  if (header.mode == guest::Mode::kWall && header.freq_hz == 0) return refuse("mode wall without sampling.freq_hz");
  if (header.mode == guest::Mode::kIcount && header.period_insns == 0)
    return refuse("mode icount without sampling.period_insns");
  if (header.kernel_range.last < header.kernel_range.first)
    return refuse(fmt::format("kernel.first {:#x} lies above kernel.last {:#x}", header.kernel_range.first.raw,
                              header.kernel_range.last.raw));
  if (header.vcpus > kMaxVcpus || header.max_vcpus > kMaxVcpus)
    return refuse(fmt::format("{} vCPUs of at most {}, the limit is {}", header.vcpus, header.max_vcpus, kMaxVcpus));
  return {};
}

Metadata metadata_of(const Header& header) {
  Metadata metadata;
  for (const HeaderKey& row : kKeys) {
    if (auto value = row.read(header)) metadata.emplace(row.key, *std::move(value));
  }
  return metadata;
}

Result<Header> header_of(const Metadata& metadata) {
  Header header;
  for (const HeaderKey& row : kKeys) {
    const auto pair = metadata.find(std::string(row.key));
    if (pair == metadata.end()) {
      if (row.presence == Presence::kRequired)
        return Error{ErrorCode::kBadFormat, fmt::format("header: the key {} is missing", row.key)};
      continue;
    }
    if (!row.store(header, pair->second))
      return Error{ErrorCode::kBadFormat, fmt::format("header: the value of {} has a wrong type or is out of range", row.key)};
  }
  QPERF_RETURN_IF_ERROR(check_header(header));
  return header;
}

}  // namespace qperf::capture
