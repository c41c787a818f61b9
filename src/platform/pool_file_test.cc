#include "platform/pool_file.h"

#include <cstring>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "platform/cache_flush.h"
#include "platform/memory.h"

namespace ashlar {
namespace {

constexpr uint64_t kBytes = 64 * 4096;

std::string FreshPath(const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ashlar-pool-file-" + name);
  std::filesystem::remove(path);
  return path.string();
}

TEST(PoolFileTest, SharedMappingsOfOneFileAreOneMemory) {
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kBytes).value();
  EXPECT_EQ(file->Backing(), PoolBacking::kSharedMemory);
  const std::unique_ptr<PoolMapping> view = file->Map(PoolMapMode::kSharedReadOnly).value();
  const std::unique_ptr<PoolMapping> writable = file->Map(PoolMapMode::kShared).value();
  EXPECT_NE(view->data(), writable->data());
  memcpy(writable->data() + 5000, "hello", 5);
  EXPECT_EQ(memcmp(view->data() + 5000, "hello", 5), 0);
  char read[5];
  ASSERT_TRUE(file->ReadAt(5000, 5, read).ok());
  EXPECT_EQ(memcmp(read, "hello", 5), 0);
}

TEST(PoolFileDeathTest, StoringToTheReadOnlyViewFaults) {
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kBytes).value();
  const std::unique_ptr<PoolMapping> view = file->Map(PoolMapMode::kSharedReadOnly).value();
  EXPECT_DEATH(*static_cast<volatile char*>(view->data()) = 1, "");
}

TEST(PoolFileTest, APrivateMappingNeverReachesTheFileAndCanForget) {
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kBytes).value();
  ASSERT_TRUE(file->WriteAt(4096, "old", 3).ok());
  const std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kPrivate).value();
  memcpy(mapping->data() + 4096, "new", 3);
  char read[3];
  ASSERT_TRUE(file->ReadAt(4096, 3, read).ok());
  EXPECT_EQ(memcmp(read, "old", 3), 0);
  ASSERT_TRUE(mapping->DiscardPages(4096, 4096).ok());
  EXPECT_EQ(memcmp(mapping->data() + 4096, "old", 3), 0);
}

// Stores next to the range must not be discarded with it if the system's pages are larger than the
// caller's.
TEST(PoolFileTest, APrivateMappingForgetsWholePagesOnly) {
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kBytes).value();
  const uint64_t page_bytes = PageBytes();
  ASSERT_LE(3 * page_bytes, kBytes);
  const std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kPrivate).value();
  memset(mapping->data(), 'n', 3 * page_bytes);
  ASSERT_TRUE(mapping->DiscardPages(16, 3 * page_bytes - 32).ok());
  EXPECT_EQ(
      std::string(mapping->data(), 3 * page_bytes),
      std::string(page_bytes, 'n') + std::string(page_bytes, '\0') + std::string(page_bytes, 'n'));
  ASSERT_TRUE(mapping->DiscardPages(16, page_bytes).ok());
  EXPECT_EQ(std::string(mapping->data(), page_bytes), std::string(page_bytes, 'n'));
}

TEST(PoolFileTest, AFileIsHeldByOneHandleAndAMissingOneIsNotFound) {
  const std::string path = FreshPath("held");
  EXPECT_TRUE(PoolFile::Open(path).status().IsPathNotFound());
  std::unique_ptr<PoolFile> file = PoolFile::Create(path, kBytes, 0).value();
  EXPECT_FALSE(PoolFile::Create(path, kBytes, 0).ok());
  EXPECT_THAT(PoolFile::Open(path).status().ToString(), ::testing::HasSubstr("in use"));
  file.reset();
  file = PoolFile::Open(path).value();
  EXPECT_EQ(file->bytes(), kBytes);
  file.reset();
  std::filesystem::remove(path);
}

TEST(CacheFlushTest, EveryInstructionThatThisProcessorHasLeavesTheBytesAlone) {
  std::string bytes(1000, 'b');
  for (uint8_t i = 0; i <= static_cast<uint8_t>(BestFlushInstruction()); ++i) {
    FlushLines(static_cast<FlushInstruction>(i), bytes.data() + 3, 700);
    FlushFence();
    EXPECT_EQ(bytes, std::string(1000, 'b'))
        << FlushInstructionName(static_cast<FlushInstruction>(i));
  }
  static_cast<void>(CachesArePersistent());
}

}  // namespace
}  // namespace ashlar
