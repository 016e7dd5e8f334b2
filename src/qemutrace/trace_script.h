#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "qemutrace/analyzer.h"
#include "qemutrace/ordered.h"
#include "qemutrace/trace_builder.h"

namespace qperf::qemutrace::testing {

/// The events of a script, as a QEMU would declare them.
inline constexpr std::string_view kScriptEvents =
    "virtio_queue_notify(void *vdev, int n, void *vq) \"x\"\n"
    "virtqueue_pop(void *vq, void *elem, unsigned int in_num, unsigned int out_num) \"x\"\n"
    "virtqueue_fill(void *vq, const void *elem, unsigned int len, unsigned int idx) \"x\"\n"
    "virtqueue_flush(void *vq, unsigned int count) \"x\"\n"
    "virtio_set_status(void *vdev, uint8_t val) \"x\"\n"
    "virtio_blk_handle_write(void *vdev, void *req, uint64_t sector, size_t nsectors) \"x\"\n"
    "virtio_blk_rw_complete(void *vdev, void *req, int ret) \"x\"\n"
    "virtio_blk_req_complete(void *vdev, void *req, int status) \"x\"\n"
    "virtio_notify(void *vdev, void *vq) \"x\"\n"
    "virtio_notify_irqfd(void *vdev, void *vq) \"x\"\n"
    "virtio_notify_irqfd_deferred_fn(void *vdev, void *vq) \"x\"\n"
    "blk_co_pwritev(void *blk, void *bs, int64_t offset, int64_t bytes, int flags) \"x\"\n"
    "bdrv_aio_writev(void *bs, int64_t sector_num, int nb_sectors, void *opaque) \"x\"\n"
    "thread_pool_submit_aio(void *pool, void *req, void *opaque) \"x\"\n"
    "thread_pool_complete_aio(void *pool, void *req, void *opaque, int ret) \"x\"\n"
    "luring_co_submit(void *bs, void *s, void *luringcb, int fd, uint64_t offset, size_t nbytes, int type) \"x\"\n"
    "luring_process_completion(void *s, void *aiocb, int ret) \"x\"\n"
    "memory_region_ops_read(int cpu_index, void *mr, uint64_t addr, uint64_t value, unsigned size, const char *name) \"x\"\n"
    "qemu_mutex_lock(void *mutex, const char *file, const int line) \"x\"\n"
    "qemu_mutex_locked(void *mutex, const char *file, const int line) \"x\"\n"
    "qemu_mutex_unlock(void *mutex, const char *file, const int line) \"x\"\n";

inline const Declarations& script_declarations() {
  static const Declarations kParsed = *Declarations::parse(kScriptEvents, "events");
  return kParsed;
}

/// A trace written by event names, one microsecond a step.
class Script {
 public:
  Script() {
    uint64_t id = 0;
    for (const Declaration& d : script_declarations().all()) {
      ids_[d.name] = id;
      trace_.mapping(id++, d.name);
    }
  }
  Script& at(uint64_t us) {
    ns_ = us * 1000;
    return *this;
  }
  Script& event(const std::string& name, std::initializer_list<uint64_t> numbers) {
    std::vector<Value> values;
    for (const uint64_t n : numbers) values.push_back({n, nullptr});
    trace_.event(ids_.at(name), ns_, 1, trace_.payload(values));
    ns_ += 1000;
    return *this;
  }
  Script& mutex(const std::string& name, uint64_t mutex, std::string_view file, uint64_t line) {
    trace_.event(ids_.at(name), ns_, {{mutex, nullptr}, {file.size(), file.data()}, {line, nullptr}});
    ns_ += 1000;
    return *this;
  }
  Script& loss(uint64_t count) {
    trace_.loss(ns_, count);
    ns_ += 1000;
    return *this;
  }
  void run_over(Analyzer& analyzer) const {
    auto source = *read_trace(Input::memory(trace_.bytes()), script_declarations());
    OrderedSource ordered(*source);
    run(ordered, analyzer);
  }

 private:
  TraceBuilder trace_;
  std::map<std::string, uint64_t> ids_;
  uint64_t ns_ = 1'000'000;
};

}  // namespace qperf::qemutrace::testing
