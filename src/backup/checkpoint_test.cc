#include "ashlar/checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "ashlar/options_util.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"

namespace ashlar {
namespace {

constexpr char kDb[] = "/db";
constexpr char kCopy[] = "/copy";
constexpr uint64_t kNoFlush = UINT64_MAX;

using Model = std::map<std::string, std::string>;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest()
      : faults_(std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>())),
        env_(NewCompositeEnv(faults_)) {
    options_.env = env_.get();
    options_.create_if_missing = true;
  }

  void OpenDb() { ASSERT_TRUE(DB::Open(options_, kDb, &db_).ok()); }

  Status Create(uint64_t log_size_for_flush, const std::string& to = kCopy,
                uint64_t* sequence = nullptr) {
    Checkpoint* made = nullptr;
    EXPECT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    return checkpoint->CreateCheckpoint(to, log_size_for_flush, sequence);
  }

  void Put(const std::string& key, const std::string& value) {
    const Status put = db_->Put(WriteOptions(), key, value);
    ASSERT_TRUE(put.ok()) << put.ToString();
    model_[key] = value;
  }
  void PutMany(int count, const std::string& value) {
    for (int i = 0; i < count; ++i) Put(StrCat("key", i), value);
  }

  static Model Contents(DB* db) {
    Model contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok());
    return contents;
  }
  // Opens the database at `path`, which must exist and be closed, and returns its contents.
  Model ContentsOf(const std::string& path) const {
    Options options = options_;
    options.create_if_missing = false;
    options.wal_dir.clear();
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(options, path, &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return opened.ok() ? Contents(db.get()) : Model();
  }
  bool Exists(const std::string& path) const { return faults_->FileExists(path).ok(); }
  void Remove(const std::string& path) {
    std::vector<std::string> names;
    ASSERT_TRUE(faults_->GetChildren(path, &names).ok());
    for (const std::string& name : names) ASSERT_TRUE(faults_->DeleteFile(path + "/" + name).ok());
    ASSERT_TRUE(faults_->DeleteDir(path).ok());
  }

  const std::shared_ptr<FaultFileSystem> faults_;
  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_F(CheckpointTest, IsTheDatabaseOfItsMoment) {
  OpenDb();
  PutMany(100, "in a table");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  PutMany(10, "in the log");
  uint64_t sequence = 0;
  ASSERT_TRUE(Create(kNoFlush, kCopy, &sequence).ok());
  EXPECT_EQ(sequence, db_->GetLatestSequenceNumber());
  EXPECT_EQ(faults_->CallCount(FaultOperation::kLink), 1U);
  const Model moment = model_;
  // The database changes and deletes the tables that it shares with the checkpoint.
  PutMany(100, "later");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(ContentsOf(kCopy), moment);
  EXPECT_EQ(Contents(db_.get()), model_);
  EXPECT_FALSE(Exists(StrCat(kCopy, ".checkpoint-tmp")));
}

// One range deletion is in a table, the other in the log.
TEST_F(CheckpointTest, HasTheRangeDeletions) {
  OpenDb();
  PutMany(100, "value");
  ASSERT_TRUE(db_->DeleteRange(WriteOptions(), "key2", "key4").ok());
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->DeleteRange(WriteOptions(), "key6", "key8").ok());
  model_.erase(model_.lower_bound("key2"), model_.lower_bound("key4"));
  model_.erase(model_.lower_bound("key6"), model_.lower_bound("key8"));
  ASSERT_TRUE(Create(kNoFlush).ok());
  ASSERT_TRUE(db_->DeleteRange(WriteOptions(), "key", "l").ok());
  EXPECT_EQ(ContentsOf(kCopy), model_);
  EXPECT_EQ(Contents(db_.get()), Model());
}

