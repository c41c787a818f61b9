// ReadOptions::read_tier and table_filter: which sources each kind of read uses.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/table_properties.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class ReadTierTest : public DatabaseFixture {
 protected:
  ReadTierTest() {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.disable_auto_compactions = true;
  }

  static ReadOptions Tier(ReadTier tier) {
    ReadOptions options;
    options.read_tier = tier;
    return options;
  }
  void PutUnlogged(const std::string& key, const std::string& value) {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    EXPECT_OK(db_->Put(unlogged, key, value));
  }
  static std::string Answer(const Status& status, const Slice& value) {
    if (status.IsNotFound()) return "-";
    return status.ok() ? value.ToString() : status.ToString();
  }
  // Reads by Get and by MultiGet in both families.
  std::string Read(const std::string& key, const ReadOptions& options) {
    std::string text;
    for (ColumnFamilyHandle* const family : handles_) {
      PinnableSlice value;
      const Status got = db_->Get(options, family, key, &value);
      const std::string answer = Answer(got, value);
      Slice keys[] = {key, key};
      PinnableSlice values[2];
      Status statuses[2];
      db_->MultiGet(options, family, 2, keys, values, statuses);
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Answer(statuses[i], values[i]), answer) << key;
      StrAppend(&text, text.empty() ? "" : " ", answer);
    }
    return text;
  }
  std::string Walk(const ReadOptions& options) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    return test::WalkBothWays(it.get());
  }
  void OpenTwo() {
    options_.create_missing_column_families = true;
    OpenFamilies({kDefaultColumnFamilyName, "second"});
  }
};

TEST_F(ReadTierTest, APersistedReadSkipsMemtablesOnceAWriteHasNoLog) {
  OpenTwo();
  Put("a", "1");
  Flush();
  Put("a", "2");
  Put("b", "2");
  // A crash would lose nothing.
  EXPECT_EQ(Read("a", Tier(kPersistedTier)), "2 -");
  EXPECT_EQ(Read("b", Tier(kPersistedTier)), "2 -");
  // From here on, memtables of every family may have entries that a crash would lose.
  PutUnlogged("a", "3");
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "a", "3"));
  EXPECT_EQ(Read("a", Tier(kPersistedTier)), "1 -");
  EXPECT_EQ(Read("b", Tier(kPersistedTier)), "- -");
  EXPECT_EQ(Read("a", ReadOptions()), "3 3");
  Flush();
  EXPECT_EQ(Read("a", Tier(kPersistedTier)), "3 -");
  EXPECT_EQ(Read("b", Tier(kPersistedTier)), "2 -");
  // A new open starts with persistent data only.
  OpenTwo();
  Put("a", "4");
  EXPECT_EQ(Read("a", Tier(kPersistedTier)), "4 3");
}

TEST_F(ReadTierTest, APersistedReadSkipsDeletionsAndOperandsOfMemtables) {
  OpenTwo();
  for (const char* const key : {"a", "b", "c"}) Put(key, "1");
  Flush();
  PutUnlogged("x", "x");
  Delete("a");
  EXPECT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "c"));
  Merge("c", "2");
  for (const char* const key : {"a", "b", "c"}) {
    EXPECT_EQ(Read(key, Tier(kPersistedTier)), "1 -") << key;
    PinnableSlice operands[2];
    GetMergeOperandsOptions wanted;
    wanted.expected_max_number_of_operands = 2;
    int count = 0;
    EXPECT_OK(db_->GetMergeOperands(Tier(kPersistedTier), db_->DefaultColumnFamily(), key, operands,
                                    &wanted, &count));
    EXPECT_EQ(count, 1) << key;
  }
  EXPECT_EQ(Read("a", ReadOptions()), "- -");
  EXPECT_EQ(Read("b", ReadOptions()), "- -");
  EXPECT_EQ(Read("c", ReadOptions()), "1,2 -");
}

TEST_F(ReadTierTest, APersistedReadAtASnapshot) {
  OpenTwo();
  Put("a", "1");
  ReadOptions options = Tier(kPersistedTier);
  options.snapshot = db_->GetSnapshot();
  PutUnlogged("a", "2");
  EXPECT_EQ(Read("a", options), "- -");
  Flush();
  EXPECT_EQ(Read("a", options), "1 -");
  EXPECT_EQ(Read("a", Tier(kPersistedTier)), "2 -");
  db_->ReleaseSnapshot(options.snapshot);
}

TEST_F(ReadTierTest, IteratorsDoNotServeThePersistedTier) {
  OpenTwo();
  const std::unique_ptr<Iterator> it(db_->NewIterator(Tier(kPersistedTier)));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
  std::vector<Iterator*> iterators;
  EXPECT_TRUE(db_->NewIterators(Tier(kPersistedTier), handles_, &iterators).IsNotSupported());
  EXPECT_TRUE(iterators.empty());
}

