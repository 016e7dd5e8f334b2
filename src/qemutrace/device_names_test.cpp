#include "qemutrace/device_names.h"

#include <gtest/gtest.h>

#include "qemutrace/print.h"
#include "qemutrace/source.h"

namespace qperf::qemutrace {
namespace {

constexpr std::string_view kEvents =
    "bdrv_open_common(void *bs, const char *filename) \"bs %p filename \\\"%s\\\"\"\n"
    "virtio_queue_notify(void *vdev, int n, void *vq) \"vdev %p n %d vq %p\"\n"
    "virtio_blk_handle_write(void *vdev, void *req) \"vdev %p req %p\"\n"
    "virtio_net_announce_timer(void *vdev) \"vdev %p\"\n"
    "virtqueue_pop(void *vq) \"vq %p\"\n"
    "blk_co_pwritev(void *blk, void *bs) \"blk %p bs %p\"\n";

TEST(DeviceNames, LearnsFromTheEvents) {
  const Declarations declarations = *Declarations::parse(kEvents, "events");
  auto source = *read_trace(Input::memory("bdrv_open_common bs 0xb1 filename \"/images/a\x1b.img\"\n"
                                          "virtio_queue_notify vdev 0xd1 n 2 vq 0xa1\n"
                                          "virtio_blk_handle_write vdev 0xd1 req 0x1\n"
                                          "virtio_blk_handle_write vdev 0xd2 req 0x1\n"
                                          "virtio_net_announce_timer vdev 0xd3\n"
                                          "virtqueue_pop vq 0xa1\n"
                                          "virtqueue_pop vq 0xa2\n"
                                          "blk_co_pwritev blk 0x7 bs 0xb1\n"),
                            declarations);
  DeviceNames names;
  std::vector<std::string> said;
  Event event;
  while (source->next(event)) {
    names.learn(event);
    said.push_back(names.describe(event));
  }
  EXPECT_EQ(said, (std::vector<std::string>{"a\\x1b.img", "", "virtio-blk0", "virtio-blk1", "virtio-net0", "virtio-blk0 queue 2", "",
                                            "a\\x1b.img"}));
  names.uses_node(0xd1, 0xb1);
  EXPECT_EQ(names.device(0xd1), "virtio-blk0 (a\\x1b.img)");
  EXPECT_FALSE(names.device(0xd9));
}

}  // namespace
}  // namespace qperf::qemutrace
