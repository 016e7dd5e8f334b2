#pragma once

#include "export/text_sink.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

enum class RootFrames : uint8_t { kNone, kByVcpu };

/// The folded file of one part: one count a stack, or with a baseline the counts before and after.
void write_folded_part(const Profiles& profiles, Part part, RootFrames roots, exporter::TextSink& sink);

}  // namespace qperf::tools
