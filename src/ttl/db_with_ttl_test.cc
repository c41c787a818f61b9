#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/merge_operator.h"
#include "ashlar/metadata.h"
#include "ashlar/transaction_log.h"
#include "ashlar/utilities/db_ttl.h"
#include "ashlar/write_batch.h"
#include "base/coding.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/manual_env.h"
#include "ttl/ttl_filter.h"
#include "ttl/ttl_merge_operator.h"

namespace ashlar {
namespace {

constexpr char kDb[] = "/db";
constexpr int32_t kTtl = 100;

using Contents = std::map<std::string, std::string>;

class DBWithTTLTest : public ::testing::Test {
 protected:
  DBWithTTLTest() : env_(std::make_shared<MemoryFileSystem>(), 1) {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.info_log = std::make_shared<SilentLogger>();
  }

  void Open(int32_t ttl, bool read_only = false) {
    db_.reset();
    DBWithTTL* opened = nullptr;
    const Status status = DBWithTTL::Open(options_, kDb, &opened, ttl, read_only);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_.reset(opened);
  }
  void OpenPlain(std::unique_ptr<DB>* db) {
    db_.reset();
    ASSERT_TRUE(DB::Open(options_, kDb, db).ok());
  }
  void PassSeconds(uint64_t seconds) { env_.clock()->SleepForMicros(seconds * 1000000); }
  uint32_t Now() { return static_cast<uint32_t>(env_.NowMicros() / 1000000); }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), key, value).ok());
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  static Contents ContentsOf(DB* db) {
    Contents contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return contents;
  }
  // Rewrites every table.
  void Compact() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status status = db_->CompactRange(all, nullptr, nullptr);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  ManualEnv env_;
  Options options_;
  std::unique_ptr<DBWithTTL> db_;
};

TEST_F(DBWithTTLTest, ValuesEndInTheSecondOfTheirWrite) {
  Open(kTtl);
  Put("put", "value");
  ASSERT_TRUE(db_->Merge(WriteOptions(), "merge", "operand").ok());
  std::string suffix;
  PutFixed32(&suffix, Now());
  std::unique_ptr<DB> plain;
  OpenPlain(&plain);
  EXPECT_EQ(ContentsOf(plain.get()),
            (Contents{{"put", "value" + suffix}, {"merge", "operand" + suffix}}));
}

TEST_F(DBWithTTLTest, CompactionRemovesValuesOnceTheirTimeIsOver) {
  Open(kTtl);
  Put("old", "1");
  PassSeconds(60);
  Put("new", "2");
  PassSeconds(40);
  Compact();
  EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"old", "1"}, {"new", "2"}})) << "the last second";
  PassSeconds(1);
  EXPECT_EQ(Get("old"), "1") << "no compaction yet";
  Compact();
  EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"new", "2"}}));
}

TEST_F(DBWithTTLTest, SnapshotKeepsValuesThatItSees) {
  Open(kTtl);
  Put("old", "1");
  ManagedSnapshot snapshot(db_.get());
  PassSeconds(kTtl + 1);
  Compact();
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot.snapshot();
  std::string value;
  EXPECT_TRUE(db_->Get(at_snapshot, "old", &value).ok());
  EXPECT_EQ(value, "1");
}

// The engine never calls FilterBlobByKey, but the wrapper passes the call to the wrapped filter.
TEST_F(DBWithTTLTest, TheFilterByKeyIsThatOfTheProgram) {
  class ByKey final : public CompactionFilter {
   public:
    const char* Name() const override { return "ByKey"; }
    Decision FilterBlobByKey(int /*level*/, const Slice& key, std::string* /*new_value*/,
                             std::string* /*skip_until*/) const override {
      return key == "a" ? Decision::kRemove : Decision::kKeep;
    }
  };
  const ByKey filter;
  CompactionFilter::Context context;
  context.reason = TableFileCreationReason::kCompaction;
  const auto decide = [&](const CompactionFilter* user, const char* key) {
    TtlFilterFactory factory({.env = &env_, .ttl_seconds = kTtl, .user_filter = user});
    std::string unused;
    return factory.CreateCompactionFilter(context)->FilterBlobByKey(0, key, &unused, &unused);
  };
  EXPECT_EQ(decide(&filter, "a"), CompactionFilter::Decision::kRemove);
  EXPECT_EQ(decide(&filter, "b"), CompactionFilter::Decision::kKeep);
  EXPECT_EQ(decide(nullptr, "a"), CompactionFilter::Decision::kUndetermined);
}