TEST_F(CheckpointTest, FlushesWhenTheLogsAreLongEnough) {
  OpenDb();
  PutMany(10, "in the log");
  WriteOptions without_log;
  without_log.disableWAL = true;
  ASSERT_TRUE(db_->Put(without_log, "unlogged", "x").ok());
  const Model logged = model_;
  model_["unlogged"] = "x";
  std::vector<std::string> names;
  ASSERT_TRUE(faults_->GetChildren(kDb, &names).ok());
  uint64_t log_bytes = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    ASSERT_TRUE(faults_->GetFileSize(StrCat(kDb, "/", name), &log_bytes).ok());
  }
  ASSERT_TRUE(Create(log_bytes + 1, "/unflushed").ok());
  EXPECT_EQ(ContentsOf("/unflushed"), logged);
  ASSERT_TRUE(Create(log_bytes, "/flushed").ok());
  EXPECT_EQ(ContentsOf("/flushed"), model_);
  ASSERT_TRUE(Create(0, "/always").ok());
  EXPECT_EQ(ContentsOf("/always"), model_);
}

TEST_F(CheckpointTest, ChangesNothingThatExists) {
  OpenDb();
  Put("k", "v");
  ASSERT_TRUE(faults_->CreateDir(kCopy).ok());
  ASSERT_TRUE(WriteStringToFile(faults_.get(), "mine", "/file", Durability::kSynced).ok());
  const uint64_t writes = faults_->CallCount(FaultOperation::kAnyWrite);
  for (const char* const to : {kCopy, "/copy/", "/file", kDb, "", "/"}) {
    const Status refused = Create(0, to);
    EXPECT_TRUE(refused.IsInvalidArgument()) << to << ": " << refused.ToString();
  }
  EXPECT_EQ(faults_->CallCount(FaultOperation::kAnyWrite), writes);
  EXPECT_TRUE(Create(0, "/no/such/parent").IsIOError());
  EXPECT_FALSE(Exists("/no"));
}

TEST_F(CheckpointTest, CopiesWhatItCannotLink) {
  OpenDb();
  PutMany(100, "value");
  FaultRule no_links;
  no_links.operations = FaultOperation::kLink;
  no_links.sticky = true;
  no_links.error = Status::NotSupported("another file system");
  faults_->AddRule(no_links);
  ASSERT_TRUE(Create(0, "/copy/").ok());
  EXPECT_EQ(faults_->FaultsInjected(), 1U);
  EXPECT_EQ(ContentsOf(kCopy), model_);
}

TEST_F(CheckpointTest, LogsInAFolderOfTheirOwnAreNextToTheTables) {
  options_.wal_dir = "/logs";
  OpenDb();
  Put("k", "v");
  ASSERT_TRUE(Create(kNoFlush).ok());
  EXPECT_EQ(ContentsOf(kCopy), model_);
  DBOptions recorded;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = env_.get();
  ASSERT_TRUE(LoadLatestOptions(config, kCopy, &recorded, &families).ok());
  EXPECT_EQ(recorded.wal_dir, "");
}

TEST_F(CheckpointTest, LeftoversAreRemovedAndFilesOfOthersAreNot) {
  OpenDb();
  Put("k", "v");
  const std::string temporary = StrCat(kCopy, ".checkpoint-tmp");
  const std::string lock = StrCat(kCopy, ".checkpoint-lock");
  ASSERT_TRUE(faults_->CreateDir(temporary).ok());
  ASSERT_TRUE(WriteStringToFile(faults_.get(), "", lock, Durability::kSynced).ok());
  for (const char* const name : {"/000007.sst", "/CURRENT", "/precious"}) {
    ASSERT_TRUE(WriteStringToFile(faults_.get(), "x", temporary + name, Durability::kSynced).ok());
  }
  EXPECT_TRUE(Create(0).IsIOError());
  EXPECT_FALSE(Exists(kCopy));
  EXPECT_TRUE(Exists(temporary + "/precious"));
  ASSERT_TRUE(faults_->DeleteFile(temporary + "/precious").ok());
  ASSERT_TRUE(Create(0).ok());
  EXPECT_EQ(ContentsOf(kCopy), model_);
  EXPECT_FALSE(Exists(StrCat(kCopy, "/000007.sst")));
  EXPECT_FALSE(Exists(lock));
  Remove(kCopy);
  ASSERT_TRUE(WriteStringToFile(faults_.get(), "precious", lock, Durability::kSynced).ok());
  ASSERT_TRUE(Create(0).ok());
  EXPECT_TRUE(Exists(lock));
}

