#include "report/neighbours.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/printable.h"

namespace qperf::report {

using profile::FrameId;

CallTree neighbours(std::span<const FrameId> functions, Side side, std::span<const Row> rows,
                    const profile::NamedStacks& names) {
  CallTree tree;
  std::vector<FrameId> path;
  for (const Row& row : rows) {
    const auto stack = names.stacks[row.stack];
    const auto outermost = std::ranges::find_first_of(stack, functions);
    if (outermost == stack.end()) continue;
    if (side == Side::kCallees) {
      path.assign(outermost, stack.end());
    } else {
      path.assign(stack.begin(), outermost + 1);
      std::ranges::reverse(path);
    }
    tree.add(path, row.weight);
  }
  return tree;
}

Result<std::vector<FrameId>> frames_called(std::string_view name, const profile::FrameTable& frames) {
  std::vector<FrameId> found;
  std::set<std::string> similar;
  for (uint32_t i = 0; i < frames.size(); ++i) {
    const std::string& candidate = frames[FrameId{i}].name;
    if (candidate == name) found.push_back(FrameId{i});
    else if (candidate.find(name) != std::string::npos) similar.insert(candidate);
  }
  if (!found.empty()) return found;
  std::string message = fmt::format("no function is called '{}' in what was selected", printable(name));
  constexpr size_t kShown = 5;
  size_t shown = 0;
  for (const std::string& candidate : similar) {
    if (shown++ == kShown) break;
    message += fmt::format("{} '{}'", shown == 1 ? "; there are" : ",", candidate);
  }
  if (similar.size() > kShown) message += fmt::format(" and {} more that contain it", similar.size() - kShown);
  return Error{ErrorCode::kUsage, std::move(message)};
}

}  // namespace qperf::report
