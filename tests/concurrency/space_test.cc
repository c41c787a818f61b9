// Databases that share an SstFileManager are opened, written, compacted and closed with a full bin,
// each on its own thread, while another thread calls the manager. Nothing is lost, a close ends the
// count of its own tables only, and the trash is deleted without its databases.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/sst_file_manager.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

// So slow that no bin is empty when its database is closed.
constexpr int64_t kSlow = 100;
constexpr int64_t kFast = int64_t{1} << 30;
constexpr uint64_t kChunkBytes = 2000;
constexpr double kAnyRatio = 1e9;

class SharedSpaceTest : public ::testing::Test {
 protected:
  static constexpr size_t kDatabases = 3;

  SharedSpaceTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.info_log = std::make_shared<SilentLogger>();
    options_.sst_file_manager = manager_;
  }

  static std::string PathOf(size_t database) { return StrCat("/db", database); }
  static std::map<std::string, std::string> ContentsOf(DB* db) {
    std::map<std::string, std::string> contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    return contents;
  }

  void LiveOnce(size_t database, int life) {
    std::map<std::string, std::string>& written = written_[database];
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options_, PathOf(database), &db));
    ASSERT_TRUE(ContentsOf(db.get()) == written);
    for (int table = 0; table < 4; ++table) {
      for (int i = 0; i < 20; ++i) {
        const std::string key = StrCat("key", 100 + i);
        written[key] = StrCat(life, "-", table, std::string(200, 'v'));
        ASSERT_OK(db->Put(WriteOptions(), key, written[key]));
      }
      ASSERT_OK(db->Flush(FlushOptions()));
    }
    ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_TRUE(ContentsOf(db.get()) == written);
    ASSERT_OK(db->Close());
    db.reset();
    for (const auto& [path, bytes] : manager_->GetTrackedFiles())
      ASSERT_FALSE(path.starts_with(PathOf(database)) && path.ends_with(".sst")) << path;
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(disk_);
  std::shared_ptr<SstFileManager> manager_{
      NewSstFileManager(env_.get(), nullptr, "", kSlow, true, nullptr, kAnyRatio, kChunkBytes)};
  Options options_;
  std::array<std::map<std::string, std::string>, kDatabases> written_;
};

TEST_F(SharedSpaceTest, DatabasesCloseWithAFullBin) {
  constexpr int kLives = 12;
  std::atomic<size_t> ended{0};
  std::vector<std::thread> threads;
  for (size_t database = 0; database < kDatabases; ++database) {
    threads.emplace_back([this, database, &ended] {
      for (int life = 0; life < kLives && !HasFailure(); ++life) LiveOnce(database, life);
      ++ended;
    });
  }
  threads.emplace_back([this, &ended] {
    for (int64_t call = 0; ended < kDatabases && !HasFailure(); ++call) {
      for (const auto& [path, bytes] : manager_->GetTrackedFiles()) EXPECT_GT(bytes, 0u) << path;
      EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
      manager_->SetDeleteRateBytesPerSecond(kSlow + call % 2);
      manager_->SetMaxAllowedSpaceUsage(call % 2 == 0 ? 0 : uint64_t{1} << 40);
    }
  });
  for (std::thread& thread : threads) thread.join();
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(manager_->GetTotalTrashSize(), 0u) << "no bin was full";
  EXPECT_EQ(manager_->GetTotalSize(), manager_->GetTotalTrashSize());

  // The manager ends with a full bin, which the next open empties.
  manager_ = nullptr;
  options_.sst_file_manager = nullptr;
  for (size_t database = 0; database < kDatabases; ++database) {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options_, PathOf(database), &db));
    EXPECT_TRUE(ContentsOf(db.get()) == written_[database]);
    std::vector<std::string> names;
    ASSERT_OK(disk_->GetChildren(PathOf(database), &names));
    for (const std::string& name : names) EXPECT_FALSE(name.ends_with(".trash")) << name;
  }
}

TEST_F(SharedSpaceTest, AManagerEndsWhileItsBinIsEmptied) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    options_.sst_file_manager.reset(
        NewSstFileManager(env_.get(), nullptr, "", kFast, true, nullptr, kAnyRatio, kChunkBytes));
    manager_ = options_.sst_file_manager;
    LiveOnce(0, round);
  }
}

}  // namespace
}  // namespace ashlar
