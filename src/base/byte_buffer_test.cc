// Compares ByteBuffer with a std::string, and CopyShort with memcpy.
#include "base/byte_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

TEST(ByteBuffer, HoldsWhatAStringWouldHold) {
  constexpr uint64_t kSeed = 31;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  ByteBuffer buffer;
  std::string expected;
  EXPECT_TRUE(buffer.empty());
  for (int i = 0; i < 5000; i++) {
    const std::string piece = random.Bytes(static_cast<size_t>(random.Skewed(12)));
    switch (random.Uniform(8)) {
      case 0:
        buffer.Clear();
        expected.clear();
        break;
      case 1: {
        const auto n = static_cast<size_t>(random.Uniform(expected.size() + 1));
        buffer.RemoveFront(n);
        expected.erase(0, n);
        break;
      }
      case 2:
        // Reserve more room than is used in the end.
        if (!piece.empty()) memcpy(buffer.Reserve(2 * piece.size()), piece.data(), piece.size());
        buffer.Extend(piece.size());
        expected += piece;
        break;
      default: buffer.Append(piece); expected += piece;
    }
    ASSERT_EQ(buffer.size(), expected.size());
    ASSERT_EQ(buffer.empty(), expected.empty());
    const auto start = static_cast<size_t>(random.Uniform(expected.size() + 1));
    ASSERT_EQ(buffer.From(start).ToString(), expected.substr(start));
  }
}

TEST(ByteBuffer, CopyShortCopiesEveryLengthAndNothingElse) {
  Random random(32);
  for (size_t n = 0; n <= 70; n++) {
    const std::string from = random.Bytes(n);
    std::string to(n + 2, 'x');
    CopyShort(to.data() + 1, from.data(), n);
    ASSERT_EQ(to, "x" + from + "x") << n;
  }
}

}  // namespace
}  // namespace ashlar