TEST_F(DBWithTTLTest, ZeroAndNegativeTtlRemoveNothing) {
  for (const int32_t ttl : {0, -5}) {
    Open(ttl);
    Put("key", "value");
    PassSeconds(uint64_t{100} * 365 * 24 * 3600 / 10);
    Compact();
    EXPECT_EQ(Get("key"), "value");
  }
}

TEST_F(DBWithTTLTest, AnotherTtlAtTheNextOpenCounts) {
  Open(10);
  Put("key", "value");
  PassSeconds(50);
  Open(kTtl);
  Compact();
  EXPECT_EQ(Get("key"), "value");
  db_->SetTtl(49);
  int32_t ttl = 0;
  ASSERT_TRUE(db_->GetTtl(db_->DefaultColumnFamily(), &ttl).ok());
  EXPECT_EQ(ttl, 49);
  Compact();
  EXPECT_EQ(Get("key"), "NotFound");
  EXPECT_TRUE(db_->GetTtl(nullptr, &ttl).IsInvalidArgument());
  EXPECT_TRUE(db_->GetTtl(db_->DefaultColumnFamily(), nullptr).IsInvalidArgument());
}

TEST_F(DBWithTTLTest, EveryReadReturnsTheValueAlone) {
  Open(kTtl);
  Put("a", "one");
  Put("b", "");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put("c", "three");
  EXPECT_EQ(Get("a"), "one");
  EXPECT_EQ(Get("b"), "");
  EXPECT_EQ(Get("missing"), "NotFound");
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "missing", "c"}, &values);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].IsNotFound() && statuses[2].ok());
  EXPECT_EQ(values, (std::vector<std::string>{"one", "", "three"}));
  PinnableSlice pinned;
  ASSERT_TRUE(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &pinned).ok());
  EXPECT_EQ(pinned.ToString(), "one");
  pinned.Reset();

  std::string value = "before";
  bool found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "c", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ(value, "three");
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "missing", &value, &found));
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "c", nullptr));

  std::vector<Iterator*> iterators;
  ASSERT_TRUE(db_->NewIterators(ReadOptions(), {db_->DefaultColumnFamily()}, &iterators).ok());
  const std::unique_ptr<Iterator> it(iterators.at(0));
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "three");
  it->Prev();
  it->Prev();
  ASSERT_TRUE(it->Valid());
  it->PinValue(&pinned);
  it->SeekForPrev("bb");
  EXPECT_EQ(pinned.ToString(), "one");
  EXPECT_EQ(it->value().ToString(), "");
  pinned.Reset();
  Put("d", "four");
  ASSERT_TRUE(it->Refresh().ok());
  it->Seek("d");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "four");
}

TEST_F(DBWithTTLTest, BatchesPassEveryKindOfRecord) {
  Open(kTtl);
  for (const char* const key : {"deleted", "single", "range1", "range2"}) Put(key, "there");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("put", "value").ok());
  ASSERT_TRUE(batch.Merge("merged", "x").ok());
  ASSERT_TRUE(batch.Delete("deleted").ok());
  ASSERT_TRUE(batch.SingleDelete("single").ok());
  ASSERT_TRUE(batch.DeleteRange("range1", "range2").ok());
  ASSERT_TRUE(batch.PutLogData("log data").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(ContentsOf(db_.get()),
            (Contents{{"put", "value"}, {"merged", "x"}, {"range2", "there"}}));
  EXPECT_EQ(batch.Count(), 5U) << "the batch of the caller is as it was";
  std::string rep;
  PutFixed64(&rep, 0);
  PutFixed32(&rep, 1);
  WriteBatch damaged(rep);
  EXPECT_TRUE(db_->Write(WriteOptions(), &damaged).IsCorruption());
}

