#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "qemutrace/filter.h"
#include "qemutrace/source.h"

namespace qperf::qemutrace {

/// A base for analyses: handlers by event name, with fields by name and type; docs/trace-api.md builds two of them.
///
///   class Pops : public Analyzer {
///    public:
///     Pops() {
///       on<uint64_t, uint64_t>("virtqueue_pop", {"vq", "elem"}, [this](const Event& e, uint64_t vq, uint64_t elem) { ... });
///     }
///     void end(const ReadReport& report) override { ... }
///   };
///
/// Field types: uint64_t, int64_t (both of any number), bool, std::string_view (lives as long as the call). A handler is called
/// only for events that have all its fields; others are counted in passed_over().
class Analyzer {
 public:
  virtual ~Analyzer() = default;
  Analyzer() = default;
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  /// Before the first event.
  virtual void begin(const EventSource&) {}
  /// An event that no handler is registered for, decoded or not.
  virtual void catch_all(const Event&) {}
  /// `count` events were lost before the next event and after the one before.
  virtual void lost(const Event&, uint64_t /*count*/) {}
  /// After the last event.
  virtual void end(const ReadReport&) {}

  /// Events that a handler exists for but whose fields were not all there.
  [[nodiscard]] uint64_t passed_over() const noexcept { return passed_over_; }

  /// Hands one event to its handler. run() calls it; a program with its own loop may too.
  void dispatch(const Event& event);

 protected:
  using Handler = std::function<void(const Event&)>;
  void on(std::string name, Handler handler);

  template <typename... Fields, typename F>
  void on(std::string name, const std::array<const char*, sizeof...(Fields)>& names, F handler) {
    on(std::move(name), [this, names, handler = std::move(handler), bound_to = static_cast<const EventInfo*>(nullptr),
                         places = std::array<int, sizeof...(Fields)>{}](const Event& event) mutable {
      if (bound_to != event.info) {
        bound_to = event.info;
        for (size_t i = 0; i < names.size(); ++i) {
          const auto index = event.info->argument_index(names[i]);
          places[i] = index ? static_cast<int>(*index) : -1;
        }
      }
      call<Fields...>(event, places, handler, std::index_sequence_for<Fields...>{});
    });
  }

 private:
  template <typename Field>
  static bool fits(const Event& event, int place) noexcept {
    return place >= 0 && event.has_value(static_cast<size_t>(place)) &&
           event.values[static_cast<size_t>(place)].is_string() == std::is_same_v<Field, std::string_view>;
  }
  template <typename Field>
  static Field field(const Event& event, int place) noexcept {
    const Value& value = event.values[static_cast<size_t>(place)];
    if constexpr (std::is_same_v<Field, std::string_view>) {
      return value.string();
    } else if constexpr (std::is_same_v<Field, bool>) {
      return value.number != 0;
    } else {
      static_assert(std::is_same_v<Field, uint64_t> || std::is_same_v<Field, int64_t>,
                    "fields are uint64_t, int64_t, bool or std::string_view");
      return static_cast<Field>(value.number);
    }
  }
  template <typename... Fields, typename Places, typename F, size_t... I>
  void call(const Event& event, const Places& places, F& handler, std::index_sequence<I...>) {
    if (event.state == ValueState::kDecoded && (fits<Fields>(event, places[I]) && ...)) {
      handler(event, field<Fields>(event, places[I])...);
    } else {
      ++passed_over_;
    }
  }

  std::unordered_map<std::string, Handler> handlers_;
  std::vector<std::pair<const EventInfo*, Handler*>> by_index_;  // looked up once per event kind
  uint64_t passed_over_ = 0;
};

/// Feeds every event of the source to the analyzer: begin, handlers, end. `filter` may leave events out; null keeps all.
void run(EventSource& source, Analyzer& analyzer, Filter* filter = nullptr);

}  // namespace qperf::qemutrace
