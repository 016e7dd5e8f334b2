#include "tools/profiles/recorded_elf.h"

#include <filesystem>

#include "tools/profiles/selection.h"

namespace qperf::tools {

Result<void> check_recorded_elf_is_kept(const analysis::CaptureInput& capture, const std::vector<std::string>& outputs) {
  const std::filesystem::path elf = capture.summary.header.elf_path;
  if (elf.empty()) return {};
  const std::filesystem::path beside = std::filesystem::path(capture.path).parent_path() / elf.filename();
  return check_no_input_is_overwritten({elf.string(), beside.string()}, outputs);
}

}  // namespace qperf::tools