TEST_F(DBWithTTLTest, ANullBatchIsRefused) {
  Open(kTtl);
  EXPECT_TRUE(db_->Write(WriteOptions(), nullptr).IsInvalidArgument());
}

TEST_F(DBWithTTLTest, ABatchWhoseBytesWereChangedIsNotWritten) {
  Open(kTtl);
  WriteBatch batch(0, 0, 8, 0);
  ASSERT_TRUE(batch.Put("key", "value").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  const_cast<char*>(batch.Data().data())[batch.GetDataSize() - 1] ^= 1;
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsCorruption());
  EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"key", "value"}}));
}

TEST_F(DBWithTTLTest, ABatchKeepsItsTerminationPoint) {
  options_.avoid_flush_during_shutdown = true;
  Open(kTtl);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("logged", "1").ok());
  batch.MarkWalTerminationPoint();
  ASSERT_TRUE(batch.Put("unlogged", "2").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"logged", "1"}, {"unlogged", "2"}}));
  Open(kTtl);
  EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"logged", "1"}}));
}

// Log data takes no sequence, so the number of updates does not give the position of the point.
TEST_F(DBWithTTLTest, LogDataStaysOnItsSideOfATerminationPoint) {
  Open(kTtl);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.PutLogData("logged data").ok());
  batch.MarkWalTerminationPoint();
  ASSERT_TRUE(batch.PutLogData("other data").ok());
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_TRUE(db_->GetUpdatesSince(1, &updates).ok());
  ASSERT_TRUE(updates->Valid());
  const std::string logged = updates->GetBatch().writeBatchPtr->Data();
  EXPECT_NE(logged.find("logged data"), std::string::npos);
  EXPECT_EQ(logged.find("other data"), std::string::npos);
}

TEST_F(DBWithTTLTest, MergeOperatorSeesValuesAlone) {
  Open(kTtl);
  Put("key", "a");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->Merge(WriteOptions(), "key", "b").ok());
  PassSeconds(60);
  ASSERT_TRUE(db_->Merge(WriteOptions(), "key", "c").ok());
  EXPECT_EQ(Get("key"), "a,b,c");
  GetMergeOperandsOptions wanted;
  wanted.expected_max_number_of_operands = 4;
  std::vector<std::string> seen;
  wanted.continue_cb = [&](const Slice& operand) {
    seen.push_back(operand.ToString());
    return true;
  };
  std::vector<PinnableSlice> operands(4);
  int count = 0;
  ASSERT_TRUE(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "key",
                                    operands.data(), &wanted, &count)
                  .ok());
  ASSERT_EQ(count, 3);
  EXPECT_EQ(operands[0].ToString() + operands[1].ToString() + operands[2].ToString(), "abc");
  EXPECT_EQ(seen, (std::vector<std::string>{"c", "b"}));
  operands.clear();
  Compact();
  PassSeconds(60);
  Compact();
  EXPECT_EQ(Get("key"), "a,b,c") << "the result has the time of the merge";
  PassSeconds(kTtl);
  Compact();
  EXPECT_EQ(Get("key"), "NotFound");
}

// Removes keys that begin with "drop", changes the values of those that begin with "change".
class UserFilter : public CompactionFilter {
 public:
  Decision FilterV2(int /*level*/, const Slice& key, ValueType value_type,
                    const Slice& existing_value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    EXPECT_EQ(value_type, kValue);
    if (key.starts_with("drop")) return Decision::kRemove;
    if (!key.starts_with("change") || existing_value.ends_with("!")) return Decision::kKeep;
    *new_value = existing_value.ToString() + "!";
    return Decision::kChangeValue;
  }
  const char* Name() const override { return "UserFilter"; }
};
class UserFactory final : public CompactionFilterFactory {
 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    EXPECT_TRUE(context.is_manual_compaction);
    return std::make_unique<UserFilter>();
  }
  const char* Name() const override { return "UserFactory"; }
};

