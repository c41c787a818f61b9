// The ways of reading and writing tables: through the page cache, around it, and through mappings.
// Every combination stores the same data.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

struct Ways {
  bool mmap_reads;
  bool mmap_writes;
  bool direct_reads;
  bool direct_writes;

  void SetIn(Options* options) const {
    options->allow_mmap_reads = mmap_reads;
    options->allow_mmap_writes = mmap_writes;
    options->use_direct_reads = direct_reads;
    options->use_direct_io_for_flush_and_compaction = direct_writes;
  }
  bool NeedsDirectIo() const { return direct_reads || direct_writes; }
  std::string Name() const {
    return StrCat(mmap_reads ? "mapped" : (direct_reads ? "direct" : "buffered"), "_reads_",
                  mmap_writes ? "mapped" : (direct_writes ? "direct" : "buffered"), "_writes");
  }
};

class IoTest : public DatabaseFixture, public testing::WithParamInterface<Ways> {};

TEST_P(IoTest, WhatIsWrittenIsReadAfterFlushCompactionAndReopening) {
  const uint64_t seed = 91;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  GetParam().SetIn(&options_);
  options_.write_buffer_size = 256 << 10;
  options_.target_file_size_base = 128 << 10;
  options_.max_bytes_for_level_base = 512 << 10;
  const Status opened = TryOpen();
  if (opened.IsInvalidArgument() && GetParam().NeedsDirectIo()) GTEST_SKIP() << opened.ToString();
  ASSERT_OK(opened);
  std::map<std::string, std::string> model;
  const auto check = [&] {
    std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(iterator->Valid()) << iterator->status().ToString();
      ASSERT_EQ(iterator->key(), Slice(key));
      ASSERT_EQ(iterator->value(), Slice(value));
      iterator->Next();
    }
    ASSERT_FALSE(iterator->Valid());
    ASSERT_OK(iterator->status());
    for (int i = 0; i < 200; ++i) {
      const std::string key = StrCat("key", random.Uniform(5000));
      const auto expected = model.find(key);
      ASSERT_EQ(Get(key), expected == model.end() ? "NOT_FOUND" : expected->second);
    }
  };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3000; ++i) {
      const std::string key = StrCat("key", random.Uniform(5000));
      if (random.OneIn(6)) {
        model.erase(key);
        Delete(key);
      } else {
        const std::string value = random.Bytes(static_cast<size_t>(random.Skewed(10)));
        model[key] = value;
        Put(key, value);
      }
    }
    Flush();
    check();
    if (round == 1) CompactAll();
    ASSERT_OK(db_->VerifyChecksum());
    Open();
    check();
  }
  // No file retains the padding of a block or the unused end of a window.
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_FALSE(files.empty());
  for (const LiveFileMetaData& file : files) {
    EXPECT_EQ(
        std::filesystem::file_size(StrCat(path(), "/", file.name.substr(file.name.rfind('/') + 1))),
        file.size)
        << file.name;
  }
  // Reads through the page cache also return everything.
  Ways{}.SetIn(&options_);
  Open();
  check();
}

INSTANTIATE_TEST_SUITE_P(
    All, IoTest,
    testing::Values(Ways{false, false, true, false}, Ways{false, false, false, true},
                    Ways{false, false, true, true}, Ways{true, false, false, false},
                    Ways{false, true, false, false}, Ways{true, true, false, false},
                    Ways{true, false, false, true}, Ways{false, true, true, false}),
    [](const testing::TestParamInfo<Ways>& ways) { return ways.param.Name(); });

using AutoReadaheadTest = DatabaseFixture;

// No cache contains the table, because each open creates a new cache.
TEST_F(AutoReadaheadTest, AScanReadsBlockByBlockIfItsLargestPieceIsZero) {
  options_.statistics = CreateDBStatistics();
  const auto bytes_read_ahead = [&](size_t initial_bytes, size_t max_bytes) {
    BlockBasedTableOptions table;
    table.initial_auto_readahead_size = initial_bytes;
    table.max_auto_readahead_size = max_bytes;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    EXPECT_OK(options_.statistics->Reset());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int entries = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++entries;
    EXPECT_OK(it->status());
    EXPECT_EQ(entries, 200);
    return options_.statistics->getTickerCount(PREFETCH_BYTES);
  };
  Open();
  for (int i = 0; i < 200; ++i) Put(StrCat("key", 1000 + i), std::string(1000, 'v'));
  Flush();
  EXPECT_GT(bytes_read_ahead(8 << 10, 256 << 10), 0u);
  EXPECT_EQ(bytes_read_ahead(8 << 10, 0), 0u);
  EXPECT_EQ(bytes_read_ahead(0, 256 << 10), 0u);
}

