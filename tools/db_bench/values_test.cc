#include "tools/db_bench/values.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

namespace ashlar::bench {
namespace {

size_t CompressedBytes(const std::string& text) {
  uLongf bytes = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> out(bytes);
  EXPECT_EQ(compress(out.data(), &bytes, reinterpret_cast<const Bytef*>(text.data()),
                     static_cast<uLong>(text.size())),
            Z_OK);
  return bytes;
}

TEST(ValuesTest, ValuesCompressToThePartAskedFor) {
  for (const double ratio : {0.2, 0.5, 1.0}) {
    Flags flags;
    flags.compression_ratio = ratio;
    ValueMaker maker(flags, 5);
    std::string text;
    for (int i = 0; i < 1000; ++i) text.append(maker.Next().data(), 100);
    // Each of the 95 letters carries 6.6 bits, so even a ratio of 1 compresses a little.
    EXPECT_NEAR(static_cast<double>(CompressedBytes(text)) / static_cast<double>(text.size()),
                ratio * 0.85, 0.1)
        << ratio;
  }
}

TEST(ValuesTest, SizesKeepToTheirLimits) {
  for (const char* const type : {"fixed", "uniform", "normal"}) {
    SCOPED_TRACE(type);
    Flags flags;
    flags.value_size_distribution_type = type;
    flags.value_size = 100;
    flags.value_size_min = 10;
    flags.value_size_max = 190;
    ValueMaker maker(flags, 5);
    std::vector<size_t> sizes(20'000);
    for (size_t& size : sizes) size = maker.Next().size();
    const auto [smallest, largest] = std::minmax_element(sizes.begin(), sizes.end());
    double sum = 0;
    for (const size_t size : sizes) sum += static_cast<double>(size);
    EXPECT_NEAR(sum / static_cast<double>(sizes.size()), 100, 2);
    const bool fixed = flags.value_size_distribution_type == "fixed";
    EXPECT_EQ(*smallest, fixed ? 100u : 10u);
    EXPECT_EQ(*largest, fixed ? 100u : 190u);
  }
}

TEST(ValuesTest, AValueMayBeLargerThanTheUsualText) {
  Flags flags;
  flags.value_size = 3 << 20;
  ValueMaker maker(flags, 5);
  EXPECT_EQ(maker.Next().size(), size_t{3} << 20);
  EXPECT_EQ(maker.Next().size(), size_t{3} << 20);
}

}  // namespace
}  // namespace ashlar::bench
