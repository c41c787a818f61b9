// GetUpdatesSince on a secondary returns each batch that the secondary shows once, in order, while
// the primary continues in other logs, in the middle of a write, and after a promotion.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/transaction_log.h"
#include "filesystem/file_helpers.h"
#include "tests/log_stream/batches.h"
#include "tests/secondary/secondary_fixture.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = 3600;

class UpdatesTest : public SecondaryFixture {
 protected:
  void SetUp() override {
    options_.WAL_ttl_seconds = kHour;
    OpenPrimary();
    Write();
    ASSERT_OK(OpenSecondary());
    iterator_ = Updates();
    ExpectAllUpdates();
  }
  std::unique_ptr<TransactionLogIterator> Updates() {
    std::unique_ptr<TransactionLogIterator> iterator;
    EXPECT_OK(secondary_->GetUpdatesSince(1, &iterator));
    return iterator;
  }
  // Expects all new batches of the iterator, up to the secondary's last sequence.
  void ExpectAllUpdates() {
    if (!iterator_->Valid()) iterator_->Next();
    for (const LoggedBatch& logged : TakeBatches(iterator_.get())) {
      ASSERT_EQ(logged.sequence, taken_);
      taken_ += logged.batch.Count();
    }
    ASSERT_OK(iterator_->status());
    ASSERT_EQ(taken_, secondary_->GetLatestSequenceNumber() + 1);
  }
  void ExpectAllUpdatesAfterCatchUp() {
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
  }

  std::unique_ptr<TransactionLogIterator> iterator_;
  SequenceNumber taken_ = 1;  // the sequence of the next batch
};

TEST_F(UpdatesTest, TheLogGrows) {
  for (int i = 0; i < 5; ++i) {
    Write();
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());  // not shown yet
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  }
}

// The primary overwrites an older log, whose rest the iterator must not take for new batches.
TEST_F(UpdatesTest, ALogThatWritesAnOlderOneOverGrows) {
  options_.WAL_ttl_seconds = 0;
  options_.recycle_log_file_num = 2;
  iterator_.reset();
  CloseSecondary();
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  for (int i = 0; i < 30; ++i) Write();  // the log that is overwritten later is longer
  for (int i = 0; i < 3; ++i) Step();
  ASSERT_GT(primary_files_->CallCount(FaultOperation::kReuse), 0u);
  ASSERT_OK(OpenSecondary());
  taken_ = secondary_->GetLatestSequenceNumber() + 1;
  Write();
  ASSERT_OK(CatchUp());
  ASSERT_OK(secondary_->GetUpdatesSince(taken_, &iterator_));
  ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
  for (int i = 0; i < 10; ++i) {
    Write();
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  }
}

TEST_F(UpdatesTest, TheRestOfALogComesBeforeTheNextLog) {
  for (int i = 0; i < 6; ++i) {
    Write();
    Write();
    FlushPrimary();
    Write();
    if (i >= 3) FlushPrimary();
    if (i == 4) FlushPrimary();
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  }
}

TEST_F(UpdatesTest, ALogThatIsEmptyDoesNotEndTheOneBefore) {
  Write();
  const std::string log = NewestLog();
  const std::string whole = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  Write();
  const std::string more = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  ASSERT_OK(WriteStringToFile(disk_.get(), whole, log, Durability::kBuffered));
  const std::string next = StrCat(OpenDatabase::kPath, "/000090.log");
  ASSERT_OK(WriteStringToFile(disk_.get(), "", next, Durability::kBuffered));
  ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  ASSERT_OK(WriteStringToFile(disk_.get(), more, log, Durability::kBuffered));
  ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  ASSERT_OK(disk_->DeleteFile(next));
}

