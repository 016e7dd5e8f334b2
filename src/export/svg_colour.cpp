#include "export/svg_colour.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace qperf::exporter {
namespace {

struct Rgb {
  double red;
  double green;
  double blue;
};

struct KindRow {
  std::string_view words;
  Rgb from;
  Rgb to;
};

/// By FrameKind. Black text stands on all of them.
constexpr std::array<KindRow, kFrameKinds> kKinds{{
    {"function", {236, 133, 88}, {241, 206, 110}},
    {"function without source file", {214, 190, 128}, {222, 206, 152}},
    {"module", {126, 188, 132}, {164, 212, 154}},
    {"address without name", {184, 182, 178}, {200, 198, 194}},
    {"task", {176, 170, 226}, {200, 194, 238}},
    {"state", {120, 196, 196}, {150, 210, 206}},
    {"reason, resource, function", {128, 176, 226}, {172, 206, 238}},
    {"other", {212, 206, 194}, {212, 206, 194}},
}};

constexpr Rgb kLittleMore{250, 206, 190};
constexpr Rgb kMuchMore{222, 66, 46};
constexpr Rgb kLittleLess{200, 217, 246};
constexpr Rgb kMuchLess{64, 112, 214};

std::string mixed(const Rgb& from, const Rgb& to, double part) {
  const auto channel = [&](double a, double b) { return static_cast<unsigned>(std::lround(a + (b - a) * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue));
}

/// 0 to 1, in steps that are exact on every machine.
double spread_of(std::string_view name) noexcept {
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return static_cast<double>((hash ^ (hash >> 16)) & 0xff) / 255;
}

}  // namespace

FrameKind kind_of(const profile::Frame& frame) noexcept {
  const std::string_view name = frame.name;
  if (name.starts_with("[module]")) return FrameKind::kModule;
  if (name.starts_with("[")) return FrameKind::kOther;
  if (name.starts_with("0x")) return FrameKind::kAddress;
  return frame.file.empty() ? FrameKind::kWithoutSource : FrameKind::kFunction;
}

std::string_view describe(FrameKind kind) noexcept { return kKinds[static_cast<size_t>(kind)].words; }

std::string colour_of(FrameKind kind, std::string_view name) {
  const KindRow& row = kKinds[static_cast<size_t>(kind)];
  return mixed(row.from, row.to, spread_of(name));
}

std::string colour_of_change(double strength) {
  const double part = std::min(std::fabs(strength), 1.0);
  return strength > 0 ? mixed(kLittleMore, kMuchMore, part) : mixed(kLittleLess, kMuchLess, part);
}

}  // namespace qperf::exporter
