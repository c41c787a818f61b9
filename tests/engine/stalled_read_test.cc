// A read that waits for its file, or for code of the program, blocks nothing. Objects retired
// during the wait are freed, and other databases close. The read returns the same result as without
// the wait, although its table was compacted away and closed.
#include <filesystem>
#include <functional>

#include "ashlar/env.h"
#include "execute/epoch.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/stalling_file_system.h"

namespace ashlar {
namespace {

constexpr int kKeys = 2000;

std::string Key(int i) {
  char buffer[16];
  snprintf(buffer, sizeof(buffer), "key%06d", i);
  return buffer;
}
std::string Value(int i) { return "value " + std::to_string(i) + std::string(200, 'v'); }

// Appends operands. The merge waits at a StallGate.
class WaitingMerge final : public AssociativeMergeOperator {
 public:
  explicit WaitingMerge(StallGate* gate) : gate_(gate) {}
  const char* Name() const override { return "WaitingMerge"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    gate_->Pass();
    *result = (existing != nullptr ? existing->ToString() + "," : "") + value.ToString();
    return true;
  }

 private:
  StallGate* const gate_;
};

class StalledReadTest : public DatabaseFixture {
 protected:
  StalledReadTest()
      : file_system_(std::make_shared<StallingFileSystem>(Env::Default()->EngineFiles(), &gate_)),
        env_(NewCompositeEnv(file_system_)) {
    options_.env = env_.get();
    cache_ = NewLRUCache(size_t{8} << 20);
    BlockBasedTableOptions table;
    table.block_cache = cache_;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.disable_auto_compactions = true;
  }
  ~StalledReadTest() override { Close(); }

  // Puts every key on the last level, and above it a table over their range without the read keys.
  void Fill() {
    Open();
    for (int i = 0; i < kKeys; ++i) Put(Key(i), Value(i));
    Flush();
    CompactAll();
    Put(Key(0), Value(0));
    Put(Key(kKeys - 1), Value(kKeys - 1));
    Flush();
  }
  // Replaces everything that the stalled read uses: values, memtables, tables, open tables and
  // cached blocks.
  void ReplaceEverything() {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < kKeys; ++i) Put(Key(i), "newer");
      Flush();
    }
    CompactAll();
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EpochReclaimAll();
    // Checked first, because the next steps would wait for the guard of a read that still has one.
    ASSERT_EQ(EpochPendingObjects(), 0u);
    ASSERT_OK(db_->SetDBOptions({{"max_open_files", "1"}}));
    EXPECT_EQ(db_->Get(ReadOptions(), Key(7), &newer_).ok() ? newer_ : "", "newer");
    cache_->EraseUnRefEntries();
    EpochReclaimAll();
    ASSERT_EQ(EpochPendingObjects(), 0u);
  }
  void ExpectReplacedDuring(std::function<void()> read) {
    StalledCall call(&gate_, std::move(read));
    ASSERT_TRUE(call.stalled());
    ReplaceEverything();
    call.Finish();
    EpochReclaimAll();
    EXPECT_EQ(EpochPendingObjects(), 0u);
    EXPECT_EQ(Get(Key(500)), "newer");
    // Objects that only the read kept alive are deleted.
    EXPECT_EQ(TablesOnDisk(), TablesListed());
  }
  size_t TablesOnDisk() const {
    size_t tables = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      tables += entry.path().extension() == ".sst" ? 1u : 0u;
    return tables;
  }
  size_t TablesListed() {
    std::vector<LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    return tables.size();
  }

  StallGate gate_;
  std::shared_ptr<StallingFileSystem> file_system_;
  std::unique_ptr<Env> env_;
  std::shared_ptr<Cache> cache_;
  std::string newer_;
};

TEST_F(StalledReadTest, AGetThatReadsABlock) {
  Fill();
  ExpectReplacedDuring([this] { EXPECT_EQ(Get(Key(500)), Value(500)); });
}

TEST_F(StalledReadTest, AGetThatReadsABlockPastTheCache) {
  Fill();
  ExpectReplacedDuring([this] {
    ReadOptions options;
    options.fill_cache = false;
    PinnableSlice value;
    ASSERT_OK(db_->Get(options, db_->DefaultColumnFamily(), Key(500), &value));
    EXPECT_EQ(value.ToString(), Value(500));
  });
}

