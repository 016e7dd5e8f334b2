#include "tools/qperf/address_names.h"

#include "analysis/elf_argument.h"
#include "analysis/image_set.h"
#include "analysis/lookups.h"
#include "analysis/naming.h"
#include "base/printable.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {

using analysis::Home;
using analysis::Lookup;
using analysis::Reached;

struct AddressNames::State {
  State(analysis::CaptureInput capture_input, analysis::ImageSet image_set)
      : input(std::move(capture_input)), images(std::move(image_set)) {}
  analysis::CaptureInput input;
  analysis::ImageSet images;
  analysis::Messages messages;
  analysis::LookupTable lookups;
  struct Names {
    std::string function;
    std::string chain;
  };
  std::vector<Names> names;

  uint32_t intern(WallNs at_ns, GuestVa address, Reached reached) {
    const int64_t back = reached == Reached::kReturnedTo ? 1 : 0;
    Lookup lookup{.home = Home::kOutside, .reached = reached, .image = 0, .address = address};
    if (const auto place = images.place(images.era_at(at_ns), address - back)) {
      lookup.home = Home::kImage;
      lookup.image = place->image;
      lookup.address = place->address + back;
    } else if (input.summary.header.kernel_range.contains(address)) {
      lookup.home = Home::kModule;
    }
    return lookups.intern(lookup).raw;
  }
};

AddressNames::AddressNames(std::unique_ptr<State> state) : state_(std::move(state)) {}
AddressNames::AddressNames(AddressNames&&) noexcept = default;
AddressNames::~AddressNames() = default;

Result<AddressNames> AddressNames::open(const std::string& capture_path, const std::vector<std::string>& elfs) {
  QPERF_ASSIGN_OR_RETURN(analysis::CaptureInput input, analysis::survey_capture(capture_path));
  if (input.legacy)
    return Error{ErrorCode::kUsage, capture_path + ": captures of the older format have no clock that a trace could be put on"};
  std::vector<analysis::ElfArgument> arguments;
  for (const std::string& elf : elfs) arguments.push_back(analysis::parse_elf_argument(elf));
  analysis::Messages messages;
  QPERF_ASSIGN_OR_RETURN(analysis::ImageSet images,
                         analysis::ImageSet::open(arguments, input, analysis::Mismatch::kRefuse, messages));
  auto state = std::make_unique<State>(std::move(input), std::move(images));
  state->messages = std::move(messages);
  return AddressNames(std::move(state));
}

const analysis::CaptureInput& AddressNames::capture() const noexcept { return state_->input; }
const analysis::Messages& AddressNames::messages() const noexcept { return state_->messages; }

uint32_t AddressNames::executed(WallNs at_ns, GuestVa pc) { return state_->intern(at_ns, pc, Reached::kExecuted); }
uint32_t AddressNames::returned_to(WallNs at_ns, GuestVa address) {
  return state_->intern(at_ns, address, Reached::kReturnedTo);
}

Result<void> AddressNames::resolve() {
  profile::FrameTable frames;
  QPERF_ASSIGN_OR_RETURN(const auto named, analysis::name_lookups(state_->images, state_->lookups.all(), frames));
  for (const analysis::NamedLookup& lookup : named) {
    State::Names& names = state_->names.emplace_back();
    names.function = printable(frames[lookup.lines.front().frame].name);
    for (const profile::SourceLine& line : lookup.lines)
      names.chain += (names.chain.empty() ? "" : " < ") + printable(frames[line.frame].name);
  }
  return {};
}

const std::string& AddressNames::function(uint32_t id) const noexcept { return state_->names[id].function; }
const std::string& AddressNames::inline_chain(uint32_t id) const noexcept { return state_->names[id].chain; }

void report_messages(const analysis::Messages& messages) {
  for (const analysis::Message& message : messages) {
    if (message.severity == analysis::Severity::kWarning) report_warning(message.text);
  }
}

}  // namespace qperf::tools