// ---- table_filter. Tables are distinguished by their numbers of entries.

TEST_F(ReadTierTest, AnIteratorLeavesOutTablesThatItsFilterDoesNotWant) {
  OpenTwo();
  Put("a", "1");
  Put("d", "1");
  Put("g", "1");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Put("b", "2");
  Put("d", "2");
  Flush();
  Put("e", "3");
  Flush();
  Put("f", "4");
  std::vector<uint64_t> asked;
  uint64_t unwanted = 2;
  std::unique_ptr<Iterator> it;
  {
    ReadOptions options;
    options.table_filter = [&](const TableProperties& table) {
      asked.push_back(table.num_entries);
      return table.num_entries != unwanted;
    };
    EXPECT_EQ(Walk(options), "a=1 d=1 e=3 f=4 g=1 ");
    unwanted = 3;
    EXPECT_EQ(Walk(options), "b=2 d=2 e=3 f=4 ");
    EXPECT_EQ(Read("a", options), "1 -") << "Get and MultiGet do not ask";
    it.reset(db_->NewIterator(options));
  }
  // The iterator copies the filter and also uses it for later views.
  EXPECT_EQ(test::WalkBothWays(it.get()), "b=2 d=2 e=3 f=4 ");
  Flush();
  unwanted = 1;
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=2 d=2 g=1 ");
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  EXPECT_EQ(asked, (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(ReadTierTest, RangeDeletionsOfATableThatIsLeftOutCount) {
  OpenTwo();
  Put("a", "1");
  Put("b", "1");
  Put("c", "1");
  Flush();
  EXPECT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "c"));
  Put("bb", "2");
  Flush();
  ReadOptions options;
  options.table_filter = [](const TableProperties& table) {
    return table.num_range_deletions == 0;
  };
  EXPECT_EQ(Walk(ReadOptions()), "a=1 bb=2 c=1 ");
  EXPECT_EQ(Walk(options), "a=1 c=1 ");
}

TEST_F(ReadTierTest, AnIteratorOfTheMemtableTierSeesMemtablesAlone) {
  OpenTwo();
  Put("a", "1");
  Put("b", "1");
  Put("c", "1");
  Flush();
  EXPECT_EQ(Walk(Tier(kMemtableTier)), "");
  Put("b", "2");
  Delete("c");
  EXPECT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "d", "z"));
  EXPECT_EQ(Walk(Tier(kMemtableTier)), "b=2 ");
  EXPECT_EQ(Walk(ReadOptions()), "a=1 b=2 ");
  Put("e", "3");
  const std::unique_ptr<Iterator> it(db_->NewIterator(Tier(kMemtableTier)));
  EXPECT_EQ(test::WalkBothWays(it.get()), "b=2 e=3 ");
  Put("f", "4");
  EXPECT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "b=2 e=3 f=4 ");
  Flush();
  EXPECT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "");
  std::vector<Iterator*> iterators;
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "k", "v"));
  ASSERT_OK(db_->NewIterators(Tier(kMemtableTier), handles_, &iterators));
  const std::unique_ptr<Iterator> first(iterators[0]);
  const std::unique_ptr<Iterator> second(iterators[1]);
  EXPECT_EQ(test::WalkBothWays(first.get()), "");
  EXPECT_EQ(test::WalkBothWays(second.get()), "k=v ");
}

// The entries over which such an iterator steps are not a gap of the tables.
TEST_F(ReadTierTest, AnIteratorOfTheMemtableTierTeachesOthersNothing) {
  OpenTwo();
  for (int i = 0; i < 200; ++i) Put(StrCat("k", 1000 + i), "in a table");
  Flush();
  Put("a", "1");
  Put("z", "1");
  // All before the table's first key. An iterator looks for a gap after a few deletions in a row.
  for (int i = 0; i < 200; ++i) {
    Put(StrCat("b", 1000 + i), "short-lived");
    Delete(StrCat("b", 1000 + i));
  }
  EXPECT_EQ(Walk(Tier(kMemtableTier)), "a=1 z=1 ");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  int keys = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
  EXPECT_EQ(keys, 202);
}

TEST_F(ReadTierTest, OtherReadsOfTheMemtableTierLookEverywhere) {
  OpenTwo();
  Put("a", "1");
  Flush();
  Put("b", "2");
  EXPECT_EQ(Read("a", Tier(kMemtableTier)), "1 -");
  EXPECT_EQ(Read("b", Tier(kMemtableTier)), "2 -");
}

}  // namespace
}  // namespace ashlar
