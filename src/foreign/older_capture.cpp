#include "foreign/older_capture.h"

#include <map>
#include <span>

#include "capture/header_keys.h"
#include "capture/legacy.h"
#include "capture/records.h"

namespace qperf::foreign {
namespace {

constexpr size_t kSamplesPerChunk = 4096;

/// The address list of an older record: zeros and all ones were that recorder's "nothing".
bool to_site(std::span<const GuestVa> addresses, capture::Site& site) {
  bool has_pc = false;
  for (const GuestVa address : addresses) {
    if (address.raw == 0 || address.raw == ~uint64_t{0}) continue;
    if (has_pc) site.frames.push_back(address);
    else site.pc = address;
    has_pc = true;
  }
  return has_pc;
}

struct Vcpu {
  capture::SampleChunk chunk;
  capture::VcpuLedger ledger;
};

}  // namespace

Result<OlderCaptureSummary> convert_older_capture(const std::string& path, const OlderCaptureOptions& options,
                                                  capture::ByteSink& sink) {
  capture::Writer writer(sink);
  capture::Header header;
  header.target = options.target;
  header.freq_hz = 1;  // not known; the import key says that weights are samples
  header.vcpus = header.max_vcpus = 1;
  header.idle_known = false;
  header.qperf_version = "import";
  header.elf_path = options.elf_path;
  header.elf_build_id = options.elf_build_id;
  QPERF_RETURN_IF_ERROR(writer.begin(header));
  QPERF_RETURN_IF_ERROR(writer.metadata({{std::string(capture::kImportKey), std::string("older capture")}}));
  OlderCaptureSummary summary;
  std::map<uint32_t, Vcpu> vcpus;
  const auto flush = [&](Vcpu& vcpu) -> Result<void> {
    if (vcpu.chunk.samples.empty()) return {};
    QPERF_RETURN_IF_ERROR(writer.samples(vcpu.chunk));
    vcpu.chunk.sites.clear();
    vcpu.chunk.samples.clear();
    return {};
  };
  const auto on_sample = [&](VcpuIndex index, std::span<const GuestVa> addresses) -> Result<void> {
    capture::Site site;
    if (!to_site(addresses, site)) {
      ++summary.without_address;
      return {};
    }
    ++summary.samples;
    Vcpu& vcpu = vcpus[index.raw];
    vcpu.chunk.vcpu = vcpu.ledger.vcpu = index;
    vcpu.chunk.samples.push_back({.site = static_cast<uint32_t>(vcpu.chunk.sites.size()),
                                  .sequence = vcpu.ledger.samples_stored,
                                  .wall_ns = 0,
                                  .insns = 0,
                                  .weight = 1});
    vcpu.chunk.sites.push_back(std::move(site));
    vcpu.ledger.samples_taken = vcpu.ledger.weight_stored = ++vcpu.ledger.samples_stored;
    ++vcpu.ledger.walks_by_stop[static_cast<size_t>(capture::StopReason::kBottom)];
    return vcpu.chunk.samples.size() < kSamplesPerChunk ? Result<void>() : flush(vcpu);
  };
  QPERF_ASSIGN_OR_RETURN(const auto read, capture::read_legacy_capture(path, on_sample));
  summary.cut = read.cut;
  uint64_t count = 1;
  capture::Trailer trailer;
  for (auto& [index, vcpu] : vcpus) {
    QPERF_RETURN_IF_ERROR(flush(vcpu));
    trailer.ledger.vcpus.push_back(vcpu.ledger);
    count = uint64_t{index} + 1;
  }
  QPERF_RETURN_IF_ERROR(writer.finish(trailer));
  QPERF_RETURN_IF_ERROR(writer.metadata({{"guest.vcpus", count}, {"guest.max_vcpus", count}}));
  return summary;
}

}  // namespace qperf::foreign
