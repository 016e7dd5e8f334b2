#include "export/gzip_sink.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace qperf::exporter {
namespace {

std::string unzipped(std::string compressed) {
  z_stream zlib{};
  EXPECT_EQ(inflateInit2(&zlib, 16 + MAX_WBITS), Z_OK);
  zlib.next_in = reinterpret_cast<Bytef*>(compressed.data());
  zlib.avail_in = static_cast<uInt>(compressed.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    std::string part(1 << 16, '\0');
    zlib.next_out = reinterpret_cast<Bytef*>(part.data());
    zlib.avail_out = static_cast<uInt>(part.size());
    status = inflate(&zlib, Z_NO_FLUSH);
    text.append(part, 0, part.size() - zlib.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  EXPECT_EQ(zlib.avail_in, 0U);
  inflateEnd(&zlib);
  return text;
}

TEST(GzipSink, IsUndoneByZlib) {
  std::string all;
  StringSink compressed;
  GzipSink gzip(compressed);
  for (size_t i = 0; i < 2000; ++i) {
    std::string part(i % 300, static_cast<char>(i));
    part += std::to_string(i * 2654435761U);
    gzip.write(part);
    all += part;
  }
  EXPECT_TRUE(gzip.finish());
  EXPECT_EQ(gzip.bytes_out(), compressed.text().size());
  EXPECT_LT(compressed.text().size(), all.size());
  EXPECT_EQ(unzipped(compressed.text()), all);
}

TEST(GzipSink, OfNothingIsAStreamWithNothing) {
  StringSink compressed;
  GzipSink gzip(compressed);
  EXPECT_TRUE(gzip.finish());
  EXPECT_EQ(unzipped(compressed.text()), "");
}

}  // namespace
}  // namespace qperf::exporter