TEST_F(StalledReadTest, AGetThatOpensATable) {
  Fill();
  Open();
  ExpectReplacedDuring([this] { EXPECT_EQ(Get(Key(500)), Value(500)); });
}

TEST_F(StalledReadTest, AGetOfAKeyThatIsNotThere) {
  Fill();
  ExpectReplacedDuring([this] { EXPECT_EQ(Get(Key(500) + "x"), "NOT_FOUND"); });
}

TEST_F(StalledReadTest, AMultiGetOverTwoFamilies) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "two"});
  const auto fill = [this](ColumnFamilyHandle* family) {
    for (int i = 0; i < kKeys; ++i) EXPECT_OK(db_->Put(WriteOptions(), family, Key(i), Value(i)));
    EXPECT_OK(db_->Flush(FlushOptions(), family));
  };
  for (ColumnFamilyHandle* const family : handles_) fill(family);
  StalledCall call(&gate_, [this] {
    std::vector<ColumnFamilyHandle*> families;
    std::vector<std::string> names;
    for (int i = 0; i < 200; ++i) {
      families.push_back(handles_[i < 100 ? 0 : 1]);
      names.push_back(i % 10 == 0 ? "none" : Key(i * 7 % kKeys));
    }
    const std::vector<Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), families, keys, &values);
    for (int i = 0; i < 200; ++i) {
      const auto at = static_cast<size_t>(i);
      if (i % 10 == 0) {
        EXPECT_TRUE(statuses[at].IsNotFound()) << statuses[at].ToString();
      } else {
        EXPECT_EQ(statuses[at].ok() ? values[at] : statuses[at].ToString(), Value(i * 7 % kKeys));
      }
    }
  });
  ASSERT_TRUE(call.stalled());
  for (int i = 0; i < kKeys; ++i) EXPECT_OK(db_->Put(WriteOptions(), handles_[1], Key(i), "newer"));
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
  EXPECT_OK(db_->CompactRange(CompactRangeOptions(), handles_[1], nullptr, nullptr));
  ReplaceEverything();
}

// The first key waits for its block. Meanwhile the cached blocks in which the batch found the other
// keys are evicted and freed.
TEST_F(StalledReadTest, AMultiGetThatHasFoundCachedBlocks) {
  Fill();
  constexpr int kStep = 100;
  for (int i = kStep; i < kKeys; i += kStep) EXPECT_EQ(Get(Key(i)), Value(i));
  ExpectReplacedDuring([this] {
    std::vector<std::string> names;
    for (int i = kStep; i < kKeys; i += kStep) names.push_back(i == kStep ? Key(50) : Key(i));
    const std::vector<Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      const int number = i == 0 ? 50 : kStep * (static_cast<int>(i) + 1);
      EXPECT_EQ(statuses[i].ok() ? values[i] : statuses[i].ToString(), Value(number));
    }
  });
}

TEST_F(StalledReadTest, AnIteratorThatOpensATable) {
  Fill();
  Open();
  ExpectReplacedDuring([this] {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(Key(500));
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
    EXPECT_EQ(it->value().ToString(), Value(500));
  });
}

TEST_F(StalledReadTest, AnIteratorThatStepsToABlock) {
  Fill();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(Key(500));
  ExpectReplacedDuring([&it] {
    for (int i = 500; i < kKeys; ++i, it->Next()) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->value().ToString(), Value(i));
    }
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
    it.reset();
  });
}

TEST_F(StalledReadTest, ApproximateSizesThatOpenATable) {
  Fill();
  Open();
  ExpectReplacedDuring([this] {
    const std::string begin = Key(500);
    const std::string end = Key(1500);
    const Range range(begin, end);
    uint64_t bytes = 0;
    ASSERT_OK(db_->GetApproximateSizes(SizeApproximationOptions(), db_->DefaultColumnFamily(),
                                       &range, 1, &bytes));
    EXPECT_GT(bytes, 1000u * 100);
  });
}

TEST_F(StalledReadTest, PropertiesThatOpenTables) {
  Fill();
  Open();
  ExpectReplacedDuring([this] {
    TablePropertiesCollection properties;
    ASSERT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &properties));
    uint64_t entries = 0;
    for (const auto& table : properties) entries += table.second->num_entries;
    EXPECT_EQ(entries, uint64_t{kKeys} + 2);
  });
  Open();
  ExpectReplacedDuring([this] { EXPECT_GT(Number("rocksdb.estimate-num-keys"), 0u); });
}

