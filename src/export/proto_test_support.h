#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

/// For the unit tests of this folder: a protobuf message read back without a schema.
namespace qperf::exporter {

class DecodedMessage {
 public:
  /// Throws what the test then fails with.
  explicit DecodedMessage(std::string_view bytes) {
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())));
    while (in.remaining() > 0) {
      const uint64_t tag = need(in.varint());
      auto& values = fields_[static_cast<uint32_t>(tag >> 3)];
      switch (tag & 7) {
        case 0: values.push_back({need(in.varint()), {}}); break;
        case 1: values.push_back({need(in.u64()), {}}); break;
        case 2: {
          const auto part = need(in.bytes(need(in.varint())));
          values.push_back({0, std::string(reinterpret_cast<const char*>(part.data()), part.size())});
          break;
        }
        default: throw std::runtime_error("wire type " + std::to_string(tag & 7));
      }
    }
  }

  [[nodiscard]] size_t count(uint32_t field) const { return fields_.contains(field) ? fields_.at(field).size() : 0; }
  /// The last one, as protobuf readers take it; 0 if absent.
  [[nodiscard]] uint64_t number(uint32_t field) const { return count(field) == 0 ? 0 : fields_.at(field).back().number; }
  [[nodiscard]] std::string text(uint32_t field, size_t index = 0) const { return fields_.at(field).at(index).bytes; }
  [[nodiscard]] std::vector<DecodedMessage> messages(uint32_t field) const {
    std::vector<DecodedMessage> result;
    for (size_t i = 0; i < count(field); ++i) result.emplace_back(text(field, i));
    return result;
  }
  [[nodiscard]] std::vector<std::string> texts(uint32_t field) const {
    std::vector<std::string> result;
    for (size_t i = 0; i < count(field); ++i) result.push_back(text(field, i));
    return result;
  }
  [[nodiscard]] std::vector<uint64_t> numbers(uint32_t field) const {
    std::vector<uint64_t> result;
    for (size_t i = 0; i < count(field); ++i) result.push_back(fields_.at(field)[i].number);
    return result;
  }
  /// Of a field in packed form.
  [[nodiscard]] std::vector<uint64_t> packed(uint32_t field) const {
    std::vector<uint64_t> result;
    if (count(field) == 0) return result;
    const std::string bytes = text(field);
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())));
    while (in.remaining() > 0) result.push_back(need(in.varint()));
    return result;
  }

 private:
  struct Value {
    uint64_t number;
    std::string bytes;
  };
  template <typename T>
  static T need(std::optional<T> value) {
    if (!value) throw std::runtime_error("a protobuf message is cut");
    return *value;
  }
  std::map<uint32_t, std::vector<Value>> fields_;
};

}  // namespace qperf::exporter
