#include "qemutrace/simpletrace.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr size_t kHeaderBytes = 24;
constexpr size_t kTypeBytes = 8;
constexpr size_t kHeadBytes = 24;         // id, time, length, pid
constexpr size_t kFixedRecordBytes = 64;  // version 0
constexpr size_t kFixedArguments = 6;
// QEMU's ring: no record is longer, so a longer one means that the framing is lost.
constexpr uint32_t kMaxRecordBytes = 262144;
constexpr uint32_t kMaxNameBytes = 4096;  // QEMU's longest event name has 60 letters
constexpr uint64_t kMaxDenseId = 65536;
constexpr size_t kMaxUnnamedKinds = 65536;  // ids of a damaged file, each a name of its own
constexpr size_t kMaxNamesBytes = size_t{16} << 20;  // QEMU's are about 200 kB
constexpr size_t kMaxMappings = size_t{1} << 18;     // QEMU's are about 6000
constexpr size_t kSampleBytes = size_t{256} << 10;
constexpr uint64_t kTypeMapping = 0;
constexpr uint64_t kTypeEvent = 1;
constexpr uint64_t kLossId = ~uint64_t{0} - 1;
constexpr uint64_t kHeaderId = ~uint64_t{0};
constexpr uint64_t kHeaderMagic = 0xf2b177cb0aa429b4;
constexpr bool kBigHost = std::endian::native == std::endian::big;

uint64_t load64(const char* at, bool swapped) noexcept {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return swapped ? __builtin_bswap64(value) : value;
}

uint32_t load32(const char* at, bool swapped) noexcept {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return swapped ? __builtin_bswap32(value) : value;
}

const Argument& loss_argument() {
  static const Argument kArgument{.type = "uint64_t", .name = "num_events_dropped"};
  return kArgument;
}

/// A stap stream has no header: the first record must be an event of a known id with a plausible length.
bool looks_like_stap(std::span<const char> bytes, const Declarations& declarations, bool swapped) {
  if (bytes.size() < kTypeBytes + kHeadBytes || load64(bytes.data(), swapped) != kTypeEvent) return false;
  const uint32_t length = load32(bytes.data() + 24, swapped);
  return load64(bytes.data() + 8, swapped) < declarations.all().size() && length >= kHeadBytes && length <= kMaxRecordBytes;
}

}  // namespace

Result<std::optional<SimpletraceLayout>> detect_simpletrace(std::span<const char> bytes, const Declarations& declarations) {
  for (const bool swapped : {false, true}) {
    SimpletraceLayout layout{.swapped = swapped};
    if (looks_like_stap(bytes, declarations, swapped)) {
      layout.has_header = false;
      return std::optional(layout);
    }
    if (bytes.size() < kHeaderBytes || load64(bytes.data(), swapped) != kHeaderId ||
        load64(bytes.data() + 8, swapped) != kHeaderMagic)
      continue;
    const uint64_t version = load64(bytes.data() + 16, swapped);
    if (version != 0 && version != 2 && version != 3 && version != 4) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("simpletrace version {}: QEMU wrote 0, 2, 3 and 4, which can be read; the header may be damaged",
                               version)};
    }
    layout.version = static_cast<uint32_t>(version);
    layout.has_type_word = version == 4;
    layout.fixed_records = version == 0;
    layout.has_pid = version >= 3;
    return std::optional(layout);
  }
  return std::optional<SimpletraceLayout>();
}

SimpletraceReader::SimpletraceReader(Input input, const SimpletraceLayout& layout, const Declarations& declarations, IdRule ids)
    : input_(std::move(input)), layout_(layout), declarations_(declarations) {
  if (layout_.has_header) {
    const size_t header = layout_.fixed_records ? kFixedRecordBytes : kHeaderBytes;
    const size_t available = input_.peek(header).size();
    if (available < header) {
      ended_ = true;
      report_.torn_bytes = available;
    } else {
      input_.consume(header);
    }
  }
  if (!layout_.has_header || layout_.version < 4) number_declarations(ids);
  new_kind(kDroppedEventName, nullptr).info.arguments = {&loss_argument(), 1};
}

SimpletraceReader::~SimpletraceReader() = default;

uint64_t SimpletraceReader::u64(const char* at) const noexcept { return load64(at, layout_.swapped); }
uint32_t SimpletraceReader::u32(const char* at) const noexcept { return load32(at, layout_.swapped); }

TraceClock SimpletraceReader::clock() const noexcept {
  return layout_.has_header ? TraceClock::kMonotonic : TraceClock::kRealtime;
}

