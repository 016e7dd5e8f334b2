#include "export/gzip_sink.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace qperf::exporter {
namespace {

constexpr int kGzipFormat = 16 + MAX_WBITS;
constexpr int kMemoryLevel = 8;                       // zlib's default
constexpr std::string_view::size_type kMostAtOnce = size_t{1} << 30;  // zlib counts in unsigned int

}  // namespace

struct GzipSink::Stream {
  z_stream zlib{};
  std::array<char, size_t{1} << 16> out{};
};

GzipSink::GzipSink(TextSink& out) : out_(out), stream_(std::make_unique<Stream>()) {
  failed_ = deflateInit2(&stream_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipFormat, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK;
}

GzipSink::~GzipSink() { deflateEnd(&stream_->zlib); }

void GzipSink::deflate_all(int flush) {
  z_stream& zlib = stream_->zlib;
  for (bool more = true; more && !failed_;) {
    zlib.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    zlib.avail_out = static_cast<uInt>(stream_->out.size());
    failed_ = deflate(&zlib, flush) == Z_STREAM_ERROR;
    const size_t count = stream_->out.size() - zlib.avail_out;
    out_.write(std::string_view(stream_->out.data(), count));
    bytes_out_ += count;
    more = zlib.avail_out == 0;
  }
}

void GzipSink::write(std::string_view text) {
  while (!text.empty() && !failed_) {
    const auto part = text.substr(0, kMostAtOnce);
    // zlib does not write to its input, but older versions take no pointer to const.
    stream_->zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_->zlib.avail_in = static_cast<uInt>(part.size());
    deflate_all(Z_NO_FLUSH);
    text.remove_prefix(part.size());
  }
}

bool GzipSink::finish() {
  stream_->zlib.next_in = nullptr;
  stream_->zlib.avail_in = 0;
  deflate_all(Z_FINISH);
  return !failed_;
}

}  // namespace qperf::exporter
