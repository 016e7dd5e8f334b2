#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "qemutrace/source.h"

namespace qperf::qemutrace {

/// How a simpletrace file frames its records; docs/trace-formats.md has the tables.
struct SimpletraceLayout {
  uint32_t version = 4;
  bool swapped = false;        // written by a host of the other byte order
  bool has_header = true;      // stap streams have none
  bool has_type_word = true;   // version 4: record type before each record
  bool fixed_records = false;  // version 0: 64 bytes each, strings as pointers
  bool has_pid = true;         // since version 3
};

/// What the first bytes say. nullopt: not simpletrace. An Error: simpletrace of a version that no QEMU wrote.
Result<std::optional<SimpletraceLayout>> detect_simpletrace(std::span<const char> bytes, const Declarations& declarations);

/// Reader of simpletrace versions 0, 2, 3, 4 and of stap streams, either byte order, one pass, bounded memory.
class SimpletraceReader final : public EventSource {
 public:
  /// `input` stands at the first byte; `declarations` must outlive the reader.
  SimpletraceReader(Input input, const SimpletraceLayout& layout, const Declarations& declarations, IdRule ids);
  ~SimpletraceReader() override;

  bool next(Event& event) override;
  void skip_values() noexcept override { skip_values_ = true; }
  [[nodiscard]] const ReadReport& report() const noexcept override { return report_; }
  [[nodiscard]] TraceClock clock() const noexcept override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] size_t event_kinds() const noexcept override { return kinds_.size(); }

  /// Position after the last record read, in bytes from the start of the file.
  [[nodiscard]] uint64_t offset() const noexcept { return input_.offset(); }

 private:
  /// How to take a payload apart: which of `count` values are strings.
  struct Plan {
    uint8_t count = 0;
    uint16_t strings = 0;
    bool last_is_only_string = false;  // the usual shape of an event with a string
  };
  struct Kind {
    EventInfo info;
    Plan plan;
    // The other shape of a `vcpu` event, as QEMU 2.6 to 8.0 wrote it: a vCPU pointer in front.
    std::vector<Argument> vcpu_arguments;
    EventInfo vcpu_info;
    uint64_t* undeclared = nullptr;  // counters in report_, once there is something to count
    std::pair<uint64_t, std::string>* mismatch = nullptr;
  };

  [[nodiscard]] uint64_t u64(const char* at) const noexcept;
  [[nodiscard]] uint32_t u32(const char* at) const noexcept;
  bool next_fixed(Event& event);
  bool read_mapping(std::span<const char> bytes);
  bool note_name(uint64_t id, std::string_view name);
  [[nodiscard]] std::optional<std::string_view> mapped_name(uint64_t id) const;
  bool end_at(size_t leftover);
  bool broken(std::string what);
  Kind& kind_of(uint64_t id);
  Kind& new_kind(std::string_view name, const Declaration* declaration);
  void bind(uint64_t id, Kind& kind);
  void number_declarations(IdRule ids);
  [[nodiscard]] size_t misfits(std::span<const char> bytes) const;
  bool decode(const char* payload, size_t size, Plan plan, Event& event) const noexcept;
  bool fits(const char* payload, size_t size, Plan plan, Event& event) const noexcept;
  void decode_payload(Kind& kind, const char* payload, size_t size, Event& event);
  void note_mismatch(Kind& kind, size_t payload_size);
  void fill_loss(Event& event, uint64_t count);
  void finish_event(uint64_t id, const char* payload, size_t size, Event& event);
  static Plan plan_of(std::span<const Argument> arguments);

  Input input_;
  SimpletraceLayout layout_;
  const Declarations& declarations_;
  ReadReport report_;
  bool ended_ = false;
  bool skip_values_ = false;
  std::deque<Kind> kinds_;                           // never moves its elements
  std::vector<Kind*> by_id_;                         // small ids
  std::unordered_map<uint64_t, Kind*> by_large_id_;  // ids that no real file has, without trusting them as sizes
  // A file maps some 5000 names and uses a few of them: a mapping is only noted, its kind is made when a record has the id.
  struct NamePlace {
    uint32_t begin = 0;
    uint32_t length = 0;  // 0: no mapping
  };
  std::string names_;                                     // all mapped names, end to end
  std::vector<NamePlace> name_by_id_;                     // like by_id_
  std::unordered_map<uint64_t, NamePlace> name_by_large_id_;
  size_t mappings_ = 0;
  std::unordered_map<std::string, Kind*> by_name_;
  std::vector<const Declaration*> numbered_;  // files without names: id -> declaration
};

}  // namespace qperf::qemutrace
