#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/writer.h"
#include "sampling/chunk_builder.h"
#include "sampling/control_socket.h"
#include "sampling/event_chunk_builder.h"
#include "sampling/ledger.h"
#include "sampling/output_file.h"
#include "sampling/sampler.h"
#include "sampling/ticker.h"

namespace qperf::sampling {

/// The writer thread: empties the queues into the capture, flushes at least each second, serves the control socket and ends
/// the recording. It is the only thread that touches the file, but for begin().
class Recorder {
 public:
  /// Gets one line for the user, without prefix and end.
  using Report = std::function<void(const std::string&)>;

  Recorder(Sampler& sampler, Ticker& ticker, Report report);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Opens file and socket and looks at the header: everything that can be refused. What the file held before stays.
  Result<void> open(const capture::Header& header);
  void start();
  /// The guest runs: empties the file and writes the header. Cheap when it has been called before; any thread.
  Result<void> begin();
  /// Ends the recording (if it has not ended before) and joins the thread. Idempotent.
  void finish();
  /// There is nothing to record after all: ends the recording, which is then called incomplete. Any thread, once.
  void abandon(const std::string& why);
  /// Found out after the start that vCPUs share one thread. Any thread.
  void idle_is_unknown() noexcept { idle_unknown_.store(true, std::memory_order_relaxed); }

 private:
  enum class Phase : uint8_t {
    kReady,      // the file is as it was before
    kRecording,  // begin() has been there
    kEnded,
  };

  void run();
  [[nodiscard]] bool recording() const noexcept;
  void wake_to_finish();
  std::string command(std::string_view line);
  void set_enabled(bool enabled);
  void drain();
  void drain_vcpu(uint32_t index);
  void write_samples(ChunkBuilder& builder);
  void drain_events(uint32_t index);
  void write_events(EventChunkBuilder& builder);
  void report_trace(const capture::Ledger& ledger);
  /// The next wait, after `drained` of `capacity` slots were in use.
  void adapt_interval(size_t drained, size_t capacity, bool may_slow);
  /// Adds the vCPU's to executions_; the instructions that they are.
  Insns add_executions(VcpuIndex vcpu);
  void write_counts();
  /// Keeps what is executed while sampling is switched off out of the kernel instructions.
  void note_insns_at_switch(bool enabled);
  void write_fingerprints();
  void flush();
  void end(capture::EndReason reason);
  /// Once the file cannot be written any more: what is whole of it gets its finished mark, if there is room for that.
  void finish_what_is_whole(capture::Trailer trailer);
  /// The end of a recording that never began.
  void end_unused();
  /// Takes note of the first failure: from then on nothing is written.
  void check(Result<void> result);
  [[nodiscard]] WallNs now() const noexcept;
  [[nodiscard]] WallNs stopped_ns() const noexcept;
  [[nodiscard]] bool idle_known() const noexcept;

  Sampler& sampler_;
  Ticker& ticker_;
  Report report_;
  OutputFile file_;
  capture::Header header_;
  std::unique_ptr<capture::Writer> writer_;
  std::mutex phase_mutex_;  // held while the phase changes
  std::atomic<Phase> phase_{Phase::kReady};
  ControlSocket control_;
  std::vector<ChunkBuilder> builders_;
  std::vector<EventChunkBuilder> event_builders_;  // empty without a trace marker
  std::vector<WrittenCounts> written_;
  std::vector<uint64_t> executions_written_;  // mode=exact: by block index
  std::vector<uint64_t> executions_;          // scratch of write_counts()
  std::vector<Insns> insns_seen_;             // mode=exact: of each vCPU at the last write_counts()
  std::string failure_;                       // empty: all is well
  bool ended_ = false;  // of the writer thread: end() is done
  bool enabled_ = true;
  bool idle_unknown_written_ = false;
  WallNs stopped_before_ns_ = 0;
  WallNs stopped_since_ns_ = 0;  // while !enabled_
  WallNs last_flush_ns_ = 0;
  int interval_ms_ = 20;
  int wake_fd_ = -1;
  std::atomic<bool> finishing_{false};
  std::string abandoned_;  // why; set before finishing_
  std::atomic<bool> idle_unknown_{false};
  std::thread thread_;
};

}  // namespace qperf::sampling
