#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "qemutrace/analyzer.h"
#include "qemutrace/device_names.h"

namespace qperf::qemutrace {

/// The points of a virtio-blk request's life that QEMU's events tell of, in the order in which they are passed.
enum class Stage : uint8_t {
  kNotify,     // the guest rang the queue
  kPop,        // QEMU took the element
  kHandle,     // virtio-blk read the request's header
  kBlock,      // the block backend got it, maybe merged with others
  kSubmit,     // handed to the host's asynchronous I/O
  kHostDone,   // completed by the host
  kComplete,   // back in virtio-blk
  kFill,       // the element is in the used ring
  kInterrupt,  // the guest was told
};
inline constexpr size_t kStages = 9;
/// One letter each, as in "P2F".
inline constexpr std::string_view kStageLetters = "NPHBSXRFI";
/// What happens from this stage on until the next: "queue", "block layer", "host".
[[nodiscard]] std::string_view stage_span_name(Stage stage) noexcept;

struct Request {
  uint64_t device = 0;        // vdev
  uint64_t queue = 0;         // vq
  int64_t queue_number = -1;  // as the guest counts; -1 until a notification named it
  uint64_t sector = 0;
  uint64_t sectors = 0;
  bool is_write = false;
  bool is_transfer = false;   // a read or write; false for flush, get-id and other requests, which have no H
  bool merged = false;        // went to the block layer together with others
  bool sequential = false;    // starts where the device's last request of this direction ended
  bool loss_in_span = false;  // events were lost meanwhile: stages may be missing or belong to another request
  std::array<std::optional<uint64_t>, kStages> at_ns;

  [[nodiscard]] std::optional<uint64_t> at(Stage stage) const noexcept { return at_ns[static_cast<size_t>(stage)]; }
};

/// Follows each virtio-blk request through the layers and hands it out when its life is over.
///
/// The element's address is the request's in virtio-blk, so queue and device events join exactly. The block layer's events
/// carry no request: they join by direction and byte range, the oldest request first. io_uring's submissions carry the offset;
/// the thread pool's carry nothing, and join by what follows: the request that ends right behind a completion is the one. Needs events in order of time
/// (OrderedSource).
class RequestTracker final : public Analyzer {
 public:
  using Sink = std::function<void(const Request&)>;
  explicit RequestTracker(Sink sink);

  void lost(const Event& event, uint64_t count) override;
  void end(const ReadReport& report) override;

  [[nodiscard]] uint64_t unfinished() const noexcept { return unfinished_; }        // open at the end, or address reused
  [[nodiscard]] uint64_t without_start() const noexcept { return without_start_; }  // filled, but popped before the trace began
  [[nodiscard]] uint64_t merges() const noexcept { return merges_; }                // submissions of several requests as one
  [[nodiscard]] size_t most_in_flight() const noexcept { return most_in_flight_; }
  /// Mean over the time between the first pop and the last fill.
  [[nodiscard]] double mean_in_flight() const noexcept;
  /// For how long so many requests were in flight; the last entry is for all of kMostDepthShown and above.
  [[nodiscard]] const std::vector<uint64_t>& depth_ns() const noexcept { return depth_ns_; }
  static constexpr size_t kMostDepthShown = 256;
  /// Depth changes beyond kMaxDepthChanges: depth() ends before the trace does.
  [[nodiscard]] uint64_t depth_changes_left_out() const noexcept { return depth_changes_left_out_; }
  /// What a trace cannot have more of at once; a hostile one must make neither memory nor work grow without bound.
  static constexpr size_t kMaxOpen = 262'144;
  static constexpr size_t kMaxQueues = 65'536;   // and devices
  static constexpr size_t kMaxFilled = 32'768;   // of one queue, no interrupt yet: the most elements that a queue can have
  static constexpr size_t kMaxWaiting = 4096;    // for their block event, and for their host submission
  static constexpr size_t kMaxAtHost = 65'536;
  /// Requests, queues and host I/O beyond these: stages are missing, or a request is not followed at all.
  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] const DeviceNames& names() const noexcept { return names_; }
  struct Depth {
    uint64_t time_ns;
    uint32_t in_flight;
  };
  /// Changes of the depth, at most kMaxDepthChanges of them.
  [[nodiscard]] const std::vector<Depth>& depth() const noexcept { return depth_; }
  static constexpr size_t kMaxDepthChanges = 1'000'000;