TEST_F(AutoReadaheadTest, AScanBackwardsReadsEachPieceOnce) {
  options_.statistics = CreateDBStatistics();
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (int i = 0; i < 400; ++i) Put(StrCat("key", 1000 + i), std::string(1000, 'v'));
  Flush();
  for (const bool forwards : {true, false}) {
    EXPECT_OK(options_.statistics->Reset());
    ReadOptions read;
    read.readahead_size = 64 << 10;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int entries = 0;
    for (forwards ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forwards ? it->Next() : it->Prev())
      ++entries;
    EXPECT_OK(it->status());
    EXPECT_EQ(entries, 400);
    const uint64_t bytes = options_.statistics->getTickerCount(PREFETCH_BYTES);
    EXPECT_GT(bytes, 350'000u) << forwards;
    EXPECT_LT(bytes, 500'000u) << forwards;
  }
}

TEST_F(AutoReadaheadTest, APieceOfAnySizeEndsWithTheTable) {
  constexpr size_t kLargest = std::numeric_limits<size_t>::max();
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.initial_auto_readahead_size = table.max_auto_readahead_size = kLargest;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (int i = 0; i < 400; ++i) Put(StrCat("key", 1000 + i), std::string(1000, 'v'));
  Flush();
  for (const size_t readahead_bytes : {size_t{0}, kLargest}) {
    ReadOptions read;
    read.readahead_size = readahead_bytes;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int entries = 0;
    for (it->Seek("key1200"); it->Valid(); it->Next()) ++entries;
    EXPECT_OK(it->status());
    EXPECT_EQ(entries, 200) << readahead_bytes;
  }
}

// Each block has one entry.
class BlockReadTest : public DatabaseFixture {
 protected:
  BlockReadTest() {
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.block_size = 1;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  // Changes a byte of the value that consists of this character.
  void DamageValueOf(char character) {
    const std::string file = StrCat(path(), "/", FileNames(0).at(0));
    Close();
    vfs::FileSystem* const files = options_.env->EngineFiles().get();
    const size_t offset = ContentsOf(files, file).find(std::string(kValueBytes, character));
    ASSERT_NE(offset, std::string::npos);
    FlipByte(files, file, offset + kValueBytes / 2);
    Open();
  }
  static constexpr size_t kValueBytes = 100;
};

TEST_F(BlockReadTest, DamageThatAnUncheckedReadShowsIsCorruptionToOthers) {
  Open();
  Put("a", std::string(kValueBytes, 'a'));
  Flush();
  DamageValueOf('a');
  ReadOptions unchecked;
  unchecked.verify_checksums = false;
  std::string value;
  ASSERT_OK(db_->Get(unchecked, "a", &value));
  EXPECT_EQ(value.size(), kValueBytes);
  EXPECT_NE(value, std::string(kValueBytes, 'a'));
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(unchecked));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), value);
  }
  EXPECT_TRUE(db_->Get(ReadOptions(), "a", &value).IsCorruption());
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).IsCorruption());
}

TEST_F(BlockReadTest, SoundBlocksOfUncheckedReadsAreCached) {
  Open();
  Put("a", "1");
  Flush();
  ReadOptions unchecked;
  unchecked.verify_checksums = false;
  std::string value;
  ASSERT_OK(db_->Get(unchecked, "a", &value));
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  EXPECT_OK(db_->Get(cached, "a", &value));
}

TEST_F(BlockReadTest, ASeekBackwardsReadsNoBlockAfterTheOneWithItsEntry) {
  Open();
  for (const char key : {'a', 'c', 'e'}) Put(std::string(1, key), std::string(kValueBytes, key));
  Flush();
  DamageValueOf('c');
  const auto seek_for_prev = [this](const Slice& target, ReadTier tier) {
    ReadOptions read;
    read.read_tier = tier;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->SeekForPrev(target);
    return it->Valid() ? it->key().ToString() : it->status().ToString().substr(0, 10);
  };
  EXPECT_EQ(seek_for_prev("a", kReadAllTier), "a");
  EXPECT_EQ(seek_for_prev("a1", kReadAllTier), "a");
  EXPECT_EQ(seek_for_prev("a1", kBlockCacheTier), "a") << "its block is cached";
  EXPECT_EQ(seek_for_prev("d", kReadAllTier), "Corruption");
  EXPECT_EQ(seek_for_prev("A", kReadAllTier), "OK");
}

