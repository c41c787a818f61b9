#include "table/block/block_format.h"

#include <gtest/gtest.h>

#include <string>

#include "base/coding.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"

namespace ashlar {
namespace {

constexpr uint64_t kFileBytes = 10'000;

Status Decoded(const BlockHandle& metaindex, const BlockHandle& index) {
  Footer footer;
  footer.format_version = 5;
  footer.metaindex = metaindex;
  footer.index = index;
  std::string bytes;
  PutFooter(&bytes, footer);
  return DecodeFooter(bytes, kFileBytes).status();
}

TEST(BlockFormatTest, HandlesOfAFooterAreInsideTheFile) {
  const BlockHandle inside = {.offset = 100, .size = 50};
  EXPECT_TRUE(Decoded(inside, inside).ok());
  for (const BlockHandle& outside : {BlockHandle{.offset = kFileBytes, .size = 1},
                                     BlockHandle{.offset = 100, .size = kFileBytes},
                                     BlockHandle{.offset = 0, .size = ~uint64_t{0}},
                                     BlockHandle{.offset = ~uint64_t{0}, .size = 2}}) {
    EXPECT_TRUE(Decoded(outside, inside).IsCorruption());
    EXPECT_TRUE(Decoded(inside, outside).IsCorruption());
  }
}

// The keys of a large block may all be kept, so their total size needs a bound.
TEST(BlockFormatTest, KeysOfALargeBlockHaveABoundOfTheirOwn) {
  constexpr size_t kKeyBytes = size_t{5} << 20;
  BlockBuilder builder({.restart_interval = 1 << 30});
  const std::string key(kKeyBytes, 'k');
  for (int i = 0; i < 60; ++i) builder.Add(key, "", i == 0 ? 0 : kKeyBytes);
  const std::string block = builder.Finish().ToString();
  size_t key_bytes = 0;
  BlockEntries entries(block);
  while (entries.Next()) key_bytes += entries.key().size();
  EXPECT_TRUE(entries.status().IsCorruption()) << key_bytes;
  EXPECT_GT(key_bytes, BlockEntries::kSharedBytesMax - kKeyBytes);
  EXPECT_LT(key_bytes, BlockEntries::kSharedBytesMax + 3 * kKeyBytes);
}

// The lengths take two bytes. One value ends after the block.
TEST(BlockFormatTest, AnEntryEndsInsideItsBlock) {
  constexpr uint32_t kValueBytes = 200;
  std::string bytes;
  PutVarint32(&bytes, 0);
  PutVarint32(&bytes, 3);
  PutVarint32(&bytes, kValueBytes);
  bytes += "key" + std::string(kValueBytes, 'v');
  BlockEntry entry;
  const char* const begin = bytes.data();
  ASSERT_TRUE(DecodeStoredEntrySlow(begin, begin + bytes.size(), &entry));
  EXPECT_EQ(entry.value().size(), kValueBytes);
  for (size_t cut = 1; cut <= bytes.size(); ++cut)
    EXPECT_FALSE(DecodeStoredEntrySlow(begin, begin + bytes.size() - cut, &entry)) << cut;
}

}  // namespace
}  // namespace ashlar