 private:
  struct Open {
    Request request;
    uint64_t serial = 0;
    uint64_t losses_before = 0;
    bool waits_for_block = false;
    bool leads_to_host = false;  // first of a block-layer request not yet submitted
  };
  struct Queue {
    uint64_t device = 0;
    int64_t number = -1;
    std::optional<uint64_t> notify_ns;  // of the batch now being popped
    std::vector<Request> filled;        // waiting for their interrupt
    bool flushed = false;
    bool interrupt_asked = false;
  };
  /// A block-layer request: what went together.
  struct Submission {
    uint64_t offset_bytes = 0;
    std::vector<uint64_t> addresses;
  };
  /// A host I/O that was submitted without saying for what: known when its completion is followed by a request's.
  struct Done {
    uint64_t submit_ns = 0;
    uint64_t done_ns = 0;
    uint32_t tid = 0;
    bool taken = false;
  };

  void pop(const Event& event, uint64_t queue, uint64_t element);
  void handle(const Event& event, uint64_t device, uint64_t request, uint64_t sector, uint64_t sectors, bool is_write);
  void block(const Event& event, uint64_t offset, uint64_t bytes, bool is_write);
  void submit(const Event& event, uint64_t key, std::optional<uint64_t> offset);
  void host_done(const Event& event, uint64_t key);
  void take_host_times(const Event& event, Request& request);
  void fill(const Event& event, uint64_t queue, uint64_t element);
  void interrupt(const Event& event, uint64_t queue, bool final);
  void hand_out(uint64_t address, Queue& queue);
  void give(Queue& queue);
  Queue* queue_at(uint64_t address);
  void wait_for_block(uint64_t address, Open& open);
  void wait_for_host(Open& first, std::vector<uint64_t> together);
  void stop_waiting_for_block(Open& open);
  void stop_waiting_for_host(Open& open);
  void depth_changed(uint64_t time_ns);
  static void mark(Request& request, Stage stage, uint64_t time_ns);

  Sink sink_;
  std::unordered_map<uint64_t, Open> open_;           // by element address
  // Handled, not yet seen in the block layer: by age, and by direction and first byte, which a block event asks for.
  std::map<uint64_t, uint64_t> waiting_for_block_;  // serial -> address
  std::map<std::tuple<bool, uint64_t, uint64_t>, uint64_t> waiting_by_range_;  // is_write, first byte, serial -> address
  // In the block layer, not yet at the host: by age, and by offset.
  std::map<uint64_t, Submission> waiting_for_host_;  // by the serial of its first request
  std::set<std::pair<uint64_t, uint64_t>> waiting_by_offset_;  // offset, serial
  std::unordered_map<uint64_t, std::vector<uint64_t>> at_host_;  // addresses, by host I/O control block
  std::unordered_map<uint64_t, uint64_t> unnamed_at_host_;  // the same, submitted without an offset -> when
  std::optional<Done> last_done_;                           // of those
  std::map<uint64_t, Queue> queues_;
  std::map<uint64_t, Queue*> unnotified_;  // those with filled requests, or with an interrupt asked for
  std::map<std::pair<uint64_t, bool>, uint64_t> next_sector_;  // device, direction -> where its last request ended
  uint64_t serial_ = 0;
  uint64_t losses_ = 0;
  uint64_t left_out_ = 0;
  uint64_t unfinished_ = 0;
  uint64_t without_start_ = 0;
  uint64_t merges_ = 0;
  size_t most_in_flight_ = 0;
  std::vector<Depth> depth_;
  std::vector<uint64_t> depth_ns_;
  uint64_t depth_changes_left_out_ = 0;
  DeviceNames names_;
  double depth_area_ns_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t last_depth_ns_ = 0;
  size_t last_depth_ = 0;
};

}  // namespace qperf::qemutrace
