#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/frame_table.h"

namespace qperf::exporter {

/// What a frame stands for, which its colour shows.
enum class FrameKind : uint8_t {
  kFunction,
  kWithoutSource,  // a function whose source file is not known
  kModule,         // code outside the ELF
  kAddress,        // no name
  kTask,
  kWaiting,  // off-CPU: a state
  kWaitedIn,  // off-CPU: a reason, a resource, a function
  kOther,    // what is no code: "[rare]"
};
inline constexpr size_t kFrameKinds = 8;

/// By its name and file; never a task or what belongs to waiting.
[[nodiscard]] FrameKind kind_of(const profile::Frame& frame) noexcept;
/// For a legend.
[[nodiscard]] std::string_view describe(FrameKind kind) noexcept;

/// "#rrggbb". Functions of one kind differ a little by name, and a name always has the same colour.
[[nodiscard]] std::string colour_of(FrameKind kind, std::string_view name);

/// From light red (a small growth) to red, from light blue to blue; `strength`: -1 to 1.
[[nodiscard]] std::string colour_of_change(double strength);
/// Of what did not change.
inline constexpr std::string_view kUnchangedColour = "#e3dfd6";
/// Of the root above all stacks.
inline constexpr std::string_view kRootColour = "#cbc6ba";

}  // namespace qperf::exporter
