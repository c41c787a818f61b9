#include "pmem/record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/coding.h"

namespace ashlar::pmem {
namespace {

// Returns the checksum, the lengths of key and value, the key and the value, as in the format.
std::string RecordImage(const std::string& key, const std::string& value) {
  std::string summed;
  PutFixed32(&summed, static_cast<uint32_t>(key.size()));
  PutFixed32(&summed, static_cast<uint32_t>(value.size()));
  summed += key + value;
  std::string image;
  PutFixed32(&image, crc32c::Mask(crc32c::Value(summed.data(), summed.size())));
  return image + summed;
}

bool IsWhole(const std::string& image) {
  return ChecksumMatches({.start = image.data(),
                          .key_bytes = DecodeFixed32(image.data() + 4),
                          .value_bytes = DecodeFixed32(image.data() + 8)});
}

// Stores the written bytes.
class BytesMedium final : public Medium {
 public:
  explicit BytesMedium(std::string* bytes)
      : Medium("bytes", bytes->data(), bytes->size()), bytes_(*bytes) {}
  DurabilityClass durability_class() const override { return {}; }

 private:
  void Begin(PoolOperation*) override {}
  void Store(PoolOperation*, PoolOffset to, uint64_t word) override {
    EncodeFixed64(bytes_.data() + to, word);
  }
  void Copy(PoolOperation*, PoolOffset to, const char* from, size_t n) override {
    memcpy(bytes_.data() + to, from, n);
  }
  void Flush(PoolOffset, size_t) override {}
  void Fence() override {}
  void Commit(PoolOperation*) override {}
  void End(PoolOperation*) override {}
  Status AwaitDurable(PoolOperation*) override { return Status::OK(); }

  std::string& bytes_;
};

std::string Written(const std::string& key, const std::string& value) {
  std::string bytes(4096, '\0');
  {
    BytesMedium medium(&bytes);
    PoolOperation op(medium);
    WriteRecord(&op, 0, key, value);
  }
  return bytes.substr(0, RecordBytes(key, value));
}

TEST(RecordTest, TheBytesAreThoseOfTheFormat) {
  EXPECT_EQ(Written("key", "value"), RecordImage("key", "value"));
  EXPECT_EQ(Written("key", ""), RecordImage("key", ""));
  EXPECT_EQ(Written("", "value"), RecordImage("", "value"));
}

// Another program computed the checksums: CRC-32C of lengths, key and value, rotated right by 15
// bits, plus 0xa282ead8.
TEST(RecordTest, TheImagesAreTheseBytes) {
  const auto image = [](const std::string& key, const std::string& value) {
    return Slice(Written(key, value)).ToString(true);
  };
  EXPECT_EQ(image("key", "value"), "046DD22C03000000050000006B657976616C7565");
  EXPECT_EQ(image("key", ""), "B6573DBF03000000000000006B6579");
  EXPECT_EQ(image("", "value"), "494F152C000000000500000076616C7565");
}

// The bytes of key and value together are the same in both records.
TEST(RecordTest, AByteThatMovesFromTheValueToTheKeyIsNoticed) {
  std::string image = Written("key", "value");
  ASSERT_TRUE(IsWhole(image));
  EncodeFixed32(image.data() + 4, 4);
  EncodeFixed32(image.data() + 8, 4);
  EXPECT_FALSE(IsWhole(image));
}

TEST(RecordTest, EveryFlippedBitIsNoticed) {
  const std::string image = Written("key", "value");
  for (size_t bit = 0; bit < 8 * image.size(); ++bit) {
    std::string flipped = image;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    // A flipped length may lead out of the image, but ReadRecord checks the lengths first.
    const uint64_t bytes = uint64_t{kRecordHeaderBytes} + DecodeFixed32(flipped.data() + 4) +
                           DecodeFixed32(flipped.data() + 8);
    if (bytes > image.size()) continue;
    EXPECT_FALSE(IsWhole(flipped)) << bit;
  }
}

}  // namespace
}  // namespace ashlar::pmem