TEST_F(StalledReadTest, AVerification) {
  Fill();
  ExpectReplacedDuring([this] { EXPECT_OK(db_->VerifyChecksum(ReadOptions())); });
}

TEST_F(StalledReadTest, AMergeOfTheProgram) {
  options_.merge_operator = std::make_shared<WaitingMerge>(&gate_);
  for (const bool many : {false, true}) {
    Open();
    for (int i = 0; i < kKeys; ++i) Put(Key(i), Value(i));
    Merge(Key(500), "1");
    Merge(Key(500), "2");
    StalledCall call(&gate_, [this, many] {
      std::string value;
      if (many) {
        std::vector<std::string> values;
        const std::string key = Key(500);
        ASSERT_OK(db_->MultiGet(ReadOptions(), {Slice(key)}, &values)[0]);
        value = values[0];
      } else {
        value = Get(Key(500));
      }
      EXPECT_EQ(value, Value(500) + ",1,2");
    });
    ASSERT_TRUE(call.stalled());
    ReplaceEverything();
  }
}

TEST_F(StalledReadTest, AnotherDatabaseCloses) {
  Fill();
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(options, scratch().File("other"), &other));
  ASSERT_OK(other->Put(WriteOptions(), "a", "1"));
  StalledCall call(&gate_, [this] { EXPECT_EQ(Get(Key(500)), Value(500)); });
  ASSERT_TRUE(call.stalled());
  EXPECT_OK(other->Close());
  other.reset();
}

// ShouldMerge of a merge operator is called inside the guard, which holds back only objects of its
// own database.
TEST_F(StalledReadTest, AGuardHoldsBackNoOtherDatabase) {
  class WaitingAnswer final : public MergeOperator {
   public:
    explicit WaitingAnswer(StallGate* gate) : gate_(gate) {}
    const char* Name() const override { return "WaitingAnswer"; }
    bool ShouldMerge(const std::vector<Slice>&) const override {
      gate_->Pass();
      return false;
    }
    bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
      out->new_value = in.operand_list.back().ToString();
      return true;
    }

   private:
    StallGate* const gate_;
  };
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(options, scratch().File("other"), &other));
  options_.merge_operator = std::make_shared<WaitingAnswer>(&gate_);
  Open();
  Merge(Key(1), "1");
  StalledCall call(&gate_, [this] { EXPECT_EQ(Get(Key(1)), "1"); });
  ASSERT_TRUE(call.stalled());
  ASSERT_OK(other->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(other->Flush(FlushOptions()));
  ASSERT_OK(other->WaitForCompact(WaitForCompactOptions()));
  EpochReclaimAll();
  ASSERT_EQ(EpochPendingObjects(), 0u);
  EXPECT_OK(other->Close());
}

TEST_F(StalledReadTest, ItsOwnDatabaseRefusesToClose) {
  for (const bool opens : {false, true}) {
    Fill();
    if (opens) Open();
    StalledCall call(&gate_, [this] { EXPECT_EQ(Get(Key(500)), Value(500)); });
    ASSERT_TRUE(call.stalled());
    const Status refused = db_->Close();
    EXPECT_TRUE(refused.IsAborted()) << refused.ToString();
    EXPECT_NE(refused.ToString().find("a call still reads"), std::string::npos);
    // The view that is read is no longer the newest.
    CompactAll();
    EXPECT_TRUE(db_->Close().IsAborted());
    call.Finish();
    EXPECT_OK(db_->Close());
  }
}

TEST_F(StalledReadTest, ALookInMemoryDoesNotWait) {
  Fill();
  Open();
  StalledCall call(&gate_, [this] {
    std::string value;
    bool found = true;
    EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), Key(500), &value, &found));
    EXPECT_FALSE(found);
    ReadOptions cached;
    cached.read_tier = kBlockCacheTier;
    EXPECT_TRUE(db_->Get(cached, Key(500), &value).IsIncomplete());
    const std::unique_ptr<Iterator> it(db_->NewIterator(cached));
    it->Seek(Key(500));
    EXPECT_TRUE(it->status().IsIncomplete()) << it->status().ToString();
  });
  EXPECT_FALSE(call.stalled());
}

}  // namespace
}  // namespace ashlar
