#pragma once

#include <string>

#include "export/speedscope.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

enum class ProfileList : uint8_t { kAllOnly, kAllAndVcpus, kAllTasksAndVcpus };

/// The speedscope document of one part, called `name`: its profile and on request one for each vCPU, and for each task; or, with a baseline,
/// before, after, increase and decrease.
[[nodiscard]] exporter::SpeedscopeDocument speedscope_part(const Profiles& profiles, Part part, ProfileList list,
                                                           std::string name);

}  // namespace qperf::tools
