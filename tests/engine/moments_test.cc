// Events between two steps of a call. Objects of the program that the engine calls there (a
// comparator, a snapshot) are the switch points, so that each case is certain to occur.
#include <functional>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/snapshot.h"
#include "ashlar/write_batch.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class MomentsTest : public DatabaseFixture {};

// Calls a function whenever two keys are compared.
class ObservedComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Observed"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (at_compare) at_compare();
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  std::function<void()> at_compare;
};

// A memtable insert compares keys. At that time the batch's sequence is not yet published.
TEST_F(MomentsTest, AWriteIsPublishedAfterItsEntries) {
  ObservedComparator comparator;
  options_.comparator = &comparator;
  Open();
  Put("a", "1");
  Put("c", "1");
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  int compared = 0;
  comparator.at_compare = [&] {
    ++compared;
    EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
  };
  WriteBatch batch;
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(batch.Put("d", "2"));
  ASSERT_OK(batch.Put("a", "2"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  comparator.at_compare = nullptr;
  EXPECT_GT(compared, 0);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 3);
  Close();
}

// A snapshot of the program. A read gets its number after it has taken its view.
class ObservedSnapshot final : public Snapshot {
 public:
  // ask: called each time with the number of earlier calls.
  explicit ObservedSnapshot(std::function<SequenceNumber(int)> ask) : ask_(std::move(ask)) {}
  ~ObservedSnapshot() override = default;

  SequenceNumber GetSequenceNumber() const override { return ask_(asked_++); }
  int64_t GetUnixTime() const override { return 0; }

 private:
  const std::function<SequenceNumber(int)> ask_;
  mutable int asked_ = 0;
};

// Uses another thread, because the reader at the switch point is inside an epoch.
void RunElsewhere(const std::function<void()>& work) { std::thread(work).join(); }

// A flush drops the old value between the two steps of a read. The read still finds it, because the
// view was taken before.
class MomentsOfAReadTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    Put("key", "old");
    old_ = db_->GetLatestSequenceNumber();
  }
  SequenceNumber Change(int asked) {
    if (asked == 0) {
      RunElsewhere([this] {
        Put("key", "new");
        Flush();
      });
    }
    return old_;
  }

  const ObservedSnapshot snapshot_{[this](int asked) { return Change(asked); }};
  SequenceNumber old_ = 0;
};

TEST_F(MomentsOfAReadTest, GetTakesTheViewBeforeTheSequence) {
  EXPECT_EQ(Get("key", &snapshot_), "old");
  EXPECT_EQ(Get("key"), "new");
}

TEST_F(MomentsOfAReadTest, NewIteratorTakesTheViewBeforeTheSequence) {
  EXPECT_EQ(Contents(nullptr, &snapshot_), "key=old ");
  EXPECT_EQ(Get("key"), "new");
}

// The memtable of one family is switched, and a batch changes both families, between the steps of a
// read over both. The read sees the batch in both families or in neither.
class MomentsOfFamiliesTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    for (const char* name : {"first", "second"}) {
      ColumnFamilyHandle* handle = nullptr;
      ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &handle));
      handles_.push_back(handle);
    }
    PutBoth("old");
  }
  void PutBoth(const char* value) {
    WriteBatch batch;
    for (ColumnFamilyHandle* const handle : handles_) EXPECT_OK(batch.Put(handle, "key", value));
    EXPECT_OK(db_->Write(WriteOptions(), &batch));
  }
  SequenceNumber Change(int asked) {
    asked_ = asked;
    if (asked < changes_) {
      RunElsewhere([this] {
        EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
        PutBoth("new");
      });
    }
    return db_->GetLatestSequenceNumber();
  }

  int changes_ = 1;  // the number of first loads at which a view changes
  int asked_ = 0;    // the number of earlier calls
  const ObservedSnapshot snapshot_{[this](int asked) { return Change(asked); }};
};

TEST_F(MomentsOfFamiliesTest, MultiGetSeesBothAtOneMoment) {
  ReadOptions options;
  options.snapshot = &snapshot_;
  const std::vector<Slice> keys = {"key", "key"};
  std::vector<std::string> values(2);
  const std::vector<Status> statuses = db_->MultiGet(options, handles_, keys, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_EQ(values[0], values[1]);
}

TEST_F(MomentsOfFamiliesTest, NewIteratorsSeeBothAtOneMoment) {
  ReadOptions options;
  options.snapshot = &snapshot_;
  std::vector<Iterator*> iterators;
  ASSERT_OK(db_->NewIterators(options, handles_, &iterators));
  std::vector<std::string> values;
  for (Iterator* const each : iterators) {
    const std::unique_ptr<Iterator> iterator(each);
    iterator->SeekToFirst();
    values.push_back(iterator->Valid() ? iterator->value().ToString() : "");
  }
  EXPECT_EQ(values[0], values[1]);
}

// A view changes during each load of all views, as with thousands of families. The read must still
// end.
TEST_F(MomentsOfFamiliesTest, AReadEndsWhileViewsChangeFasterThanItLoadsThem) {
  constexpr int kLoadsMax = 50;
  changes_ = kLoadsMax;
  ReadOptions options;
  options.snapshot = &snapshot_;
  const std::vector<Slice> keys = {"key", "key"};
  std::vector<std::string> values(2);
  const std::vector<Status> statuses = db_->MultiGet(options, handles_, keys, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_EQ(values[0], "new");
  EXPECT_EQ(values[1], "new");
  EXPECT_LT(asked_, kLoadsMax);
}

}  // namespace
}  // namespace ashlar
