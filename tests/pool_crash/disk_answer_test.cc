// Results of changes when a log write fails. If another writer's change is committed but not
// durable yet, a change that therefore finds nothing to do waits for that writer's log write, and
// shares its failure.
#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "tests/pool_crash/disk_proof.h"
#include "tests/support/gate.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint64_t kPoolId = 78;

// Bytewise; runs a function at the first comparison after it was set.
class ProbedComparator final : public Comparator {
 public:
  void SetProbe(std::function<void()> probe) {
    probe_ = std::move(probe);
    is_set_.store(true, std::memory_order_release);
  }
  const char* Name() const override { return BytewiseComparator()->Name(); }
  int Compare(const Slice& a, const Slice& b) const override {
    if (is_set_.exchange(false, std::memory_order_acq_rel)) probe_();
    return BytewiseComparator()->Compare(a, b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  std::function<void()> probe_;
  mutable std::atomic<bool> is_set_{false};
};

class DiskAnswerTest : public ::testing::Test {
 protected:
  DiskAnswerTest() : disk_(kPoolBytes) {
    const std::string pool = FormattedPool(kPoolBytes, kPoolId);
    for (uint64_t sector = 0; sector < kPoolBytes / kSectorBytes; ++sector)
      disk_.SetPoolSector(sector, pool.substr(sector * kSectorBytes, kSectorBytes));
    std::unique_ptr<PoolStorage> storage = disk_.NewStorage();
    EXPECT_TRUE(ReplayLog(storage.get(), {.pool_id = kPoolId}).ok());
    std::unique_ptr<Medium> medium =
        LoggedMedium::Create(std::move(storage), {.pool_id = kPoolId,
                                                  .sync = true,
                                                  .log_bytes_max = uint64_t{1} << 30,
                                                  .private_bytes_max = uint64_t{1} << 30})
            .value();
    tree_ = OpenTree(std::move(medium), {.recovery = {.comparator = &comparator_,
                                                      .split_strategy = {},
                                                      .refuse_allocation = {}},
                                         .mark = MarkRun::kAtOpen})
                .value();
    // Several leaves, so that each lookup compares.
    for (uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(tree_->Put(NumberKey(i), "value").ok());
  }

  // Runs `again`, which looks for the key while the log write of a deletion is in progress. That
  // write then fails, and so must `again`.
  void ExpectSharedFailure(const std::function<Status()>& again) {
    Gate writing;
    Gate looking;
    disk_.SetLogSync([&] {
      writing.Open();
      looking.Wait();
      return Status::IOError("the disk is gone");
    });
    Status first;
    std::thread deletes([&] { first = tree_->Delete(NumberKey(100)); });
    writing.Wait();
    comparator_.SetProbe([&] { looking.Open(); });
    const Status second = again();
    deletes.join();
    EXPECT_TRUE(first.IsIOError()) << first.ToString();
    EXPECT_TRUE(second.IsIOError()) << second.ToString();
    EXPECT_FALSE(tree_->Close().ok());
  }

  ProbedComparator comparator_;
  CrashDisk disk_;
  std::unique_ptr<PersistentTree> tree_;
};

// Otherwise, if the process is killed after the second deletion returned Ok, the key is present.
TEST_F(DiskAnswerTest, ASecondDeleteWaitsForTheFirstOnesLogWrite) {
  ExpectSharedFailure([&] { return tree_->Delete(NumberKey(100)); });
}

TEST_F(DiskAnswerTest, ABatchOfNeedlessDeletesWaitsForTheLogWriteBefore) {
  ExpectSharedFailure([&] {
    WriteBatch batch;
    EXPECT_TRUE(batch.Delete(NumberKey(100)).ok());
    EXPECT_TRUE(batch.Delete("missing").ok());
    return tree_->Write(batch);
  });
}

TEST_F(DiskAnswerTest, ARangeDeletionOfNothingWaitsForTheLogWriteBefore) {
  ExpectSharedFailure([&] {
    const std::string begin = NumberKey(100);
    const std::string end = NumberKey(101);
    return tree_->DeleteRange(KeyRange::Between(begin, end));
  });
}

// A full disk must not be taken for a full pool. Otherwise the batch is applied a second time,
// which frees the records that it has published.
TEST_F(DiskAnswerTest, AFullDiskIsNoFullPool) {
  int syncs = 0;
  disk_.SetLogSync([&] {
    ++syncs;
    return Status::NoSpace("the disk is full");
  });
  WriteBatch batch;
  EXPECT_TRUE(batch.Put(NumberKey(100), "other").ok());
  EXPECT_TRUE(batch.Put(NumberKey(150), "other").ok());
  const Status status = tree_->Write(batch);
  EXPECT_TRUE(status.IsIOError() && !status.IsNoSpace()) << status.ToString();
  const Status after = tree_->Put(NumberKey(1), "other");
  EXPECT_TRUE(after.IsIOError() && !after.IsNoSpace()) << after.ToString();
  EXPECT_EQ(syncs, 1);
  const Status verified = tree_->Verify();
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  EXPECT_FALSE(tree_->Close().ok());
}

}  // namespace
}  // namespace ashlar::pmem
