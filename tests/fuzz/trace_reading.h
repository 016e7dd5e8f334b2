#pragma once

#include <cstdlib>
#include <string_view>

#include "qemutrace/analyzer.h"
#include "qemutrace/counts.h"
#include "qemutrace/leaks.h"
#include "qemutrace/locks.h"
#include "qemutrace/mmio.h"
#include "qemutrace/ordered.h"
#include "qemutrace/overlaps.h"
#include "qemutrace/print.h"
#include "qemutrace/requests.h"
#include "qemutrace/source.h"

namespace qperf::qemutrace::fuzzing {

inline const Declarations& declarations() {
  static const Declarations kParsed = [] {
    auto parsed = Declarations::parse(
        "virtio_queue_notify(void *vdev, int n, void *vq) \"vdev %p n %d vq %p\"\n"
        "virtqueue_pop(void *vq, void *elem, unsigned int in_num, unsigned int out_num) \"vq %p elem %p in_num %u out_num "
        "%u\"\n"
        "virtqueue_fill(void *vq, const void *elem, unsigned int len, unsigned int idx) \"vq %p elem %p len %u idx %u\"\n"
        "virtqueue_flush(void *vq, unsigned int count) \"vq %p count %u\"\n"
        "virtio_blk_handle_write(void *vdev, void *req, uint64_t sector, size_t nsectors) \"vdev %p req %p sector %\"PRIu64\" "
        "nsectors %zu\"\n"
        "virtio_blk_rw_complete(void *vdev, void *req, int ret) \"vdev %p req %p ret %d\"\n"
        "virtio_blk_req_complete(void *vdev, void *req, int status) \"vdev %p req %p status %d\"\n"
        "virtio_notify(void *vdev, void *vq) \"vdev %p vq %p\"\n"
        "blk_co_pwritev(void *blk, void *bs, int64_t offset, int64_t bytes, int flags) \"blk %p bs %p offset %\"PRId64\" bytes "
        "%\" PRId64 \" flags 0x%x\"\n"
        "memory_region_ops_read(int cpu_index, void *mr, uint64_t addr, uint64_t value, unsigned size, const char *name) \"cpu "
        "%d mr %p addr 0x%\"PRIx64\" value 0x%\"PRIx64\" size %u name '%s'\"\n"
        "qemu_mutex_lock(void *mutex, const char *file, const int line) \"waiting on mutex %p (%s:%d)\"\n"
        "qemu_mutex_locked(void *mutex, const char *file, const int line) \"taken mutex %p (%s:%d)\"\n"
        "qemu_mutex_unlock(void *mutex, const char *file, const int line) \"released mutex %p (%s:%d)\"\n"
        "disable vcpu off(char c, const char *a, const char *b) \"%c%s%s%%\"\n"
        "plain(void) \"\"\n",
        "fuzz");
    if (!parsed) std::abort();
    return *std::move(parsed);
  }();
  return kParsed;
}

/// Reads the bytes as a trace and runs everything that can be run over one: no crash, no event lost on the way.
inline void read_everything(std::string_view bytes) {
  uint64_t direct = 0;
  {
    auto source = read_trace(Input::memory(bytes), declarations());
    if (!source) return;
    TextSink sink(-1);
    SimpletracePrinter plain(sink);
    PrettyPrinter pretty(sink);
    EventCounts counts;
    Event event;
    while ((*source)->next(event)) {
      ++direct;
      counts.add(event);
      plain.print(event);
      pretty.print(event);
    }
    if (counts.total() != direct) std::abort();
    if (sink.held().find('\x1b') != std::string_view::npos) std::abort();
    const ReadReport& report = (*source)->report();
    if (report.events + report.loss_records != direct) std::abort();
  }
  const auto analyse = [&](Analyzer& analyzer) {
    auto source = *read_trace(Input::memory(bytes), declarations());
    OrderedSource ordered(*source, 16);
    analyzer.begin(ordered);
    uint64_t seen = 0;
    Event event;
    while (ordered.next(event)) {
      ++seen;
      analyzer.dispatch(event);
    }
    if (seen != direct) std::abort();
    analyzer.end(ordered.report());
  };
  LeakFinder leaks(1000);
  analyse(leaks);
  if (leaks.pops() != leaks.open_ns().count() + leaks.leaks().size() + leaks.leaks_left_out() + leaks.pops_left_out()) std::abort();
  if (leaks.fills() != leaks.open_ns().count() + leaks.fills_without_pop()) std::abort();
  OverlapFinder overlaps(OverlapFinder::Range{0, 4096}, std::nullopt);
  analyse(overlaps);
  MmioCounter mmio;
  analyse(mmio);
  (void)mmio.registers();
  LockProfile locks;
  analyse(locks);
  (void)locks.sites();
  uint64_t handed_out = 0;
  RequestTracker requests([&](const Request&) { ++handed_out; });
  analyse(requests);
  if (handed_out + requests.unfinished() != leaks.pops()) std::abort();
}

}  // namespace qperf::qemutrace::fuzzing