// A second checkpoint to the same directory starts at each call of the first. Exactly one of the
// two succeeds.
TEST_F(CheckpointTest, OneAtATimeToADirectory) {
  OpenDb();
  PutMany(50, "value");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  PutMany(5, "in the log");
  int busy = 0;
  bool raced = true;
  for (uint64_t nth = 1; raced; ++nth) {
    SCOPED_TRACE(StrCat("at call ", nth));
    Status first, second;
    FaultRule rule;
    rule.name_contains = kCopy;
    rule.nth = nth;
    raced = RunDuring(
        faults_.get(), rule, [&] { second = Create(kNoFlush); }, [&] { first = Create(kNoFlush); });
    if (raced) {
      ASSERT_NE(first.ok(), second.ok()) << first.ToString() << ", " << second.ToString();
      const Status& refused = first.ok() ? second : first;
      ASSERT_TRUE(refused.IsBusy() || refused.IsInvalidArgument()) << refused.ToString();
      busy += refused.IsBusy() ? 1 : 0;
    }
    ASSERT_EQ(ContentsOf(kCopy), model_);
    Remove(kCopy);
    ASSERT_FALSE(Exists(StrCat(kCopy, ".checkpoint-tmp")));
    ASSERT_FALSE(Exists(StrCat(kCopy, ".checkpoint-lock")));
  }
  EXPECT_GT(busy, 10);
}

// An ingestion is not logged, but later writes are.
TEST_F(CheckpointTest, HasTheIngestionsBeforeItsWrites) {
  OpenDb();
  Put("a", "1");
  const auto ingest = [&](const std::string& key) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_TRUE(writer.Open("/external.sst").ok());
    ASSERT_TRUE(writer.Put(key, "ingested").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db_->IngestExternalFile({"/external.sst"}, IngestExternalFileOptions()).ok());
    model_[key] = "ingested";
  };
  int moments = 0;
  bool raced = true;
  for (uint64_t nth = 1; raced; ++nth) {
    SCOPED_TRACE(StrCat("at call ", nth));
    FaultRule rule;
    // These calls run after the tables are recorded and before the logs are.
    rule.operations = FaultOperation::kInspect | FaultOperation::kList;
    rule.nth = nth;
    Status created;
    raced = RunDuring(
        faults_.get(), rule,
        [&] {
          ingest(StrCat("m", nth));
          Put(StrCat("marker", nth), "1");
        },
        [&] { created = Create(kNoFlush); });
    ASSERT_TRUE(created.ok()) << created.ToString();
    const Model copy = ContentsOf(kCopy);
    const bool has_marker = copy.contains(StrCat("marker", nth));
    EXPECT_TRUE(!has_marker || copy.contains(StrCat("m", nth)));
    moments += has_marker ? 1 : 0;
    Remove(kCopy);
  }
  EXPECT_GT(moments, 0);
}