using IoRefusalTest = DatabaseFixture;

TEST_F(IoRefusalTest, MappingsAndDirectIoExcludeEachOther) {
  Ways{.mmap_reads = true, .mmap_writes = false, .direct_reads = true, .direct_writes = false}
      .SetIn(&options_);
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  Ways{.mmap_reads = false, .mmap_writes = true, .direct_reads = false, .direct_writes = true}
      .SetIn(&options_);
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_NE(refused.ToString().find("allow_mmap_writes"), std::string::npos) << refused.ToString();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(IoRefusalTest, ARateLimiterWithoutARateIsRefusedBeforeAnythingIsWritten) {
  for (const int64_t rate : {0, -1}) {
    options_.rate_limiter.reset(NewGenericRateLimiter(rate));
    const Status refused = TryOpen();
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
    EXPECT_NE(refused.ToString().find("rate_limiter"), std::string::npos) << refused.ToString();
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  options_.rate_limiter.reset(NewGenericRateLimiter(1 << 30));
  Open();
  Put("key", "value");
  Close();
  // A reader makes no writes to be limited.
  options_.rate_limiter.reset(NewGenericRateLimiter(0));
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Get("key"), "value");
}

// The open detects a file system without direct I/O. Otherwise the first flush would fail.
TEST_F(IoRefusalTest, AFileSystemThatCannotBypassItsCacheIsRefusedAtOpen) {
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  {
    OpenDatabase database(faults, options_, 1);
    ASSERT_OK(database.Open());
    ASSERT_OK(database.Close());
  }
  FaultRule refuses;
  refuses.operations = FaultOperation::kOpenForReading;
  refuses.name_contains = "CURRENT";
  refuses.sticky = true;  // the first open of CURRENT lists the families
  refuses.error = Status::InvalidArgument("no direct I/O here");
  for (const Ways& ways : {Ways{.mmap_reads = false,
                                .mmap_writes = false,
                                .direct_reads = true,
                                .direct_writes = false},
                           Ways{.mmap_reads = false,
                                .mmap_writes = false,
                                .direct_reads = false,
                                .direct_writes = true}}) {
    Options options = options_;
    ways.SetIn(&options);
    OpenDatabase database(faults, options, 1);
    faults->AddRule(refuses);
    const Status refused = database.Open();
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
    EXPECT_NE(refused.ToString().find("use_direct_reads"), std::string::npos) << refused.ToString();
    faults->ClearRules();
    EXPECT_OK(database.Open());
    EXPECT_OK(database.Close());
  }
}

// Records how logs are opened for writing.
class LogOptionsFileSystem final : public MemoryFileSystem {
 public:
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override {
    if (path.ends_with(".log")) log_options_ = options;
    return MemoryFileSystem::NewWritableFile(path, options, result);
  }
  const vfs::FileOptions& log_options() const { return log_options_; }

 private:
  vfs::FileOptions log_options_;
};

// A disk fault kills a process that stores into a mapping.
TEST(LogFileOptionsTest, TheLogIsMappedOnRequestOnlyAndOnlyUnderPointInTimeRecovery) {
  for (const bool mmap_writes : {false, true}) {
    for (const WALRecoveryMode mode :
         {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
          WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
      Options options = SmallDatabaseOptions();
      options.allow_mmap_writes = mmap_writes;
      options.wal_recovery_mode = mode;
      const auto disk = std::make_shared<LogOptionsFileSystem>();
      OpenDatabase database(disk, options, 1);
      ASSERT_OK(database.Open());
      const bool mapped = mmap_writes && mode == WALRecoveryMode::kPointInTimeRecovery;
      EXPECT_EQ(disk->log_options().use_mmap_writes, mapped);
      EXPECT_EQ(disk->log_options().keeps_zero_tail, mapped);
      EXPECT_TRUE(disk->log_options().unbuffered_appends);
      ASSERT_OK(database.Close());
    }
  }
}

}  // namespace
}  // namespace ashlar
