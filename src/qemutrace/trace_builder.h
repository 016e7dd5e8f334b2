#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "qemutrace/simpletrace.h"

namespace qperf::qemutrace::testing {

/// Writes simpletrace bytes for tests, any version that QEMU wrote, either byte order.
class TraceBuilder {
 public:
  explicit TraceBuilder(uint64_t version = 4, bool swapped = false) : version_(version), swapped_(swapped) {
    u64(~uint64_t{0});
    u64(0xf2b177cb0aa429b4);
    u64(version);
    if (version == 0) bytes_.append(40, '\0');
  }
  void mapping(uint64_t id, std::string_view name) {
    u64(0);
    u64(id);
    u32(static_cast<uint32_t>(name.size()));
    bytes_ += name;
  }
  void event(uint64_t id, uint64_t time_ns, uint32_t pid, std::string_view payload) {
    if (version_ == 4) u64(1);
    u64(id);
    u64(time_ns);
    u32(static_cast<uint32_t>(24 + payload.size()));
    u32(pid);
    bytes_ += payload;
  }
  void event(uint64_t id, uint64_t time_ns, std::initializer_list<Value> values) { event(id, time_ns, 1, payload(values)); }
  void loss(uint64_t time_ns, uint64_t count) { event(~uint64_t{0} - 1, time_ns, {Value{count, nullptr}}); }
  template <typename Values>
  std::string payload(const Values& values) const {
    TraceBuilder part(version_, swapped_);
    part.bytes_.clear();
    for (const Value& value : values) {
      if (value.is_string()) {
        part.u32(static_cast<uint32_t>(value.number));
        part.bytes_ += value.string();
      } else {
        part.u64(value.number);
      }
    }
    return part.bytes_;
  }
  void u64(uint64_t value) { raw(swapped_ ? __builtin_bswap64(value) : value); }
  void u32(uint32_t value) { raw(swapped_ ? __builtin_bswap32(value) : value); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void raw(T value) {
    char copy[sizeof value];
    std::memcpy(copy, &value, sizeof value);
    bytes_.append(copy, sizeof value);
  }
  uint64_t version_;
  bool swapped_;
  std::string bytes_;
};

/// Writes the records of `source` anew; only events that occur get a mapping. `keep` may leave records out.
inline std::string rebuilt(EventSource& source, uint64_t version, bool swapped,
                           const std::function<bool(const Event&)>& keep = {},
                           const std::function<uint64_t(std::string_view)>& id_of = {}) {
  TraceBuilder out(version, swapped);
  std::map<std::string, uint64_t, std::less<>> ids;
  Event event;
  while (source.next(event)) {
    if (keep && !keep(event)) continue;
    uint64_t id = ~uint64_t{0} - 1;
    if (!event.is_loss) {
      const auto found = ids.find(event.name());
      id = found != ids.end() ? found->second : id_of ? id_of(event.name()) : ids.size();
      if (found == ids.end()) {
        ids.emplace(event.name(), id);
        if (version == 4) out.mapping(id, event.name());
      }
    }
    out.event(id, event.time_ns, event.pid, out.payload(std::span(event.values.data(), event.value_count)));
  }
  return out.bytes();
}

/// The folder of recorded traces, empty when tests are run without it.
inline std::string data_folder() {
  const char* data = std::getenv("QPERF_TEST_DATA");
  return data == nullptr || *data == '\0' ? std::string() : std::string(data) + "/qemu-traces/";
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace qperf::qemutrace::testing