TEST_F(CheckpointTest, ADatabaseThatOnlyReadsHasOne) {
  OpenDb();
  PutMany(10, "in a table");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put("k", "in the log");
  for (const bool secondary : {false, true}) {
    SCOPED_TRACE(secondary ? "secondary" : "read-only");
    db_.reset();
    const Status opened = secondary ? DB::OpenAsSecondary(options_, kDb, "/secondary", &db_)
                                    : DB::OpenForReadOnly(options_, kDb, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    const Status created = Create(0);
    ASSERT_TRUE(created.ok()) << created.ToString();
    EXPECT_EQ(ContentsOf(kCopy), model_);
    Remove(kCopy);
    Checkpoint* made = nullptr;
    ASSERT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    EXPECT_TRUE(checkpoint->ExportColumnFamily(nullptr, kCopy, &exported).IsNotSupported());
    EXPECT_FALSE(Exists(kCopy));
  }
}

// A reader does not hold files, so they may be deleted or overwritten before they are copied.
TEST_F(CheckpointTest, AReaderHasNoneWhileItsWriterGoesOn) {
  std::unique_ptr<DB> writer;
  ASSERT_TRUE(DB::Open(options_, kDb, &writer).ok());
  ASSERT_TRUE(writer->Put(WriteOptions(), "a", "1").ok());
  ASSERT_TRUE(writer->Flush(FlushOptions()).ok());
  ASSERT_TRUE(DB::OpenForReadOnly(options_, kDb, &db_).ok());
  FaultRule link;
  link.operations = FaultOperation::kLink;
  link.effect = FaultEffect::kRunAction;
  link.action = [&writer] {
    EXPECT_TRUE(writer->Put(WriteOptions(), "b", "2").ok());
    EXPECT_TRUE(writer->Flush(FlushOptions()).ok());
  };
  faults_->AddRule(link);
  const Status created = Create(0);
  EXPECT_TRUE(created.IsTryAgain()) << created.ToString();
  EXPECT_FALSE(Exists(kCopy));
}

// Each file system call fails in turn, once or from then on, before or after its effect, or by a
// short read. An error leaves no checkpoint, nothing is lost, and the next call works. If all later
// calls fail too, a complete checkpoint may be left whose parent could not be synced.
TEST_F(CheckpointTest, AFailureAnywhereLeavesNoHalf) {
  OpenDb();
  PutMany(50, "value");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  PutMany(5, "in the log");
  FaultRule rule;
  struct Kind {
    FaultOperation operations;
    FaultEffect effect;
    bool sticky;
  };
  const Kind kinds[] = {{FaultOperation::kAny, FaultEffect::kFailBefore, false},
                        {FaultOperation::kAny, FaultEffect::kFailBefore, true},
                        {FaultOperation::kAny, FaultEffect::kFailAfter, false},
                        {FaultOperation::kRead, FaultEffect::kShortRead, true},
                        {FaultOperation::kLink, FaultEffect::kFailBefore, true}};
  for (const Kind& kind : kinds) {
    rule.operations = kind.operations;
    rule.effect = kind.effect;
    rule.sticky = kind.sticky;
    uint64_t failures = 0;
    uint64_t attempts = 0;
    Status created;
    const auto check = [&] {
      if (created.ok() || (kind.sticky && Exists(kCopy))) {
        ASSERT_EQ(ContentsOf(kCopy), model_);
        Remove(kCopy);
      }
      if (!created.ok()) ++failures;
      ASSERT_FALSE(Exists(kCopy)) << created.ToString();
      // A log error is latched, as after any other call that writes to the log.
      ASSERT_TRUE(db_->Resume().ok());
      const Status again = Create(kNoFlush);
      ASSERT_TRUE(again.ok()) << again.ToString() << ", after " << created.ToString();
      ASSERT_EQ(ContentsOf(kCopy), model_);
      Remove(kCopy);
      Put("key1", StrCat("after ", ++attempts));
    };
    SweepFaults(faults_.get(), rule, [&] { created = Create(kNoFlush); }, check);
    EXPECT_EQ(Contents(db_.get()), model_);
    if (kind.operations == FaultOperation::kAny) {
      EXPECT_GT(failures, 20U);
    }
  }
}

// The same for an export.
TEST_F(CheckpointTest, AFailureAnywhereLeavesNoHalfOfAnExport) {
  options_.disable_auto_compactions = true;
  OpenDb();
  PutMany(50, "value");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  struct Kind {
    FaultEffect effect;
    bool sticky;
  };
  const Kind kinds[] = {{FaultEffect::kFailBefore, false},
                        {FaultEffect::kFailBefore, true},
                        {FaultEffect::kFailAfter, false},
                        {FaultEffect::kThrowBadAlloc, false}};
  std::unique_ptr<ExportImportFilesMetaData> metadata;
  const auto export_family = [&] {
    Checkpoint* made = nullptr;
    EXPECT_TRUE(Checkpoint::Create(db_.get(), &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    const Status status = checkpoint->ExportColumnFamily(nullptr, kCopy, &exported);
    EXPECT_EQ(status.ok(), exported != nullptr);
    metadata.reset(exported);
    return status;
  };
  const auto check_whole = [&] {
    std::vector<std::string> names;
    ASSERT_TRUE(faults_->GetChildren(kCopy, &names).ok());
    std::vector<LiveFileMetaData> live;
    db_->GetLiveFilesMetaData(&live);
    EXPECT_EQ(names.size(), live.size());
    for (const LiveFileMetaData& file : live) {
      uint64_t bytes = 0;
      EXPECT_TRUE(faults_->GetFileSize(kCopy + file.name, &bytes).ok());
      EXPECT_EQ(bytes, file.size);
    }
    Remove(kCopy);
  };
  for (const Kind& kind : kinds) {
    FaultRule rule;
    rule.effect = kind.effect;
    rule.sticky = kind.sticky;
    Put("key1", StrCat("unflushed ", static_cast<int>(kind.effect)));
    uint64_t failures = 0;
    Status status;
    const auto check = [&] {
      if (status.ok() || (kind.sticky && Exists(kCopy))) {
        check_whole();
      } else {
        ++failures;
      }
      ASSERT_FALSE(Exists(kCopy)) << status.ToString();
      ASSERT_TRUE(db_->Resume().ok());
      const Status again = export_family();
      ASSERT_TRUE(again.ok()) << again.ToString() << ", after " << status.ToString();
      check_whole();
      ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
      Put("key2", "unflushed");
    };
    SweepFaults(faults_.get(), rule, [&] { status = export_family(); }, check);
    EXPECT_EQ(Contents(db_.get()), model_);
    EXPECT_GT(failures, 10U);
  }
}

// Batches that span two families are complete in every checkpoint, whatever is flushed.
TEST_F(CheckpointTest, UnderWritesItIsConsistent) {
  options_.write_buffer_size = 64 << 10;
  options_.max_manifest_file_size = 1000;
  OpenDb();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other).ok());
  std::atomic<int> written = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop.load() && i < 200000; ++i) {
      WriteBatch batch;
      const std::string key = StrCat(i % 1000);
      const std::string value = StrCat(i, std::string(static_cast<size_t>(i % 50), 'x'));
      if (!batch.Put(key, value).ok() || !batch.Put(other, key, value).ok() ||
          !db_->Write(WriteOptions(), &batch).ok())
        break;
      written.store(i + 1);
      if (i % 300 == 0 &&
          !db_->Flush(FlushOptions(), i % 600 == 0 ? other : db_->DefaultColumnFamily()).ok())
        break;
    }
  });
  std::vector<int> before;
  for (int i = 0; i < 8; ++i) {
    const int target = written.load() + 300;
    while (written.load() < target) std::this_thread::yield();
    before.push_back(written.load());
    const Status created = Create(i % 2 == 0 ? 0 : kNoFlush, StrCat(kCopy, i));
    EXPECT_TRUE(created.ok()) << created.ToString();
  }
  stop.store(true);
  writer.join();
  delete other;
  db_.reset();
  for (size_t i = 0; i < before.size(); ++i) {
    std::vector<ColumnFamilyHandle*> handles;
    const std::vector<ColumnFamilyDescriptor> families = {
        {"default", ColumnFamilyOptions(options_)}, {"other", ColumnFamilyOptions(options_)}};
    const Status opened = DB::Open(DBOptions(options_), StrCat(kCopy, i), families, &handles, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    int newest = -1;
    {
      const std::unique_ptr<Iterator> a(db_->NewIterator(ReadOptions(), handles[0]));
      const std::unique_ptr<Iterator> b(db_->NewIterator(ReadOptions(), handles[1]));
      for (a->SeekToFirst(), b->SeekToFirst(); a->Valid() && b->Valid(); a->Next(), b->Next()) {
        ASSERT_EQ(a->key(), b->key());
        ASSERT_EQ(a->value(), b->value());
        newest = std::max(newest, std::stoi(a->value().ToString()));
      }
      EXPECT_EQ(a->Valid(), b->Valid());
    }
    EXPECT_GE(newest + 1, before[i]) << "what was written before the call is in the checkpoint";
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    db_.reset();
  }
}

}  // namespace
}  // namespace ashlar
