#include "foreign/capture_import.h"

#include <algorithm>

#include "capture/header_keys.h"
#include "capture/limits.h"
#include "foreign/symbol_elf.h"
#include "guest/trace_events.h"

namespace qperf::foreign {
namespace {

constexpr size_t kSamplesPerChunk = 4096;
constexpr size_t kFramesPerChunk = size_t{1} << 17;
constexpr size_t kMaxThreads = size_t{1} << 20;

/// "/usr/lib/libc.so.6" as "[libc.so.6]": what stands for a function that has no name.
std::string module_name(std::string_view module, uint64_t& names_cut) {
  const size_t slash = module.rfind('/');
  if (slash != std::string_view::npos) module.remove_prefix(slash + 1);
  while (module.starts_with('[')) module.remove_prefix(1);
  while (module.ends_with(']')) module.remove_suffix(1);
  if (module.size() > kMaxNameBytes) ++names_cut;
  return module.empty() ? "[unknown]" : '[' + std::string(module.substr(0, kMaxNameBytes)) + ']';
}

}  // namespace

CaptureImport::CaptureImport(capture::ByteSink& sink, ImportOptions options) : writer_(sink), options_(std::move(options)) {}

Result<void> CaptureImport::begin(const HostSample& sample) {
  begun_ = true;
  start_ns_ = options_.start_monotonic_ns.value_or(sample.time_ns.value_or(0));
  capture::Header header;
  header.target = guest::Target::kX86_64;  // the symbol ELF's
  header.mode = guest::Mode::kWall;
  header.freq_hz = 1;  // not known; the import key says that weights are samples
  header.vcpus = header.max_vcpus = 1;  // finish() knows better
  header.start_monotonic_ns = start_ns_;
  header.idle_known = false;
  header.qperf_version = "import";
  QPERF_RETURN_IF_ERROR(writer_.begin(header));
  return writer_.metadata({{std::string(capture::kImportKey), options_.format}});
}

GuestVa CaptureImport::address_of(const HostFrame& frame) {
  if (frame.function.empty()) {
    name_ = module_name(frame.module, counts_.names_cut);
  } else {
    if (frame.function.size() > kMaxNameBytes) ++counts_.names_cut;
    name_.assign(frame.function.substr(0, kMaxNameBytes));
  }
  std::erase(name_, '\0');
  if (name_.empty()) name_ = "[unknown]";
  // Readers of ELFs pass such symbols over: they are the assembler's own.
  if (name_.starts_with('$') || name_.starts_with(".L")) name_.insert(0, "_");
  auto found = functions_.find(name_);
  if (found == functions_.end()) {
    if (names_.size() + 1 >= kMaxFunctions) {
      ++counts_.functions_merged;
      name_ = "[other functions]";
    }
    found = functions_.try_emplace(name_, static_cast<uint32_t>(names_.size())).first;
    if (found->second == names_.size()) names_.push_back(name_);
  }
  return function_address(found->second);
}

uint32_t CaptureImport::site_of(Cpu& cpu, const HostSample& sample) {
  stack_.clear();
  for (const HostFrame& frame : sample.frames)
    if (stack_.size() < capture::kMaxFramesPerSample) stack_.push_back(address_of(frame));
  if (stack_.empty()) {
    ++counts_.without_frames;
    stack_.push_back(address_of({.function = "[no stack]", .module = {}}));
  }
  const auto [entry, added] = cpu.sites.try_emplace(stack_, static_cast<uint32_t>(cpu.samples.sites.size()));
  if (added) {
    cpu.samples.sites.push_back({.pc = stack_.front(),
                                 .block_insns = 0,
                                 .stop = capture::StopReason::kBottom,
                                 .link = std::nullopt,
                                 .frames = {stack_.begin() + 1, stack_.end()}});
    cpu.frames += stack_.size();
  }
  return entry->second;
}

void CaptureImport::name_thread(Cpu& cpu, const HostSample& sample, WallNs wall_ns) {
  const std::string_view name = sample.thread.substr(0, guest::kTraceNameBytes);
  if (sample.tid == 0 && name.empty()) return;
  const auto known = threads_.find(sample.tid);
  if (known != threads_.end() && known->second == name) return;
  if (known == threads_.end() && threads_.size() == kMaxThreads) {
    ++counts_.threads_unnamed;
    return;
  }
  threads_[sample.tid] = name;
  ++cpu.ledger.events_taken;
  ++cpu.ledger.events_stored[static_cast<size_t>(capture::EventClass::kMetadata)];
  const auto words = guest::trace_name_words(name);
  cpu.events.events.push_back({.type = capture::EventType::kMarker,
                               .sequence = cpu.sequence++,
                               .wall_ns = wall_ns,
                               .insns = 0,
                               .kind = guest::trace_kind::kMetadata,
                               .args = {sample.tid, sample.pid, sample.tid, words[0], words[1]}});
}

Result<void> CaptureImport::sample(const HostSample& sample) {
  if (!begun_) QPERF_RETURN_IF_ERROR(begin(sample));
  const uint64_t time_ns = sample.time_ns.value_or(start_ns_);
  if (time_ns < start_ns_) {
    ++counts_.before_start;
    return {};
  }
  ++counts_.samples;
  const uint32_t index = std::min(sample.cpu.value_or(0), capture::kMaxVcpus - 1);
  Cpu& cpu = cpus_[index];
  cpu.samples.vcpu = cpu.events.vcpu = cpu.ledger.vcpu = VcpuIndex{index};
  // A vCPU's clock never goes back; what a tool printed may, by a little.
  const WallNs wall_ns = cpu.last_ns = std::max(cpu.last_ns, time_ns - start_ns_);
  end_ns_ = std::max(end_ns_, wall_ns);
  name_thread(cpu, sample, wall_ns);
  const bool has_thread = sample.tid != 0 || !sample.thread.empty();
  cpu.samples.samples.push_back({.site = site_of(cpu, sample),
                                 .sequence = cpu.sequence++,
                                 .wall_ns = wall_ns,
                                 .insns = 0,
                                 .weight = sample.weight,
                                 .task = has_thread ? TaskId{sample.tid} : capture::kUnknownTask});
  capture::VcpuLedger& ledger = cpu.ledger;
  ++ledger.samples_taken;
  ++ledger.samples_stored;
  ledger.weight_stored += std::min(sample.weight, UINT64_MAX - ledger.weight_stored);
  ++ledger.walks_by_stop[static_cast<size_t>(capture::StopReason::kBottom)];
  if (cpu.samples.samples.size() >= kSamplesPerChunk || cpu.frames >= kFramesPerChunk) return flush(cpu);
  return {};
}

Result<void> CaptureImport::flush(Cpu& cpu) {
  if (!cpu.events.events.empty()) {
    cpu.events.stored_before = cpu.events_stored;
    cpu.events_stored += cpu.events.events.size();
    QPERF_RETURN_IF_ERROR(writer_.events(cpu.events));
    cpu.events.events.clear();
  }
  if (!cpu.samples.samples.empty()) QPERF_RETURN_IF_ERROR(writer_.samples(cpu.samples));
  cpu.samples.sites.clear();
  cpu.samples.samples.clear();
  cpu.sites.clear();
  cpu.frames = 0;
  return {};
}

Result<std::vector<std::byte>> CaptureImport::finish(const std::string& elf_path) {
  if (!begun_) QPERF_RETURN_IF_ERROR(begin({}));
  uint64_t vcpus = 1;
  capture::Trailer trailer;
  trailer.end_wall_ns = trailer.ledger.wall_ns = end_ns_;
  for (auto& [index, cpu] : cpus_) {
    QPERF_RETURN_IF_ERROR(flush(cpu));
    trailer.ledger.vcpus.push_back(cpu.ledger);
    vcpus = std::max(vcpus, uint64_t{index} + 1);
  }
  // Readers tell by them that the ELF is the right one.
  constexpr size_t kFingerprints = 64;
  std::vector<capture::Fingerprint> fingerprints;
  while (names_.size() < 16) names_.push_back("[unused " + std::to_string(names_.size()) + "]");
  for (uint32_t i = 0; i < names_.size() && i < kFingerprints; ++i) {
    const auto bytes = function_bytes(i);
    fingerprints.push_back({.wall_ns = 0, .address = function_address(i), .bytes = {bytes.begin(), bytes.end()}});
  }
  QPERF_RETURN_IF_ERROR(writer_.fingerprints(fingerprints));
  QPERF_RETURN_IF_ERROR(writer_.finish(trailer));
  SymbolElf elf = make_symbol_elf(names_);
  QPERF_RETURN_IF_ERROR(writer_.metadata({{"guest.vcpus", vcpus},
                                          {"guest.max_vcpus", vcpus},
                                          {std::string(capture::kElfPathKey), elf_path},
                                          {std::string(capture::kElfBuildIdKey), elf.build_id}}));
  return std::move(elf.bytes);
}

}  // namespace qperf::foreign