TEST_F(DBWithTTLTest, FilterOfTheProgramSeesValuesAlone) {
  const UserFilter filter;
  for (const bool as_factory : {false, true}) {
    SCOPED_TRACE(as_factory);
    options_.compaction_filter = as_factory ? nullptr : &filter;
    options_.compaction_filter_factory =
        as_factory ? std::make_shared<UserFactory>() : std::shared_ptr<UserFactory>();
    Open(kTtl);
    Put("change", "v");
    Put("drop", "v");
    Put("keep", "v");
    PassSeconds(90);
    Compact();
    EXPECT_EQ(ContentsOf(db_.get()), (Contents{{"change", "v!"}, {"keep", "v"}}));
    PassSeconds(11);
    Compact();
    EXPECT_EQ(ContentsOf(db_.get()), Contents()) << "a changed value keeps its time";
    db_.reset();
  }
}

TEST_F(DBWithTTLTest, FamiliesHaveTtlsOfTheirOwn) {
  Open(0);
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamilyWithTtl(options_, "short", &handle, 10).ok());
  int32_t ttl = 0;
  ASSERT_TRUE(db_->GetTtl(handle, &ttl).ok());
  EXPECT_EQ(ttl, 10);
  delete handle;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "ever", &handle).ok());
  ASSERT_TRUE(db_->GetTtl(handle, &ttl).ok());
  EXPECT_EQ(ttl, 0);
  delete handle;
  db_.reset();

  const std::vector<ColumnFamilyDescriptor> families = {
      {kDefaultColumnFamilyName, options_}, {"short", options_}, {"ever", options_}};
  std::vector<ColumnFamilyHandle*> handles;
  DBWithTTL* opened = nullptr;
  EXPECT_TRUE(
      DBWithTTL::Open(options_, kDb, families, &handles, &opened, {1, 2}).IsInvalidArgument());
  EXPECT_EQ(opened, nullptr);
  ASSERT_TRUE(DBWithTTL::Open(options_, kDb, families, &handles, &opened, {0, 10, 0}).ok());
  db_.reset(opened);
  for (ColumnFamilyHandle* const each : handles)
    ASSERT_TRUE(db_->Put(WriteOptions(), each, "key", "value").ok());
  PassSeconds(11);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  std::string found;
  for (ColumnFamilyHandle* const each : handles) {
    ASSERT_TRUE(db_->CompactRange(all, each, nullptr, nullptr).ok());
    std::string value;
    const Status status = db_->Get(ReadOptions(), each, "key", &value);
    found += StrCat(each->GetName(), status.ok() ? "+" : "-");
  }
  EXPECT_EQ(found, "default+short-ever+");
  for (ColumnFamilyHandle* const each : handles) delete each;
}

