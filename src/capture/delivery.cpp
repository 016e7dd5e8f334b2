#include "capture/delivery.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace qperf::capture {
namespace {

/// Two rooms in turn: while the handler looks at one the reading fills the other.
class TwoRooms final : public Delivery {
 public:
  ChunkRoom& room() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !slots_[filling_].filled || stopped_; });
    return slots_[filling_].room;
  }

  Result<void> deliver() override {
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return Error{ErrorCode::kIo, "the reading was stopped"};
      slots_[filling_].filled = true;
      filling_ ^= 1;
    }
    changed_.notify_all();
    return {};
  }

  /// The reading's last word.
  void end() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

  /// Handles what comes until the reading ends or a handler fails.
  Result<void> handle_all(const HandleChunk& handle) {
    for (size_t slot = 0;; slot ^= 1) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return slots_[slot].filled || ended_; });
        if (!slots_[slot].filled) return {};
      }
      QPERF_RETURN_IF_ERROR(handle(slots_[slot].room));
      {
        const std::scoped_lock lock(mutex_);
        slots_[slot].filled = false;
      }
      changed_.notify_all();
    }
  }

  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  struct Slot {
    ChunkRoom room;
    bool filled = false;  // and not yet handled
  };
  std::array<Slot, 2> slots_;
  size_t filling_ = 0;  // the reading's
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace

Result<void> deliver_ahead(const std::function<Result<void>(Delivery&)>& produce, const HandleChunk& handle) {
  TwoRooms rooms;
  Result<void> produced;
  std::exception_ptr thrown;
  std::thread reading;
  try {
    reading = std::thread([&] {
      try {
        produced = produce(rooms);
      } catch (...) {
        thrown = std::current_exception();
      }
      rooms.end();
    });
  } catch (const std::system_error&) {
    // No thread to be had: one after the other gives the same.
    DirectDelivery direct(handle);
    return produce(direct);
  }
  // Also when a handler throws the thread must end first.
  struct Joined {
    TwoRooms& rooms;
    std::thread& reading;
    ~Joined() {
      rooms.stop();
      reading.join();
    }
  };
  Result<void> handled;
  {
    const Joined joined{rooms, reading};
    handled = rooms.handle_all(handle);
  }
  if (!handled) return handled;
  if (thrown) std::rethrow_exception(thrown);
  return produced;
}

}  // namespace qperf::capture
