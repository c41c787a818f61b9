// Tables that are dense in deletions are compacted even if no level is full, so that scans over
// deleted keys become short automatically.
#include <atomic>

#include "ashlar/listener.h"
#include "ashlar/perf_context.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

constexpr int kKeys = 20000;

class CompactionReasons final : public EventListener {
 public:
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    if (info.compaction_reason == CompactionReason::kFilesMarkedForCompaction) ++marked;
  }
  std::atomic<int> marked{0};
};

class DenseDeletionsTest : public DatabaseFixture {
 protected:
  DenseDeletionsTest() {
    options_.iterators_remember_gaps = false;
    options_.listeners.push_back(reasons_);
  }
  static std::string Key(int number) { return StrCat("k", 100000 + number); }
  // Makes a last level with all keys and above it one table of deletions. If snapshot is not null,
  // *snapshot is one that sees the keys.
  void DeleteAll(const Snapshot** snapshot = nullptr) {
    for (int i = 0; i < kKeys; ++i) Put(Key(i), "1");
    Flush();
    CompactAll();
    if (snapshot != nullptr) *snapshot = db_->GetSnapshot();
    for (int i = 0; i < kKeys - 1; ++i) Delete(Key(i));
    Flush();
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  uint64_t DeletionsOfAWalk() {
    const uint64_t before = get_perf_context()->internal_delete_skipped_count;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    EXPECT_TRUE(it->Valid());
    EXPECT_EQ(it->key().ToString(), Key(kKeys - 1));
    return get_perf_context()->internal_delete_skipped_count - before;
  }

  const std::shared_ptr<CompactionReasons> reasons_ = std::make_shared<CompactionReasons>();
};

TEST_F(DenseDeletionsTest, ATableOfDeletionsIsCompacted) {
  Open();
  DeleteAll();
  EXPECT_EQ(DeletionsOfAWalk(), 0u);
  EXPECT_EQ(reasons_->marked.load(), 1);
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

TEST_F(DenseDeletionsTest, TheOptionTurnsItOff) {
  options_.compact_dense_deletions = false;
  Open();
  DeleteAll();
  EXPECT_EQ(DeletionsOfAWalk(), static_cast<uint64_t>(kKeys - 1));
  ASSERT_OK(db_->SetOptions({{"compact_dense_deletions", "true"}}));
  EXPECT_EQ(reasons_->marked.load(), 0);
  Put("a", "1");
  for (int i = 0; i < kKeys - 1; ++i) Delete(Key(i));
  Delete("a");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(DeletionsOfAWalk(), 0u);
  EXPECT_EQ(reasons_->marked.load(), 1);
}

// The mark is in the MANIFEST, so the next open compacts the table.
TEST_F(DenseDeletionsTest, AMarkSurvivesAReopen) {
  options_.disable_auto_compactions = true;
  Open();
  DeleteAll();
  EXPECT_EQ(DeletionsOfAWalk(), static_cast<uint64_t>(kKeys - 1));
  options_.disable_auto_compactions = false;
  options_.compact_dense_deletions = false;
  Open();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(DeletionsOfAWalk(), 0u);
  EXPECT_EQ(reasons_->marked.load(), 1);
}

// The deletions stay for the snapshot, but are not compacted repeatedly.
TEST_F(DenseDeletionsTest, DeletionsForASnapshotAreCompactedOnce) {
  Open();
  const Snapshot* snapshot = nullptr;
  DeleteAll(&snapshot);
  EXPECT_EQ(reasons_->marked.load(), 1);
  EXPECT_EQ(DeletionsOfAWalk(), static_cast<uint64_t>(kKeys - 1));
  EXPECT_EQ(Get(Key(0), snapshot), "1");
  db_->ReleaseSnapshot(snapshot);
}

// Nothing is written after the release.
TEST_F(DenseDeletionsTest, TheEndOfTheSnapshotEndsTheDeletionsAtTheBottom) {
  Open();
  const Snapshot* snapshot = nullptr;
  DeleteAll(&snapshot);
  EXPECT_EQ(DeletionsOfAWalk(), static_cast<uint64_t>(kKeys - 1));
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(DeletionsOfAWalk(), 0u);
}

TEST_F(DenseDeletionsTest, WithOneLevelNothingIsMarked) {
  options_.num_levels = 1;
  Open();
  DeleteAll();
  EXPECT_EQ(reasons_->marked.load(), 0);
}

}  // namespace
}  // namespace ashlar