std::string SimpletraceReader::description() const {
  const char* order = layout_.swapped != kBigHost ? "big-endian" : "little-endian";
  if (!layout_.has_header) return fmt::format("simpletrace stap stream, {}", order);
  return fmt::format("simpletrace version {}, {}", layout_.version, order);
}

SimpletraceReader::Plan SimpletraceReader::plan_of(std::span<const Argument> arguments) {
  Plan plan{.count = static_cast<uint8_t>(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == ArgumentKind::kString) plan.strings = static_cast<uint16_t>(plan.strings | 1U << i);
  }
  plan.last_is_only_string = plan.count > 0 && plan.strings == 1U << (plan.count - 1U);
  return plan;
}

SimpletraceReader::Kind& SimpletraceReader::new_kind(std::string_view name, const Declaration* declaration) {
  Kind& kind = kinds_.emplace_back();
  kind.info.name = name;
  kind.info.index = static_cast<uint32_t>(kinds_.size() - 1);
  kind.info.declaration = declaration;
  by_name_.emplace(kind.info.name, &kind);
  if (declaration == nullptr) return kind;
  kind.info.arguments = declaration->arguments;
  kind.plan = plan_of(kind.info.arguments);
  if (declaration->vcpu) {
    kind.vcpu_arguments = declaration->arguments;
    kind.vcpu_arguments.insert(kind.vcpu_arguments.begin(),
                               Argument{.type = "void *", .name = "__cpu", .kind = ArgumentKind::kPointer});
    kind.vcpu_info = kind.info;
    kind.vcpu_info.arguments = kind.vcpu_arguments;
  }
  return kind;
}

void SimpletraceReader::bind(uint64_t id, Kind& kind) {
  if (id >= kMaxDenseId) {
    by_large_id_[id] = &kind;
    return;
  }
  if (id >= by_id_.size()) by_id_.resize(std::max<size_t>(id + 1, by_id_.size() * 2));
  by_id_[id] = &kind;
}

/// The event of an id: what its mapping names, else a declaration by its place, else a name made of the number.
SimpletraceReader::Kind& SimpletraceReader::kind_of(uint64_t id) {
  if (id < by_id_.size() && by_id_[id] != nullptr) return *by_id_[id];
  if (id >= kMaxDenseId) {
    if (const auto found = by_large_id_.find(id); found != by_large_id_.end()) return *found->second;
  }
  const auto mapped = mapped_name(id);
  const Declaration* declaration = mapped                     ? declarations_.find(*mapped)
                                   : id < numbered_.size() ? numbered_[id]
                                                           : nullptr;
  std::string name = mapped                   ? std::string(*mapped)
                     : declaration != nullptr ? declaration->name
                                              : fmt::format("(id {} without a name)", id);
  if (declaration == nullptr && kinds_.size() >= kMaxUnnamedKinds) name = "(more ids without a name)";
  const auto found = by_name_.find(name);
  Kind& kind = found != by_name_.end() ? *found->second : new_kind(name, declaration);
  if (kinds_.size() < kMaxUnnamedKinds) bind(id, kind);
  return kind;
}

std::optional<std::string_view> SimpletraceReader::mapped_name(uint64_t id) const {
  NamePlace place;
  if (id < name_by_id_.size()) place = name_by_id_[id];
  if (id >= kMaxDenseId) {
    if (const auto found = name_by_large_id_.find(id); found != name_by_large_id_.end()) place = found->second;
  }
  if (place.length == 0) return std::nullopt;
  return std::string_view(names_).substr(place.begin, place.length);
}

/// False when the file maps more names than any QEMU has events.
bool SimpletraceReader::note_name(uint64_t id, std::string_view name) {
  if (names_.size() + name.size() > kMaxNamesBytes || ++mappings_ > kMaxMappings) return false;
  const NamePlace place{static_cast<uint32_t>(names_.size()), static_cast<uint32_t>(name.size())};
  names_ += name;
  if (id >= kMaxDenseId) {
    name_by_large_id_[id] = place;
    by_large_id_.erase(id);
    return true;
  }
  if (id >= name_by_id_.size()) name_by_id_.resize(std::max<size_t>(id + 1, name_by_id_.size() * 2));
  name_by_id_[id] = place;
  if (id < by_id_.size()) by_id_[id] = nullptr;  // mapped anew: what follows has the new name
  return true;
}