// Wrapped objects are not wrapped again, so the last bytes of a value are not taken for a time.
TEST_F(DBWithTTLTest, OptionsOfTheDatabaseMayBeGivenAgain) {
  const UserFilter filter;
  for (const bool as_factory : {false, true}) {
    SCOPED_TRACE(as_factory);
    options_.compaction_filter = as_factory ? nullptr : &filter;
    options_.compaction_filter_factory =
        as_factory ? std::make_shared<UserFactory>() : std::shared_ptr<UserFactory>();
    Open(kTtl);
    const Options taken = db_->GetOptions(db_->DefaultColumnFamily());
    ColumnFamilyHandle* made = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamilyWithTtl(taken, "copy", &made, 3 * kTtl).ok());
    const auto put = [&](const std::string& key, const std::string& value) {
      ASSERT_TRUE(db_->Put(WriteOptions(), made, key, value).ok());
    };
    const auto get = [&](const std::string& key) {
      std::string value;
      const Status status = db_->Get(ReadOptions(), made, key, &value);
      return status.ok() ? value : status.ToString();
    };
    std::string value = "ends in a second of long ago";
    PutFixed32(&value, Now() - 2 * kTtl);
    put("key", value);
    put("drop", "v");
    for (const char* const operand : {"a", "b"})
      ASSERT_TRUE(db_->Merge(WriteOptions(), made, "merged", operand).ok());
    EXPECT_EQ(get("merged"), "a,b");
    ASSERT_TRUE(db_->Delete(WriteOptions(), made, "merged").ok());
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(all, made, nullptr, nullptr).ok());
    EXPECT_EQ(get("key"), value);
    EXPECT_EQ(get("drop"), "NotFound");
    int32_t ttl = 0;
    ASSERT_TRUE(db_->GetTtl(made, &ttl).ok());
    EXPECT_EQ(ttl, 3 * kTtl);
    ASSERT_TRUE(db_->DropColumnFamily(made).ok());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(made).ok());
  }
}

// The time of a merge comes from the database that merges.
TEST_F(DBWithTTLTest, OptionsMayBeGivenToADatabaseOfAnotherEnv) {
  Open(kTtl);
  const ColumnFamilyOptions taken(db_->GetOptions());
  ManualEnv other(std::make_shared<MemoryFileSystem>(), 2);
  other.clock()->SleepForMicros(uint64_t{10 * kTtl} * 1000000);
  options_.env = &other;
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, taken}};
  std::vector<ColumnFamilyHandle*> handles;
  DBWithTTL* opened = nullptr;
  ASSERT_TRUE(DBWithTTL::Open(DBOptions(options_), kDb, families, &handles, &opened, {kTtl}).ok());
  db_.reset(opened);
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  Put("key", "a");
  ASSERT_TRUE(db_->Merge(WriteOptions(), "key", "b").ok());
  Compact();
  Compact();
  EXPECT_EQ(Get("key"), "a,b");
  db_.reset();
}

// Such options have a substitute for the operator, which leaves operands as they are.
TEST_F(DBWithTTLTest, OptionsOfADatabaseWithoutItsMergeOperatorMayBeGivenAgain) {
  Open(kTtl);
  Put("key", "v");
  ASSERT_TRUE(db_->Merge(WriteOptions(), "key", "w").ok());
  options_.merge_operator = nullptr;
  Open(kTtl);
  options_ = db_->GetOptions();
  Open(kTtl);
  EXPECT_TRUE(db_->Merge(WriteOptions(), "key", "x").IsNotSupported());
  Compact();
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open(kTtl);
  EXPECT_EQ(Get("key"), "v,w");
}

TEST_F(DBWithTTLTest, ReadOnlyDatabaseReadsAndRemovesNothing) {
  Open(kTtl);
  Put("key", "value");
  PassSeconds(kTtl + 1);
  Open(kTtl, true);
  EXPECT_EQ(Get("key"), "value");
  EXPECT_TRUE(db_->Put(WriteOptions(), "key", "other").IsNotSupported());
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
}