TEST_F(UpdatesTest, ATornTailIsReadAgain) {
  Write({{Change::Kind::kPut, kDefaultColumnFamilyName, "long", std::string(40000, 'x')}});
  for (int i = 0; i < 4; ++i) Write();
  const std::string log = NewestLog();
  const std::string whole = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  for (size_t bytes = 300; bytes < whole.size(); bytes += bytes < 39000 ? 7919 : 53) {
    SCOPED_TRACE(StrCat(bytes, " bytes"));
    ASSERT_OK(WriteStringToFile(disk_.get(), whole.substr(0, bytes), log, Durability::kBuffered));
    iterator_.reset();
    ASSERT_OK(OpenSecondary());
    taken_ = 1;
    iterator_ = Updates();
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
    // Half of the rest, which may also end in the middle of a record.
    ASSERT_OK(WriteStringToFile(disk_.get(), whole.substr(0, (bytes + whole.size()) / 2), log,
                                Durability::kBuffered));
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
    ASSERT_OK(WriteStringToFile(disk_.get(), whole, log, Durability::kBuffered));
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
  }
  iterator_.reset();
}

// A batch that was returned is not in the primary's history. The next batch in a log has the
// sequence after it.
TEST_F(UpdatesTest, ABatchThatThePrimaryTakesBackEndsTheIteration) {
  constexpr size_t kEntries = 8;
  const SequenceNumber before = primary_->db()->GetLatestSequenceNumber();
  WriteThatIsTakenBack(kEntries, [this] {
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdatesAfterCatchUp());
    ASSERT_EQ(taken_, secondary_->GetLatestSequenceNumber() + 1);
  });
  ASSERT_EQ(taken_, before + kEntries + 1);
  ASSERT_OK(primary_->db()->Resume());
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (size_t i = 0; i < kEntries; ++i)
    ASSERT_OK(primary_->db()->Put(unlogged, StrCat("unlogged", i), "v"));
  ASSERT_EQ(primary_->db()->GetLatestSequenceNumber() + 1, taken_);
  ASSERT_OK(primary_->db()->Put(WriteOptions(), "logged", "v"));
  ASSERT_OK(CatchUp());
  iterator_->Next();
  EXPECT_FALSE(iterator_->Valid());
  EXPECT_TRUE(iterator_->status().IsNotFound()) << iterator_->status().ToString();
  iterator_.reset();
}

// The iterator has read the batch but not returned it. Then the secondary's last sequence is the
// same as when the iterator looked for a later log.
TEST_F(UpdatesTest, ABatchThatIsTakenBackBeforeItsTurnIsNotReturned) {
  constexpr size_t kEntries = 8;
  Write();
  WriteThatIsTakenBack(kEntries, [this] {
    ASSERT_OK(CatchUp());
    iterator_->Next();
    ASSERT_TRUE(iterator_->Valid());
  });
  const SequenceNumber shown = secondary_->GetLatestSequenceNumber();
  ASSERT_EQ(shown, primary_->db()->GetLatestSequenceNumber() + kEntries);
  ASSERT_OK(primary_->db()->Resume());
  for (size_t i = 0; i < kEntries; ++i)
    ASSERT_OK(primary_->db()->Put(WriteOptions(), StrCat("key", i), "v"));
  ASSERT_OK(CatchUp());
  ASSERT_EQ(secondary_->GetLatestSequenceNumber(), shown);
  // The batch at its position, and one for each Put.
  EXPECT_EQ(TakeBatches(iterator_.get()).size(), 1 + kEntries);
  EXPECT_OK(iterator_->status());
  iterator_.reset();
}

TEST_F(UpdatesTest, AnIteratorGoesOnAfterAPromotion) {
  for (int i = 0; i < 3; ++i) Write();
  ASSERT_OK(CatchUp());
  // Writes that the secondary has not seen before it is promoted.
  Write();
  FlushPrimary();
  Write();
  KillPrimary();
  ASSERT_OK(secondary_->PromoteToPrimary());
  ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(secondary_->Put(WriteOptions(), StrCat("promoted", i), "v"));
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
    ASSERT_OK(secondary_->Put(WriteOptions(), "again", "v"));
    ASSERT_OK(secondary_->Flush(FlushOptions()));
    ASSERT_OK(secondary_->Put(WriteOptions(), "again", "w"));
    ASSERT_NO_FATAL_FAILURE(ExpectAllUpdates());
  }
  iterator_.reset();
}

}  // namespace
}  // namespace ashlar