void SimpletraceReader::number_declarations(IdRule ids) {
  const auto fill = [&](IdRule rule) {
    numbered_.clear();
    for (const Declaration& d : declarations_.all()) {
      if (rule == IdRule::kAll || !d.disabled) numbered_.push_back(&d);
    }
  };
  if (ids == IdRule::kDetect && !layout_.has_header) ids = IdRule::kAll;            // a stap stream counts disabled events
  if (ids == IdRule::kDetect && layout_.fixed_records) ids = IdRule::kEnabledOnly;  // no lengths to judge by
  if (ids == IdRule::kDetect && !ended_) {
    const auto sample = input_.peek(kSampleBytes);
    fill(IdRule::kAll);
    const size_t misfits_all = misfits(sample);
    fill(IdRule::kEnabledOnly);
    ids = misfits_all < misfits(sample) ? IdRule::kAll : IdRule::kEnabledOnly;
  }
  fill(ids);
}

/// How many of the sample's records do not fit what numbered_ says.
size_t SimpletraceReader::misfits(std::span<const char> bytes) const {
  size_t count = 0;
  Event event;
  while (bytes.size() >= kHeadBytes) {
    const uint64_t id = u64(bytes.data());
    const uint32_t length = u32(bytes.data() + 16);
    if (length < kHeadBytes || length > bytes.size()) break;
    if (id != kLossId) {
      const bool fits = id < numbered_.size() &&
                        decode(bytes.data() + kHeadBytes, length - kHeadBytes, plan_of(numbered_[id]->arguments), event);
      if (!fits) ++count;
    }
    bytes = bytes.subspan(length);
  }
  return count;
}

bool SimpletraceReader::end_at(size_t leftover) {
  ended_ = true;
  report_.torn_bytes = leftover;
  if (!input_.read_error().empty()) report_.broken = fmt::format("at byte {}: {}", input_.offset(), input_.read_error());
  return false;
}

bool SimpletraceReader::broken(std::string what) {
  ended_ = true;
  report_.broken = fmt::format("at byte {}: {}; what follows cannot be read", input_.offset(), what);
  return false;
}

bool SimpletraceReader::read_mapping(std::span<const char> bytes) {
  constexpr size_t kFixed = kTypeBytes + 8 + 4;
  if (bytes.size() < kFixed) return end_at(bytes.size());
  const uint64_t id = u64(bytes.data() + 8);
  const uint32_t length = u32(bytes.data() + 16);
  if (length == 0 || length > kMaxNameBytes)
    return broken(fmt::format("a mapping has a name of {} bytes, expected 1 to {}", length, kMaxNameBytes));
  bytes = input_.peek(kFixed + length);
  if (bytes.size() < kFixed + length) return end_at(bytes.size());
  if (!note_name(id, {bytes.data() + kFixed, length}))
    return broken(fmt::format("more than {} event names or {} bytes of them", kMaxMappings, kMaxNamesBytes));
  input_.consume(kFixed + length);
  return true;
}

inline bool SimpletraceReader::decode(const char* payload, size_t size, Plan plan, Event& event) const noexcept {
  const char* at = payload;
  const char* const end = payload + size;
  uint16_t strings = plan.strings;
  for (unsigned i = 0; i < plan.count; ++i, strings = static_cast<uint16_t>(strings >> 1)) {
    if ((strings & 1U) == 0) {
      if (end - at < 8) return false;
      event.values[i] = {u64(at), nullptr};
      at += 8;
    } else {
      if (end - at < 4) return false;
      const uint32_t length = u32(at);
      at += 4;
      if (length > static_cast<size_t>(end - at)) return false;
      event.values[i] = {length, at};
      at += length;
    }
  }
  event.value_count = plan.count;
  return at == end;
}

/// Whether a payload has the plan's shape, without keeping its values where the shape is a common one.
inline bool SimpletraceReader::fits(const char* payload, size_t size, Plan plan, Event& event) const noexcept {
  if (plan.strings == 0) return size == size_t{8} * plan.count;
  if (!plan.last_is_only_string) return decode(payload, size, plan, event);
  const size_t before = size_t{8} * (plan.count - size_t{1});
  return size >= before + 4 && size - before - 4 == u32(payload + before);
}

void SimpletraceReader::note_mismatch(Kind& kind, size_t payload_size) {
  if (kind.mismatch == nullptr) {
    const size_t declared = kind.info.arguments.size();
    kind.mismatch = &report_.mismatches[printable(kind.info.name)];
    const bool countable = kind.plan.strings == 0 && payload_size % 8 == 0;
    kind.mismatch->second =
        countable
            ? fmt::format("this file was written by a QEMU whose {} has {} arguments, the declaration has {}",
                          printable(kind.info.name), payload_size / 8, declared)
            : fmt::format("a payload of {} bytes does not fit the {} declared arguments: another QEMU's declaration is needed",
                          payload_size, declared);
  }
  ++kind.mismatch->first;
  ++report_.mismatched_events;
}