TEST_F(DBWithTTLTest, ValuesOfPlainDatabaseAreCorruptionAndStay) {
  {
    std::unique_ptr<DB> plain;
    OpenPlain(&plain);
    ASSERT_TRUE(plain->Put(WriteOptions(), "b", "abc").ok());
    ASSERT_TRUE(plain->Put(WriteOptions(), "c", std::string(8, '\0')).ok());
    ASSERT_TRUE(plain->Close().ok());
  }
  Open(1);
  Put("a", "right");
  Put("d", "right");
  std::string value;
  for (const char* const key : {"b", "c"}) {
    EXPECT_TRUE(db_->Get(ReadOptions(), key, &value).IsCorruption()) << key;
    PinnableSlice slice;
    ColumnFamilyHandle* family = db_->DefaultColumnFamily();
    Status status;
    const Slice slice_key(key);
    db_->MultiGet(ReadOptions(), family, 1, &slice_key, &slice, &status);
    EXPECT_TRUE(status.IsCorruption());
    bool found = true;
    EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), key, &value, &found));
    EXPECT_FALSE(found);
  }
  EXPECT_TRUE(db_->Merge(WriteOptions(), "b", "x").ok());
  EXPECT_TRUE(db_->Get(ReadOptions(), "b", &value).IsCorruption());
  ASSERT_TRUE(db_->Delete(WriteOptions(), "b").ok());
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    it->Next();
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsCorruption());
    it->Seek("d");
    ASSERT_TRUE(it->Valid());
    EXPECT_TRUE(it->status().ok());
  }
  PassSeconds(1000);
  Compact();
  std::unique_ptr<DB> plain;
  OpenPlain(&plain);
  EXPECT_EQ(ContentsOf(plain.get()), (Contents{{"c", std::string(8, '\0')}}));
}

// Calls that no other test makes also reach the database below.
TEST_F(DBWithTTLTest, OtherCallsReachTheDatabaseBelow) {
  Open(kTtl);
  EXPECT_EQ(db_->GetRootDB(), db_->GetBaseDB());
  EXPECT_EQ(db_->GetName(), kDb);
  EXPECT_EQ(db_->GetEnv(), &env_);
  Put("key", "value");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  uint64_t entries = 0;
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-num-keys", &entries));
  EXPECT_EQ(entries, 1U);
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  EXPECT_TRUE(db_->SetOptions({{"write_buffer_size", "1000000"}}).ok());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1000000U);
  TablePropertiesCollection properties;
  ASSERT_TRUE(db_->GetPropertiesOfAllTables(&properties).ok());
  ASSERT_EQ(properties.size(), 1U);
  EXPECT_EQ(properties.begin()->second->merge_operator_name, "TtlMergeOperator");
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  EXPECT_EQ(files.size(), 1U);
  EXPECT_TRUE(db_->Close().ok());
}

// An imported family keeps the times of its values and gets the default ttl.
TEST_F(DBWithTTLTest, AnImportedFamilyForgetsAndMerges) {
  Open(kTtl);
  Put("k", "v");
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_TRUE(checkpoint->ExportColumnFamily(nullptr, "/exported", &exported).ok());
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), "imported",
                                                ImportColumnFamilyOptions(), *metadata, &handle)
                  .ok());
  const std::unique_ptr<ColumnFamilyHandle> imported(handle);
  ASSERT_TRUE(db_->Merge(WriteOptions(), imported.get(), "k", "w").ok());
  std::string value;
  ASSERT_TRUE(db_->Get(ReadOptions(), imported.get(), "k", &value).ok());
  EXPECT_EQ(value, "v,w");
  db_->SetTtl(imported.get(), kTtl);
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  // The first compaction merges the operand into the value, which gets a new time.
  ASSERT_TRUE(db_->CompactRange(force, imported.get(), nullptr, nullptr).ok());
  ASSERT_TRUE(db_->Get(ReadOptions(), imported.get(), "k", &value).ok());
  EXPECT_EQ(value, "v,w");
  PassSeconds(kTtl + 1);
  ASSERT_TRUE(db_->CompactRange(force, imported.get(), nullptr, nullptr).ok());
  EXPECT_TRUE(db_->Get(ReadOptions(), imported.get(), "k", &value).IsNotFound());
}

// Rewrites single operands.
class RewritesOne final : public MergeOperator {
 public:
  const char* Name() const override { return "RewritesOne"; }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    *new_value = operands.front().ToString();
    return true;
  }
  bool AllowSingleOperand() const override { return true; }
};

TEST(TtlMergeOperatorTest, ASingleOperandKeepsItsTime) {
  const TtlMergeOperator wrapped(Env::Default(), std::make_shared<RewritesOne>());
  EXPECT_FALSE(wrapped.AllowSingleOperand());
}

}  // namespace
}  // namespace ashlar
