#include <benchmark/benchmark.h>

#include "sampling/clock.h"
#include "sampling/fake_guest.h"
#include "sampling/sampler.h"

/// One marker event on the vCPU thread, without the emulator's own cost of the callback and of reading registers. Goal: at most
/// 1 us without a stack.
namespace qperf::sampling {
namespace {

void event(benchmark::State& state, std::string_view stacks) {
  const std::vector<std::string_view> arguments{"trace=0xffffffff80002000", stacks};
  const auto options = parse_options(arguments, guest::Target::kRiscv64);
  FakeWords words(1);
  FakeCpu cpu;
  Sampler sampler(*options, guest::Target::kRiscv64, 1, words, clock_ns());
  if (!sampler.allocate()) state.SkipWithError("no memory");
  sampler.vcpu_online(VcpuIndex{0});
  Block* const block = sampler.block_translated(GuestVa{0xffffffff80002000}, 4);
  cpu.arguments = {3, 7, 1, 5, 0xffff, 0};
  auto& queue = sampler.tracer().queue(VcpuIndex{0});
  for (auto _ : state) {
    sampler.trace_marker(VcpuIndex{0}, block, cpu);
    queue.pop();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(event, without_stack, "trace_stacks=none");
BENCHMARK_CAPTURE(event, with_stack, "trace_stacks=block");

}  // namespace
}  // namespace qperf::sampling

BENCHMARK_MAIN();