inline void SimpletraceReader::decode_payload(Kind& kind, const char* payload, size_t size, Event& event) {
  event.info = &kind.info;
  if (kind.info.declaration != nullptr) [[likely]] {
    event.state = ValueState::kDecoded;
    if (skip_values_ && fits(payload, size, kind.plan, event)) {
      event.value_count = 0;
      return;
    }
    if (decode(payload, size, kind.plan, event)) [[likely]]
      return;
    if (!kind.vcpu_arguments.empty() && decode(payload, size, plan_of(kind.vcpu_arguments), event)) {
      event.info = &kind.vcpu_info;
      return;
    }
    event.state = ValueState::kMismatch;
    note_mismatch(kind, size);
  } else {
    event.state = ValueState::kUndeclared;
    if (kind.undeclared == nullptr) kind.undeclared = &report_.undeclared[printable(kind.info.name)];
    ++*kind.undeclared;
    ++report_.undeclared_events;
  }
  event.value_count = 0;
}

void SimpletraceReader::fill_loss(Event& event, uint64_t count) {
  event.info = &kinds_.front().info;
  event.state = ValueState::kDecoded;
  event.is_loss = true;
  event.value_count = 1;
  event.values[0] = {count, nullptr};
  ++report_.loss_records;
  // Saturates: the counts are the file's word, and a sum that wraps would hide a loss.
  if (__builtin_add_overflow(report_.lost_events, count, &report_.lost_events)) report_.lost_events = ~uint64_t{0};
}

inline void SimpletraceReader::finish_event(uint64_t id, const char* payload, size_t size, Event& event) {
  event.is_loss = false;
  event.missing = 0;
  if (id == kLossId && size >= 8) [[unlikely]] {
    fill_loss(event, u64(payload));
    return;
  }
  ++report_.events;
  decode_payload(kind_of(id), payload, size, event);
}

/// Version 0: 64 bytes a record, six numbers whether used or not, strings only as the pointers they had.
bool SimpletraceReader::next_fixed(Event& event) {
  const auto bytes = input_.peek(kFixedRecordBytes);
  if (bytes.size() < kFixedRecordBytes) return end_at(bytes.size());
  const char* const at = bytes.data();
  input_.consume(kFixedRecordBytes);
  event.time_ns = u64(at + 8);
  event.has_pid = false;
  event.is_loss = false;
  event.missing = 0;
  if (u64(at) == kLossId) {
    fill_loss(event, u64(at + 16));
    return true;
  }
  ++report_.events;
  Kind& kind = kind_of(u64(at));
  event.info = &kind.info;
  if (kind.info.declaration == nullptr) {
    decode_payload(kind, nullptr, 0, event);
    return true;
  }
  event.state = ValueState::kDecoded;
  event.value_count = static_cast<uint8_t>(std::min(kind.info.arguments.size(), kFixedArguments));
  for (unsigned i = 0; i < event.value_count; ++i) event.values[i] = {u64(at + 16 + 8 * i), nullptr};
  if (kind.info.arguments.size() > kFixedArguments) {
    event.state = ValueState::kMismatch;
    event.value_count = 0;
    note_mismatch(kind, kFixedArguments * 8);
  }
  return true;
}

bool SimpletraceReader::next(Event& event) {
  if (ended_) return false;
  if (layout_.fixed_records) return next_fixed(event);
  const size_t lead = layout_.has_type_word ? kTypeBytes : 0;
  for (;;) {
    auto bytes = input_.peek(lead + kHeadBytes);
    if (lead != 0) {
      if (bytes.size() < lead) return end_at(bytes.size());
      const uint64_t type = u64(bytes.data());
      if (type == kTypeMapping) {
        if (!read_mapping(bytes)) return false;
        continue;
      }
      if (type != kTypeEvent) return broken(fmt::format("a record of type {:#x}, expected 0 (mapping) or 1 (event)", type));
    }
    if (bytes.size() < lead + kHeadBytes) return end_at(bytes.size());
    const uint32_t length = u32(bytes.data() + lead + 16);
    if (length < kHeadBytes || length > kMaxRecordBytes)
      return broken(fmt::format("a record of {} bytes, expected {} to {}", length, kHeadBytes, kMaxRecordBytes));
    if (bytes.size() < lead + length) {
      bytes = input_.peek(lead + length);
      if (bytes.size() < lead + length) return end_at(bytes.size());
    }
    const char* const head = bytes.data() + lead;
    input_.consume(lead + length);
    event.time_ns = u64(head + 8);
    event.pid = u32(head + 20);
    event.has_pid = layout_.has_pid;
    finish_event(u64(head), head + kHeadBytes, length - kHeadBytes, event);
    return true;
  }
}

}  // namespace qperf::qemutrace
