#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "export/proto_writer.h"
#include "export/text_sink.h"
#include "profile/frame_table.h"
#include "profile/located.h"

namespace qperf::exporter {

/// What a value counts and in what unit: "wall" in "nanoseconds".
struct PprofValueType {
  std::string type;
  std::string unit;
};

/// What is said once about the whole profile.
struct PprofHeader {
  std::vector<PprofValueType> sample_types;  // at least one
  size_t default_type = 0;                   // what viewers show first
  std::optional<PprofValueType> period_type;
  uint64_t period = 0;  // of period_type between two samples
  uint64_t start_realtime_ns = 0;
  uint64_t duration_ns = 0;
  std::vector<std::string> comments;
};

/// A key with either a text or a number. One per key and sample.
struct PprofLabel {
  std::string_view key;
  std::string_view text;
  std::optional<uint64_t> number;
};

/// Writes pprof's profile.proto, uncompressed, as samples come in; memory grows with distinct strings, functions and
/// addresses. Readers want it gzip-compressed (GzipSink).
class PprofWriter {
 public:
  /// Both outlive the writer.
  PprofWriter(const PprofHeader& header, const profile::FrameTable& frames, TextSink& sink);

  /// The samples that follow are of `profile`, whose lines are of the writer's frames; it outlives the writer. A second profile
  /// shares functions and addresses with the first.
  void begin_profile(const profile::LocatedProfile& profile);
  /// `values`: one per sample type. A stack without entries is legal.
  void sample(profile::StackId stack, std::span<const int64_t> values, std::span<const PprofLabel> labels);

 private:
  struct Written {
    uint64_t mapping = 0;
    const profile::LocatedProfile* profile = nullptr;
    profile::LocationId location;
    uint64_t id = 0;
  };

  uint64_t text_index(std::string_view text);
  uint64_t mapping_id(const profile::LocatedImage& image);
  uint64_t function_id(profile::FrameId frame);
  uint64_t location_id(profile::LocationId location);
  void write_location(uint64_t id, uint64_t mapping, profile::LocationId location);
  void emit(uint32_t field, const ProtoWriter& message);
  [[nodiscard]] ProtoWriter value_type(const PprofValueType& type);

  const PprofHeader& header_;
  const profile::FrameTable& frames_;
  TextSink& sink_;
  const profile::LocatedProfile* profile_ = nullptr;
  tsl::robin_map<std::string, uint64_t, KeyedHash, std::equal_to<>> texts_;
  std::vector<const profile::LocatedImage*> mappings_;  // by id - 1
  std::vector<uint64_t> mapping_of_image_;              // of profile_
  std::vector<uint64_t> function_of_frame_;             // 0: not yet written
  uint64_t functions_ = 0;
  std::vector<uint64_t> id_of_location_;  // of profile_; 0: not yet written
  uint64_t locations_ = 0;
  tsl::robin_map<uint64_t, std::vector<Written>, KeyedHash> written_;  // by address, to share between profiles
  ProtoWriter message_;                                                         // reused
  ProtoWriter inner_;                                                           // reused
  std::vector<uint64_t> numbers_;                                               // reused
};

}  // namespace qperf::exporter
