#include "export/pprof.h"

#include <algorithm>

#include "base/hex.h"
#include "base/printable.h"

namespace qperf::exporter {
namespace {

/// Field numbers of pprof's profile.proto.
namespace profile_field {
enum : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
}
namespace value_type_field {
enum : uint32_t { kType = 1, kUnit = 2 };
}
namespace sample_field {
enum : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
}
namespace label_field {
enum : uint32_t { kKey = 1, kText = 2, kNumber = 3 };
}
namespace mapping_field {
enum : uint32_t {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};
}
namespace location_field {
enum : uint32_t { kId = 1, kMappingId = 2, kAddress = 3, kLine = 4 };
}
namespace line_field {
enum : uint32_t { kFunctionId = 1, kLine = 2 };
}
namespace function_field {
enum : uint32_t { kId = 1, kName = 2, kFilename = 4, kStartLine = 5 };
}

/// The format's numbers are signed.
uint64_t clamped(uint64_t value) noexcept { return std::min(value, uint64_t{INT64_MAX}); }

}  // namespace

PprofWriter::PprofWriter(const PprofHeader& header, const profile::FrameTable& frames, TextSink& sink)
    : header_(header), frames_(frames), sink_(sink) {
  text_index("");  // index 0 by definition
  for (const PprofValueType& type : header.sample_types) emit(profile_field::kSampleType, value_type(type));
  ProtoWriter rest;
  rest.number(profile_field::kDefaultSampleType, text_index(header.sample_types.at(header.default_type).type));
  if (header.period_type) {
    rest.message(profile_field::kPeriodType, value_type(*header.period_type));
    rest.number(profile_field::kPeriod, clamped(header.period));
  }
  rest.number(profile_field::kTimeNanos, clamped(header.start_realtime_ns));
  rest.number(profile_field::kDurationNanos, clamped(header.duration_ns));
  for (const std::string& comment : header.comments) rest.number(profile_field::kComment, text_index(comment));
  sink_.write(rest.data());
}

void PprofWriter::emit(uint32_t field, const ProtoWriter& message) { write_message(sink_, field, message); }

uint64_t PprofWriter::text_index(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const auto [position, added] = texts_.try_emplace(printable(text), texts_.size());
  if (added) {
    ProtoWriter entry;
    entry.bytes(profile_field::kStringTable, position->first);
    sink_.write(entry.data());
  }
  return position->second;
}

ProtoWriter PprofWriter::value_type(const PprofValueType& type) {
  ProtoWriter message;
  message.number(value_type_field::kType, text_index(type.type));
  message.number(value_type_field::kUnit, text_index(type.unit));
  return message;
}

uint64_t PprofWriter::mapping_id(const profile::LocatedImage& image) {
  for (size_t i = 0; i < mappings_.size(); ++i)
    if (mappings_[i]->path == image.path && mappings_[i]->build_id == image.build_id) return i + 1;
  mappings_.push_back(&image);
  ProtoWriter message;
  message.number(mapping_field::kId, mappings_.size());
  message.number(mapping_field::kMemoryStart, image.text.first.raw);
  message.number(mapping_field::kMemoryLimit, std::max(image.text.last.raw, image.text.last.raw + 1));  // exclusive
  message.number(mapping_field::kFilename, text_index(image.path));
  if (!image.build_id.empty()) message.number(mapping_field::kBuildId, text_index(hex_digits(image.build_id)));
  // All that can be known about names is in the file: without these, viewers look for the ELF and name addresses anew.
  for (const uint32_t has : {mapping_field::kHasFunctions, mapping_field::kHasFilenames, mapping_field::kHasLineNumbers,
                             mapping_field::kHasInlineFrames})
    message.number(has, 1);
  emit(profile_field::kMapping, message);
  return mappings_.size();
}

void PprofWriter::begin_profile(const profile::LocatedProfile& profile) {
  profile_ = &profile;
  mapping_of_image_.clear();
  for (const auto& image : profile.images) mapping_of_image_.push_back(mapping_id(image));
  id_of_location_.assign(profile.locations.size(), 0);
  function_of_frame_.resize(frames_.size());
}

uint64_t PprofWriter::function_id(profile::FrameId frame) {
  uint64_t& id = function_of_frame_[frame.raw];
  if (id != 0) return id;
  id = ++functions_;
  const profile::Frame& named = frames_[frame];
  // Without a system name: readers would take one for mangled and treat a C++ name's parentheses as decoration.
  ProtoWriter message;
  message.number(function_field::kId, id);
  message.number(function_field::kName, text_index(named.name));
  if (!named.file.empty()) message.number(function_field::kFilename, text_index(named.file));
  if (named.line != 0) message.number(function_field::kStartLine, named.line);
  emit(profile_field::kFunction, message);
  return id;
}

uint64_t PprofWriter::location_id(profile::LocationId location) {
  uint64_t& id = id_of_location_[location.raw];
  if (id != 0) return id;
  const profile::Location& place = profile_->locations[location];
  const auto lines = profile_->locations.lines(location);
  const uint64_t mapping = place.image ? mapping_of_image_[*place.image] : 0;
  if (place.address.raw != 0) {  // 0 is that of all frames that have a name only
    auto& same_address = written_[place.address.raw];
    for (const Written& other : same_address) {
      if (other.mapping != mapping || !std::ranges::equal(other.profile->locations.lines(other.location), lines)) continue;
      id = other.id;
      return id;
    }
    same_address.push_back({.mapping = mapping, .profile = profile_, .location = location, .id = locations_ + 1});
  }
  id = ++locations_;
  write_location(id, mapping, location);
  return id;
}

void PprofWriter::write_location(uint64_t id, uint64_t mapping, profile::LocationId location) {
  ProtoWriter message;
  message.number(location_field::kId, id);
  if (mapping != 0) message.number(location_field::kMappingId, mapping);
  const uint64_t address = profile_->locations[location].address.raw;
  if (address != 0) message.number(location_field::kAddress, address);
  ProtoWriter line;
  for (const profile::SourceLine& one : profile_->locations.lines(location)) {
    line.clear();
    line.number(line_field::kFunctionId, function_id(one.frame));
    if (one.line != 0) line.number(line_field::kLine, one.line);
    message.message(location_field::kLine, line);
  }
  emit(profile_field::kLocation, message);
}

void PprofWriter::sample(profile::StackId stack, std::span<const int64_t> values, std::span<const PprofLabel> labels) {
  message_.clear();
  numbers_.clear();
  for (const profile::LocationId location : profile_->stacks[stack]) numbers_.push_back(location_id(location));
  message_.packed(sample_field::kLocationId, numbers_);
  numbers_.clear();
  for (const int64_t value : values) numbers_.push_back(static_cast<uint64_t>(value));
  message_.packed(sample_field::kValue, numbers_);
  for (const PprofLabel& label : labels) {
    inner_.clear();
    inner_.number(label_field::kKey, text_index(label.key));
    if (label.number)
      inner_.number(label_field::kNumber, clamped(*label.number));
    else
      inner_.number(label_field::kText, text_index(label.text));
    message_.message(sample_field::kLabel, inner_);
  }
  emit(profile_field::kSample, message_);
}
}  // namespace qperf::exporter
