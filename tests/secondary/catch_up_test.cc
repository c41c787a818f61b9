// Catching up while the primary works. Each state that the secondary shows is one moment of the
// primary, not older than the call, and never older than the previous state.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/snapshot.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/transaction_log.h"
#include "ashlar/vfs.h"
#include "base/random.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "tests/secondary/secondary_fixture.h"
#include "tests/support/gate.h"
#include "wal/log_format.h"

namespace ashlar {
namespace {

class CatchUpTest : public SecondaryFixture {
 protected:
  void SetUp() override {
    OpenPrimary();
    for (int i = 0; i < 3; ++i) Step();
    Write();
  }
  uint64_t IntProperty(const char* name) {
    uint64_t value = 0;
    EXPECT_TRUE(secondary_->GetIntProperty(name, &value));
    return value;
  }
  // Ingests a table after the batches so far.
  void Ingest(const std::vector<std::string>& keys, const std::string& value) {
    Options options = options_;
    options.env = primary_->env();
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open("/external.sst"));
    Commit commit;
    for (const std::string& key : keys) {
      ASSERT_OK(writer.Put(key, value));
      commit.push_back({Change::Kind::kPut, kDefaultColumnFamilyName, key, value});
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(primary_->db()->IngestExternalFile({"/external.sst"}, IngestExternalFileOptions()));
    Apply(commit, &states_.back());
  }
  // Each attempt to read the primary's files begins with CURRENT and reads it equally often.
  void AtEveryReadOfCurrent(std::function<void()> action) {
    FaultRule rule;
    rule.name_contains = "CURRENT";
    rule.operations = FaultOperation::kOpenForReading;
    rule.sticky = true;
    rule.effect = FaultEffect::kRunAction;
    rule.action = std::move(action);
    calls_->AddRule(rule);
  }
  // Makes the primary faster than a reader at all times.
  void EditAtEveryReadOfCurrent() {
    AtEveryReadOfCurrent([this] {
      Write();
      FlushPrimary();
    });
  }
  int ReadsOfCurrent(const std::function<Status()>& call) {
    reads_of_current_ = 0;
    AtEveryReadOfCurrent([this] { ++reads_of_current_; });
    EXPECT_OK(call());
    calls_->ClearRules();
    return reads_of_current_;
  }

  int reads_of_current_ = 0;
};

TEST_F(CatchUpTest, AStepOfThePrimaryAtAnyCall) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    calls_->ClearRules();
    ASSERT_OK(OpenSecondary());
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(StrCat("mode ", static_cast<int>(mode), ", a step at call ", nth));
      Write();
      const uint64_t at_least = written();
      const int steps_before = steps_;
      calls_->ClearRules();
      StepAtCall(nth, false, 1);
      ASSERT_OK(CatchUp());
      calls_->ClearRules();
      ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
      if (steps_ == steps_before) break;
    }
  }
}

TEST_F(CatchUpTest, AStepOfThePrimaryAtAnyCallOfTheOpen) {
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(StrCat("a step at call ", nth));
    const uint64_t at_least = written();
    const int steps_before = steps_;
    calls_->ClearRules();
    StepAtCall(nth, false, 1);
    ASSERT_OK(OpenSecondary());
    calls_->ClearRules();
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    if (steps_ == steps_before) break;
  }
}

// A Get calls GetSequenceNumber after it has taken its view.
class AskedSnapshot final : public Snapshot {
 public:
  explicit AskedSnapshot(std::function<SequenceNumber()> ask) : ask_(std::move(ask)) {}
  ~AskedSnapshot() override = default;

  SequenceNumber GetSequenceNumber() const override { return ask_(); }
  int64_t GetUnixTime() const override { return 0; }

 private:
  const std::function<SequenceNumber()> ask_;
};

// The second operand arrives in a table, and the third in the log after it. A Get that takes its
// view while the replay applies the third must not find it without the second.
TEST_F(CatchUpTest, AGetThatMeetsAnInstallIsOfOneState) {
  const auto append = [this](const char* operand) {
    Write({{Change::Kind::kMerge, kDefaultColumnFamilyName, "list", operand}});
  };
  append("first");
  ASSERT_OK(OpenSecondary());
  append("second");
  FlushPrimary();
  append("third");
  Gate view_taken;
  Gate installed;
  const AskedSnapshot snapshot([&] {
    view_taken.Open();
    installed.Wait();
    return secondary_->GetLatestSequenceNumber();
  });
  std::string found;
  std::thread reader;
  FaultRule rule;
  rule.name_contains = NewestLog();
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    reader = std::thread([&] {
      ReadOptions options;
      options.snapshot = &snapshot;
      EXPECT_OK(secondary_->Get(options, "list", &found));
    });
    view_taken.Wait();
  };
  calls_->AddRule(rule);
  EXPECT_OK(secondary_->TryCatchUpWithPrimary());
  calls_->ClearRules();
  installed.Open();
  ASSERT_TRUE(reader.joinable());
  reader.join();
  EXPECT_EQ(found, states_.back().at(kDefaultColumnFamilyName).at("list"));
  ExpectAll();
}

// Logs that are overwritten while the secondary reads them.
class RecycledCatchUpTest : public CatchUpTest {
 protected:
  RecycledCatchUpTest() {
    options_.recycle_log_file_num = 2;
    options_.write_buffer_size = 1 << 20;  // a log ends only by a flush
  }
  uint64_t Reuses() const { return primary_files_->CallCount(FaultOperation::kReuse); }
  uint64_t FileBytes(const std::string& path) const {
    uint64_t bytes = 0;
    EXPECT_OK(disk_->GetFileSize(path, &bytes));
    return bytes;
  }
  // Writes more than one block to the newest log.
  void WriteBlock() {
    for (int i = 0; i < 40; ++i) {
      Write({{Change::Kind::kPut, kDefaultColumnFamilyName, "big", std::string(1000, 'x')},
             {Change::Kind::kMerge, kDefaultColumnFamilyName, "list", StrCat(i)}});
    }
  }
  // Writes a block that the new log of the next switch overwrites.
  void WriteBlockThatIsWrittenOver() {
    WriteBlock();
    FlushPrimary();
    Write();
  }
  // Makes the file of the log the newest log, with more than one block.
  void WriteOver(const std::string& log) {
    std::unique_ptr<vfs::SequentialFile> file;
    ASSERT_OK(disk_->NewSequentialFile(log, vfs::FileOptions(), &file));
    const std::string first = FirstHeader(log);
    for (int i = 0; i < 2; ++i) {
      FlushPrimary();
      WriteBlock();
    }
    EXPECT_NE(HeaderOf(file.get()), first) << "it is another log now";
  }
  static std::string HeaderOf(vfs::SequentialFile* file) {
    std::string scratch(log_format::kRecyclableHeaderBytes, '\0');
    Slice header;
    EXPECT_OK(file->Read(scratch.size(), &header, scratch.data()));
    return header.ToString();
  }
  std::string FirstHeader(const std::string& path) const {
    std::unique_ptr<vfs::SequentialFile> file;
    const Status opened = disk_->NewSequentialFile(path, vfs::FileOptions(), &file);
    EXPECT_OK(opened);
    return opened.ok() ? HeaderOf(file.get()) : "";
  }
  // Otherwise a new MANIFEST would also be a reason to start over.
  void ReopenPrimaryWithLongManifest() {
    options_.max_manifest_file_size = 1 << 20;
    ASSERT_OK(primary_->Close());
    OpenPrimary();
    for (int i = 0; i < 3; ++i) Step();
  }
  // As after Step, the newest log has one record, and the older log of its file had two.
  void ExpectNewestLogFollowedByAnOlderOne() {
    std::unique_ptr<WalFile> log;
    ASSERT_OK(primary_->db()->GetCurrentWalFile(&log));
    EXPECT_LT(log->SizeFileBytes(), FileBytes(NewestLog()));
  }
  // Opens a read-only database in place of the secondary.
  Status OpenReadOnly() {
    return OpenReader([this](const Options& options, const Families& families, Handles* handles) {
      return DB::OpenForReadOnly(options, OpenDatabase::kPath, families, handles, &secondary_);
    });
  }
  // Makes an edit at each read of a log from here on, up to ten edits.
  void EditAtReadsOfLogs(int* edits) {
    FaultRule rule;
    rule.name_contains = ".log";
    rule.operations = FaultOperation::kRead;
    rule.sticky = true;
    rule.effect = FaultEffect::kRunAction;
    rule.action = [this, edits] {
      if (*edits == 10) return;
      ++*edits;
      // The other family has writes in all logs, so they are kept.
      Write();
      ASSERT_OK(primary_->Flush({kSecond}, true));
    };
    calls_->AddRule(rule);
  }
};

TEST_F(RecycledCatchUpTest, EditsDuringTheReplayDoNotStartItAnew) {
  ReopenPrimaryWithLongManifest();
  const std::map<std::string, std::function<Status()>> ways = {
      {"secondary", [this] { return OpenSecondary(); }},
      {"read-only", [this] { return OpenReadOnly(); }},
  };
  for (const auto& [name, open] : ways) {
    SCOPED_TRACE(name);
    for (int i = 0; i < 3; ++i) {
      Write();
      ASSERT_OK(primary_->Flush({kSecond}, true));
    }
    const int in_one_attempt = ReadsOfCurrent(open);
    const uint64_t at_least = written();
    int edits = 0;
    EditAtReadsOfLogs(&edits);
    EXPECT_EQ(ReadsOfCurrent(open), in_one_attempt);
    EXPECT_GE(edits, 4) << "a read of each log";
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
  }
  EXPECT_GT(Reuses(), 0u);
}

// The tables of the flush contain nothing that the reader's logs lack, although the reader reads a
// write that followed the flush.
TEST_F(RecycledCatchUpTest, AFlushBeforeAWriteThatIsReadDoesNotStartItAnew) {
  ReopenPrimaryWithLongManifest();
  const auto open = [this] { return OpenSecondary(); };
  const int in_one_attempt = ReadsOfCurrent(open);
  ASSERT_NO_FATAL_FAILURE(WriteBlockThatIsWrittenOver());
  ASSERT_OK(primary_->Flush({kSecond}, /*wait=*/false));
  ASSERT_NO_FATAL_FAILURE(ExpectNewestLogFollowedByAnOlderOne());
  FaultRule rule;
  rule.name_contains = NewestLog();
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this] {
    EXPECT_TRUE(primary_->env()->RunOneFlush());
    Write();
  };
  calls_->AddRule(rule);
  EXPECT_EQ(ReadsOfCurrent(open), in_one_attempt);
  ExpectAll();
}

TEST_F(RecycledCatchUpTest, EditsDuringACatchUpDoNotStartItAnew) {
  ReopenPrimaryWithLongManifest();
  ASSERT_NO_FATAL_FAILURE(ExpectNewestLogFollowedByAnOlderOne());
  ASSERT_OK(OpenSecondary());
  const auto catch_up = [this] { return CatchUp(); };
  const int in_one_attempt = ReadsOfCurrent(catch_up);
  for (int i = 0; i < 5; ++i) {
    Write();
    const uint64_t at_least = written();
    int edits = 0;
    EditAtReadsOfLogs(&edits);
    EXPECT_EQ(ReadsOfCurrent(catch_up), in_one_attempt);
    EXPECT_GE(edits, 1);
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
  }
}

// It is overwritten before its length is read, or before a read of one of its blocks.
TEST_F(RecycledCatchUpTest, ALogThatIsWrittenOverDuringItsReadIsNoticed) {
  ReopenPrimaryWithLongManifest();
  const auto open = [this] { return OpenSecondary(); };
  const int in_one_attempt = ReadsOfCurrent(open);
  uint64_t nth = 0;
  bool was_reached = true;
  while (was_reached) {
    SCOPED_TRACE(StrCat("call ", ++nth));
    FlushPrimary();
    WriteBlock();
    ASSERT_GT(FileBytes(NewestLog()), log_format::kBlockBytes);
    const uint64_t at_least = written();
    was_reached = false;
    FaultRule rule;
    rule.name_contains = NewestLog();
    rule.operations = FaultOperation::kRead | FaultOperation::kInspect;
    rule.nth = nth;
    rule.effect = FaultEffect::kRunAction;
    rule.action = [this, &was_reached, log = NewestLog()] {
      was_reached = true;
      WriteOver(log);
    };
    calls_->AddRule(rule);
    EXPECT_LE(ReadsOfCurrent(open), 2 * in_one_attempt);
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
  }
  EXPECT_GT(nth, 3u) << "the length and two blocks";
}

// By then the file begins with another log and ends with the old one, which is no damage to skip.
TEST_F(RecycledCatchUpTest, APartOfALogThatIsWrittenOverIsNotSkipped) {
  ReopenPrimaryWithLongManifest();
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  ASSERT_OK(OpenSecondary());
  FlushPrimary();
  for (int i = 0; i < 3; ++i) WriteBlock();
  const std::string log = NewestLog();
  ASSERT_OK(primary_->Flush({kSecond}, true));
  Write();
  ASSERT_GT(FileBytes(log), 3 * log_format::kBlockBytes);
  const uint64_t at_least = written();
  FaultRule rule;
  rule.name_contains = log;
  rule.operations = FaultOperation::kRead;
  rule.nth = 2;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this, log] { WriteOver(log); };
  calls_->AddRule(rule);
  ASSERT_OK(CatchUp());
  calls_->ClearRules();
  ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
}

// A record that is appended to a log over the rest of an older one is read, even if it is appended
// after the check of the MANIFEST.
TEST_F(RecycledCatchUpTest, AWriteIsNotShownWithoutTheTablesThatWereIngestedBefore) {
  ReopenPrimaryWithLongManifest();
  const auto open = [this] { return OpenSecondary(); };
  const int in_one_attempt = ReadsOfCurrent(open);
  ASSERT_NO_FATAL_FAILURE(WriteBlockThatIsWrittenOver());
  FlushPrimary();
  Write();
  ASSERT_NO_FATAL_FAILURE(ExpectNewestLogFollowedByAnOlderOne());
  const uint64_t at_least = written();
  FaultRule rule;
  rule.name_contains = NewestLog();
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this] {
    Ingest({"outside"}, "1");  // no memtable has the key, so nothing is flushed
    Write();
  };
  calls_->AddRule(rule);
  EXPECT_EQ(ReadsOfCurrent(open), 2 * in_one_attempt);
  ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
  // After all records that are read, an ingestion makes no difference.
  rule.name_contains = NewestLog();
  rule.action = [this] { Ingest({"outside"}, "2"); };
  calls_->AddRule(rule);
  EXPECT_EQ(ReadsOfCurrent(open), in_one_attempt);
  EXPECT_EQ(Read(0)["outside"], "1");
  ASSERT_OK(CatchUp());
  ExpectAll();
}

TEST_F(RecycledCatchUpTest, AStepOfThePrimaryAtAnyCall) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    calls_->ClearRules();
    ASSERT_OK(OpenSecondary());
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(StrCat("mode ", static_cast<int>(mode), ", steps at call ", nth));
      // One log more than are kept, so that the step overwrites a log that the secondary has open.
      Write();
      FlushPrimary();
      Write();
      const uint64_t at_least = written();
      const int steps_before = steps_;
      calls_->ClearRules();
      RunAtCall(calls_.get(), nth, false, 1, [this] {
        for (int i = 0; i < 3; ++i) Step();
      });
      ASSERT_OK(CatchUp());
      calls_->ClearRules();
      ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
      if (steps_ == steps_before) break;
    }
  }
  EXPECT_GT(Reuses(), 20u);
}

TEST_F(RecycledCatchUpTest, AStepOfThePrimaryAtAnyCallOfTheOpen) {
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(StrCat("steps at call ", nth));
    const uint64_t at_least = written();
    const int steps_before = steps_;
    calls_->ClearRules();
    RunAtCall(calls_.get(), nth, false, 1, [this] {
      for (int i = 0; i < 3; ++i) Step();
    });
    ASSERT_OK(OpenSecondary());
    calls_->ClearRules();
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    if (steps_ == steps_before) break;
  }
  EXPECT_GT(Reuses(), 20u);
}

TEST_F(RecycledCatchUpTest, WritesBetweenStepsAreFollowed) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 60; ++i) {
    if (i % 4 == 3) {
      Step();
    } else {
      Write();
    }
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
  EXPECT_GT(Reuses(), 10u);
  // As after kill -9 of the primary.
  Write();
  KillPrimary();
  ASSERT_OK(secondary_->PromoteToPrimary());
  ExpectAll();
}

class LongManifestTest : public CatchUpTest {
 protected:
  void SetUp() override {
    options_.max_manifest_file_size = 1 << 20;
    CatchUpTest::SetUp();
  }
};

// A long MANIFEST takes longer to read than a table lives. If an attempt only noted the change,
// another attempt would follow that only notes one.
TEST_F(LongManifestTest, AnOpenReadsOnWhereTheManifestHasGrown) {
  const int in_one_attempt = ReadsOfCurrent([this] { return OpenSecondary(); });
  FaultRule rule;
  rule.name_contains = "MANIFEST";
  rule.operations = FaultOperation::kOpenForReading;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this] {
    Step();
    Step();
  };
  calls_->AddRule(rule);
  EXPECT_EQ(ReadsOfCurrent([this] { return OpenSecondary(); }), in_one_attempt);
  ExpectAll();
}

TEST_F(CatchUpTest, StepsAtEveryCallForAWhile) {
  ASSERT_OK(OpenSecondary());
  for (uint64_t nth = 1; nth < 40; nth += 5) {
    SCOPED_TRACE(StrCat("steps from call ", nth, " on"));
    const uint64_t at_least = written();
    calls_->ClearRules();
    StepAtCall(nth, true, 100);
    ASSERT_OK(CatchUp());
    calls_->ClearRules();
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(at_least));
  }
}

TEST_F(CatchUpTest, APrimaryThatIsAlwaysFasterIsGivenUp) {
  ASSERT_OK(OpenSecondary());
  EditAtEveryReadOfCurrent();
  const Status caught_up = CatchUp();
  EXPECT_TRUE(caught_up.IsTryAgain()) << caught_up.ToString();
  calls_->ClearRules();
  ExpectOneMoment(0);
  ASSERT_OK(CatchUp());
  ExpectAll();
}

// The log ends before its length, and no longer has its name.
TEST_F(CatchUpTest, ALogThatGoesToTheArchiveDuringItsReadIsWhole) {
  options_.max_manifest_file_size = 1 << 20;
  options_.WAL_ttl_seconds = 3600;
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  Write();
  const std::string log = NewestLog();
  std::unique_ptr<vfs::WritableFile> tail;
  ASSERT_OK(disk_->ReopenWritableFile(log, vfs::FileOptions(), &tail));
  ASSERT_OK(tail->Append("torn"));
  ASSERT_OK(tail->Close());
  const uint64_t at_least = written();
  const auto open = [this] { return OpenSecondary(); };
  const int in_one_attempt = ReadsOfCurrent(open);
  FaultRule rule;
  rule.name_contains = log;
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this] { FlushPrimary(); };
  calls_->AddRule(rule);
  EXPECT_EQ(ReadsOfCurrent(open), in_one_attempt);
  EXPECT_TRUE(disk_->FileExists(log).IsNotFound());
  EXPECT_OK(disk_->FileExists(StrCat(ArchiveDirectory(OpenDatabase::kPath), "/", BaseName(log))));
  ExpectOneMoment(at_least);
}

TEST_F(CatchUpTest, AnOpenNextToAPrimaryThatIsAlwaysFasterIsGivenUp) {
  EditAtEveryReadOfCurrent();
  const Status opened = OpenSecondary();
  EXPECT_TRUE(opened.IsTryAgain()) << opened.ToString();
  calls_->ClearRules();
  ASSERT_OK(OpenSecondary());
  ExpectAll();
}

TEST_F(CatchUpTest, OldIteratorsStayAsTheyAre) {
  ASSERT_OK(OpenSecondary());
  std::map<uint64_t, std::unique_ptr<Iterator>> iterators;
  for (int i = 0; i < 12; ++i) {
    iterators[written()].reset(secondary_->NewIterator(ReadOptions(), handles_[1].get()));
    Step();
    ASSERT_OK(CatchUp());
  }
  // Their tables were deleted long ago.
  for (const auto& [number, it] : iterators)
    EXPECT_EQ(ReadAll(it.get()), states_[number].at(kSecond)) << number;
  for (const auto& [number, it] : iterators) {
    ASSERT_OK(it->Refresh());
    EXPECT_EQ(ReadAll(it.get()), states_.back().at(kSecond)) << number;
  }
}

TEST_F(CatchUpTest, OnlyWhatIsNewIsRead) {
  options_.disable_auto_compactions = true;
  options_.max_manifest_file_size = 1 << 20;
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  for (int i = 0; i < 150; ++i) {
    Write();
    FlushPrimary();
  }
  ASSERT_OK(OpenSecondary());
  const auto calls_of_catch_up = [this] {
    calls_->ResetCounts();
    EXPECT_OK(CatchUp());
    return calls_->CallCount(FaultOperation::kAny);
  };
  constexpr uint64_t kCallsOfNothing = 25;
  EXPECT_LE(calls_of_catch_up(), kCallsOfNothing);
  Write();
  EXPECT_LE(calls_of_catch_up(), kCallsOfNothing);
  ExpectAll();
  FlushPrimary();
  EXPECT_LE(calls_of_catch_up(), kCallsOfNothing + 10);  // and the new tables
  // Another MANIFEST has the same tables, and none of them is opened again.
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  calls_->ResetCounts();
  EXPECT_OK(CatchUp());
  EXPECT_LE(calls_->CallCount(FaultOperation::kOpenForReading), kCallsOfNothing);
  ExpectAll();
}

TEST_F(CatchUpTest, MemTablesLeaveWhenThePrimaryHasFlushedThem) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 30; ++i) {
    Step();
    ASSERT_OK(CatchUp());
    EXPECT_LE(IntProperty("rocksdb.num-immutable-mem-table"), 1u);
  }
  FlushPrimary();
  ASSERT_OK(CatchUp());
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(IntProperty("rocksdb.num-immutable-mem-table"), 0u);
  ExpectAll();
}

// A merge operand that is in a table and in a memtable would be applied twice.
TEST_F(CatchUpTest, NoOperandIsAppliedTwice) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 40; ++i) {
    for (const char* const family : {kDefaultColumnFamilyName.c_str(), kSecond})
      Write({{Change::Kind::kMerge, family, "list", StrCat(i)}});
    if (i % 3 == 0) {
      ASSERT_OK(primary_->Flush({i % 2 == 0 ? kDefaultColumnFamilyName : kSecond}, true));
    }
    if (i % 2 == 0) {
      ASSERT_OK(CatchUp());
      ASSERT_NO_FATAL_FAILURE(ExpectAll());
    }
  }
}

// ---- The log.

// Cuts the file of the newest log at many places, as if it was being written.
TEST_F(CatchUpTest, ATornTailIsContinuedAtTheNextCatchUp) {
  for (int i = 0; i < 4; ++i) Write();
  // Longer than a block.
  Write({{Change::Kind::kPut, kDefaultColumnFamilyName, "long", std::string(40000, 'x')}});
  for (int i = 0; i < 4; ++i) Write();
  const std::string log = NewestLog();
  std::string whole;
  ASSERT_OK(ReadFileToString(disk_.get(), log, size_t{1} << 20).status());
  whole = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  ASSERT_GT(whole.size(), 40000u);
  const auto write_log = [&](const std::string& bytes) {
    ASSERT_OK(WriteStringToFile(disk_.get(), bytes, log, Durability::kBuffered));
  };
  Random random(20261125);
  for (size_t bytes = 0; bytes <= whole.size(); bytes += 1 + random.Uniform(900)) {
    SCOPED_TRACE(StrCat(bytes, " bytes"));
    write_log(whole.substr(0, bytes));
    ASSERT_OK(OpenSecondary());
    ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
    size_t more = bytes;
    for (int i = 0; i < 3; ++i) {
      more = std::min(more + random.Uniform(40000), whole.size());
      // A mapped log may have such bytes after its end.
      write_log(whole.substr(0, more) +
                std::string(random.OneIn(2) ? 0 : random.Uniform(5000), '\0'));
      ASSERT_OK(CatchUp());
      ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
    }
    write_log(whole);
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
}

// RocksDB creates the next log before it writes the rest of the previous one.
TEST_F(CatchUpTest, TheRestOfALogComesAfterTheNextOneWasMade) {
  for (int i = 0; i < 4; ++i) Write();
  const std::string log = NewestLog();
  const std::string whole = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  uint64_t number = 0;
  FileType type;
  ASSERT_TRUE(ParseFileName(BaseName(log), &number, &type));
  for (const size_t bytes : {size_t{0}, whole.size() / 2}) {
    SCOPED_TRACE(StrCat(bytes, " bytes"));
    ASSERT_OK(WriteStringToFile(disk_.get(), whole.substr(0, bytes), log, Durability::kBuffered));
    ASSERT_OK(WriteStringToFile(disk_.get(), "", WalFileName(OpenDatabase::kPath, number + 1),
                                Durability::kBuffered));
    const Status opened = OpenSecondary();
    ASSERT_OK(WriteStringToFile(disk_.get(), whole, log, Durability::kBuffered));
    if (!opened.ok()) {  // an older log ends in the middle of a record
      EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
      ASSERT_OK(OpenSecondary());
    }
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    CloseSecondary();
    ASSERT_OK(disk_->DeleteFile(WalFileName(OpenDatabase::kPath, number + 1)));
  }
}

TEST_F(CatchUpTest, DamageInTheLogIsReportedAndTheViewStays) {
  ASSERT_OK(OpenSecondary());
  const uint64_t shown = written();
  for (int i = 0; i < 6; ++i) Write();
  const std::string log = NewestLog();
  const std::string whole = *ReadFileToString(disk_.get(), log, size_t{1} << 20);
  std::string damaged = whole;
  damaged[whole.size() - whole.size() / 4] ^= 0x10;
  ASSERT_OK(WriteStringToFile(disk_.get(), damaged, log, Durability::kBuffered));
  for (int i = 0; i < 2; ++i) {
    const Status caught_up = CatchUp();
    EXPECT_TRUE(caught_up.IsCorruption()) << caught_up.ToString();
    EXPECT_NE(caught_up.ToString().find(log), std::string::npos) << caught_up.ToString();
    ExpectOneMoment(shown);
    EXPECT_EQ(shown_, shown);
  }
  // Entries that the primary flushes are not read from the log.
  FlushPrimary();
  ASSERT_OK(CatchUp());
  ExpectAll();
}

// The secondary shows a write that is in the log and that the primary then takes back.
class TakenBackTest : public CatchUpTest {
 protected:
  void SetUp() override {
    CatchUpTest::SetUp();
    ASSERT_OK(OpenSecondary());
  }
  void ShowWriteThatIsTakenBack() {
    WriteThatIsTakenBack(kEntries, [this] {
      ASSERT_OK(CatchUp());
      for (size_t family = 0; family < 2; ++family) {
        ASSERT_EQ(Read(family).count(StrCat("failed", family)), 1u) << "the log was not read";
        iterators_.emplace_back(secondary_->NewIterator(ReadOptions(), handles_[family].get()));
        seen_.push_back(ReadAll(iterators_.back().get()));
      }
    });
  }
  // Iterators from before show what they showed.
  void CheckIterators() {
    for (size_t i = 0; i < iterators_.size(); ++i)
      EXPECT_EQ(ReadAll(iterators_[i].get()), seen_[i]) << "family " << i;
  }
  void TearDown() override { iterators_.clear(); }

  static constexpr size_t kEntries = 8;
  std::vector<std::unique_ptr<Iterator>> iterators_;  // of both families, over the failed write
  std::vector<FamilyContents> seen_;
};

TEST_F(TakenBackTest, BeforeThePrimaryHasResumed) {
  ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    EXPECT_EQ(secondary_->GetLatestSequenceNumber(), primary_->db()->GetLatestSequenceNumber());
  }
  ASSERT_OK(primary_->db()->Resume());
  for (int i = 0; i < 5; ++i) {
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    CheckIterators();
  }
}

// The log has been released by then, and nothing was written since.
TEST_F(TakenBackTest, AfterThePrimaryHasResumed) {
  ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
  ASSERT_OK(primary_->db()->Resume());
  ASSERT_OK(CatchUp());
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  EXPECT_EQ(secondary_->GetLatestSequenceNumber(), primary_->db()->GetLatestSequenceNumber());
  CheckIterators();
  KillPrimary();
  ASSERT_OK(secondary_->PromoteToPrimary());
  ExpectAll();
}

TEST_F(TakenBackTest, AfterOtherWritesHaveItsSequences) {
  ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
  ASSERT_OK(primary_->db()->Resume());
  for (int i = 0; i < 5; ++i) {
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    CheckIterators();
  }
}

// The MANIFEST has these sequences, too. While the replay reads the next block of the log, the
// first of these writes are only in memtables of the second family.
TEST_F(TakenBackTest, NoReaderSeesAPartOfTheWritesThatHaveItsSequences) {
  ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
  ASSERT_OK(primary_->db()->Resume());
  const std::string log = NewestLog();
  Write();
  Write();
  Write({{Change::Kind::kPut, kDefaultColumnFamilyName, "long", std::string(40000, 'x')}});
  ASSERT_GE(primary_->db()->GetLatestSequenceNumber(), secondary_->GetLatestSequenceNumber());
  ASSERT_OK(primary_->Flush({kDefaultColumnFamilyName}, true));
  FaultRule second_block;
  second_block.name_contains = log;
  second_block.operations = FaultOperation::kRead;
  second_block.nth = 2;
  second_block.effect = FaultEffect::kRunAction;
  bool looked = false;
  second_block.action = [&] {
    looked = true;
    for (size_t family = 0; family < 2; ++family) EXPECT_EQ(Read(family), seen_[family]);
  };
  calls_->AddRule(second_block);
  ASSERT_OK(CatchUp());
  calls_->ClearRules();
  ASSERT_TRUE(looked) << "the log was read in one piece";
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  CheckIterators();
}

// The read that misses the end of the log is the first after the shorter state was installed.
TEST_F(TakenBackTest, AReadThatEndsTooEarlyTakesNothingElseBack) {
  ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
  ASSERT_OK(primary_->db()->Resume());
  Write();
  const SequenceNumber shown = secondary_->GetLatestSequenceNumber();
  ASSERT_OK(CatchUp());
  ASSERT_LT(secondary_->GetLatestSequenceNumber(), shown);
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForReading;
  rule.name_contains = NewestLog();
  rule.sticky = true;
  calls_->AddRule(rule);
  ASSERT_TRUE(CatchUp().IsIOError());  // the next catch-up reads the log from its beginning
  calls_->ClearRules();
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kShortRead;
  rule.sticky = false;
  calls_->ResetCounts();
  calls_->AddRule(rule);
  ASSERT_OK(CatchUp());
  EXPECT_EQ(calls_->FaultsInjected(), 1u);
  ExpectAll();
}

TEST_F(TakenBackTest, WithAnErrorAtAnyCall) {
  FaultRule rule;
  SweepFaults(
      calls_.get(), rule,
      [&] {
        calls_->ClearRules();
        iterators_.clear();
        seen_.clear();
        Write();
        ASSERT_NO_FATAL_FAILURE(ShowWriteThatIsTakenBack());
        if (rule.nth % 2 == 0) {
          ASSERT_OK(primary_->db()->Resume());
        }
        calls_->ResetCounts();
        calls_->AddRule(rule);
        const Status caught_up = CatchUp();
        calls_->ClearRules();
        // If one attempt has an error, the next one may have none.
        for (size_t family = 0; !caught_up.ok() && family < 2; ++family)
          EXPECT_EQ(Read(family), seen_[family]) << caught_up.ToString();
        ++rule.nth;
      },
      [&] {
        ASSERT_OK(primary_->db()->Resume());
        ASSERT_OK(CatchUp());
        ASSERT_NO_FATAL_FAILURE(ExpectAll());
        CheckIterators();
      });
}

// An edit is in the MANIFEST when the secondary reads it, but its sync fails. The next MANIFEST
// does not have the edit.
class EditTakenBackTest : public CatchUpTest {
 protected:
  void SetUp() override {
    options_.max_manifest_file_size = 1 << 20;  // the edit goes to the current one
    CatchUpTest::SetUp();
    ASSERT_OK(OpenSecondary());
  }
  void FailNextEdit() {
    FaultRule sync;
    sync.operations = FaultOperation::kSync;
    sync.name_contains = "MANIFEST";
    primary_files_->AddRule(sync);
  }
};

TEST_F(EditTakenBackTest, AnIngestedFileIsGone) {
  Options options = options_;
  options.env = primary_->env();
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_OK(writer.Open("/external.sst"));
  ASSERT_OK(writer.Put("ingested", "v"));
  ASSERT_OK(writer.Finish());
  FailNextEdit();
  EXPECT_FALSE(
      primary_->db()->IngestExternalFile({"/external.sst"}, IngestExternalFileOptions()).ok());
  primary_files_->ClearRules();
  ASSERT_OK(CatchUp());
  ASSERT_EQ(Read(0).count("ingested"), 1u) << "the edit is not in the MANIFEST";
  ASSERT_OK(primary_->db()->Resume());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    Write();
  }
}

TEST_F(EditTakenBackTest, AFamilyThatIsThereAgainIsNoLongerFollowed) {
  FailNextEdit();
  EXPECT_FALSE(primary_->DropFamily(kSecond).ok());
  primary_files_->ClearRules();
  ASSERT_OK(CatchUp());
  ASSERT_OK(primary_->db()->Resume());
  Write();
  for (int i = 0; i < 2; ++i) {
    const Status caught_up = CatchUp();
    EXPECT_TRUE(caught_up.IsCorruption()) << caught_up.ToString();
    EXPECT_NE(caught_up.ToString().find(kSecond), std::string::npos) << caught_up.ToString();
    Write();
  }
  ASSERT_OK(OpenSecondary());
  ExpectAll();
}

// A replay from the beginning that misses the end of the log shows no older state.
TEST_F(CatchUpTest, AReadThatEndsTooEarlyTakesNothingBack) {
  for (int i = 0; i < 6; ++i) Write();
  ASSERT_OK(OpenSecondary());
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  FaultRule memory;
  memory.operations = FaultOperation::kRead;
  memory.name_contains = ".log";
  memory.effect = FaultEffect::kThrowBadAlloc;
  calls_->AddRule(memory);
  Write();
  ASSERT_TRUE(CatchUp().IsMemoryLimit());
  calls_->ClearRules();
  FaultRule early;
  early.operations = FaultOperation::kRead;
  early.name_contains = ".log";
  early.effect = FaultEffect::kShortRead;
  calls_->ResetCounts();
  calls_->AddRule(early);
  ASSERT_OK(CatchUp());
  EXPECT_EQ(calls_->FaultsInjected(), 1u);
  ExpectAll();
}

// The log is opened only when its records are read, and by then it is shorter.
TEST_F(CatchUpTest, ALogThatWasCutBackBeforeItCouldBeOpenedIsNoLongerRead) {
  ASSERT_OK(OpenSecondary());
  Write();
  ASSERT_OK(CatchUp());
  const std::string log = NewestLog();
  const Result<std::string> whole = ReadFileToString(disk_.get(), log, size_t{1} << 20);
  ASSERT_OK(whole.status());
  ASSERT_OK(WriteStringToFile(disk_.get(), whole->substr(0, whole->size() / 2), log,
                              Durability::kBuffered));
  FaultRule descriptors;
  descriptors.operations = FaultOperation::kOpenForReading;
  descriptors.name_contains = log;
  calls_->AddRule(descriptors);
  ASSERT_OK(CatchUp());
  calls_->ClearRules();
  shown_ = 0;
  ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
  ASSERT_LT(shown_, written()) << "nothing was cut off";
  ASSERT_OK(WriteStringToFile(disk_.get(), *whole, log, Durability::kBuffered));
  ASSERT_OK(CatchUp());
  ExpectAll();
}

TEST_F(CatchUpTest, WritesThatWaitInMemoryComeWhenTheyAreFlushed) {
  options_.manual_wal_flush = true;
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  ASSERT_OK(OpenSecondary());
  ExpectAll();
  Write();
  ASSERT_OK(CatchUp());
  ExpectOneMoment(written() - 1);
  EXPECT_EQ(shown_, written() - 1);
  ASSERT_OK(primary_->db()->FlushWAL(false));
  ASSERT_OK(CatchUp());
  ExpectAll();
  Write();
  FlushPrimary();
  ASSERT_OK(CatchUp());
  ExpectAll();
}

// The MANIFEST has the sequences of writes that wait in memory. An iterator from before their
// arrival does not see them later.
TEST_F(CatchUpTest, WritesThatAreOlderThanTheManifestAreShownAtOnce) {
  options_.manual_wal_flush = true;
  ASSERT_OK(primary_->Close());
  OpenPrimary();
  Write();
  ASSERT_OK(primary_->db()->FlushWAL(false));
  ASSERT_OK(OpenSecondary());
  ExpectAll();
  const uint64_t flushed = written();
  Write();
  Write();
  ColumnFamilyMetaData tables;
  primary_->db()->GetColumnFamilyMetaData(primary_->family(kSecond), &tables);
  std::vector<std::string> names;
  for (const LevelMetaData& level : tables.levels) {
    for (const SstFileMetaData& file : level.files) names.push_back(file.name);
  }
  constexpr int kLastLevel = 6;
  ASSERT_OK(primary_->db()->CompactFiles(CompactionOptions(), primary_->family(kSecond), names,
                                         kLastLevel));
  ASSERT_OK(CatchUp());
  ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(flushed));
  ASSERT_EQ(shown_, flushed);
  ASSERT_EQ(secondary_->GetLatestSequenceNumber(), primary_->db()->GetLatestSequenceNumber());
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (const auto& handle : handles_)
    iterators.emplace_back(secondary_->NewIterator(ReadOptions(), handle.get()));
  ASSERT_OK(primary_->db()->FlushWAL(false));
  ASSERT_OK(CatchUp());
  EXPECT_EQ(ReadAll(iterators[0].get()), states_[flushed].at(kDefaultColumnFamilyName));
  EXPECT_EQ(ReadAll(iterators[1].get()), states_[flushed].at(kSecond));
  ExpectAll();
}

TEST_F(CatchUpTest, APrimaryThatIsOpenedAgainIsFollowed) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 6; ++i) {
    options_.avoid_flush_during_recovery = i % 2 == 0;
    Write();
    if (i % 3 == 0) {
      ASSERT_OK(CatchUp());
    }
    ASSERT_OK(primary_->Close());
    primary_.reset();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    OpenPrimary();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
}

TEST_F(CatchUpTest, LogsInAnotherDirectoryAreFollowed) {
  ASSERT_OK(primary_->Close());
  Options options = options_;
  options.env = &secondary_env_;
  ASSERT_OK(DestroyDB(OpenDatabase::kPath, options));
  states_.resize(1);
  options_.wal_dir = "/logs";
  OpenPrimary();
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 5; ++i) {
    Step();
    ASSERT_OK(CatchUp());
    ExpectAll();
  }
}

// ---- Families.

TEST_F(CatchUpTest, FamiliesThatAreCreatedLaterAreIgnored) {
  ASSERT_OK(OpenSecondary());
  ASSERT_OK(primary_->CreateFamily("third"));
  for (int i = 0; i < 4; ++i) {
    Write({{Change::Kind::kPut, "third", StrCat("key", i), "value"}});
    if (i % 2 == 1) Step();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
  ASSERT_OK(primary_->DropFamily("third"));
  Write();
  ASSERT_OK(CatchUp());
  ExpectAll();
}

TEST_F(CatchUpTest, ADroppedFamilyStaysReadableAsItWas) {
  ASSERT_OK(OpenSecondary());
  Write();
  ASSERT_OK(CatchUp());
  const FamilyContents before = Read(1);
  ASSERT_OK(primary_->Write({{Change::Kind::kPut, kSecond, "never", "seen"}}, WriteOptions()));
  ASSERT_OK(primary_->DropFamily(kSecond));
  Contents last = states_.back();
  for (int i = 0; i < 20; ++i) {
    const Commit commit = {
        {Change::Kind::kPut, kDefaultColumnFamilyName, StrCat("after", i), "value"}};
    Apply(commit, &last);
    ASSERT_OK(primary_->Write(commit, WriteOptions()));
    if (i % 4 == 0) FlushPrimary();
    // A new family of the same name is another family.
    if (i == 10) {
      ASSERT_OK(primary_->CreateFamily(kSecond));
    }
    ASSERT_OK(CatchUp());
    EXPECT_EQ(Read(0), last[kDefaultColumnFamilyName]);
    EXPECT_EQ(Read(1), before);
  }
  ASSERT_OK(secondary_->Close());
  const Status opened_again = OpenSecondary();
  ASSERT_OK(opened_again);
  EXPECT_EQ(Read(1), FamilyContents());
}

// ---- Tables.

TEST_F(CatchUpTest, ATableThatIsGoneIsAnErrorThatSaysWhatToDo) {
  options_.max_open_files = 1;
  ASSERT_OK(OpenSecondary());
  const uint64_t shown = written();
  for (int i = 0; i < 4; ++i) Step();
  bool failed = false;
  for (const auto& [key, value] : states_[shown].at(kSecond)) {
    std::string got;
    const Status status = secondary_->Get(ReadOptions(), handles_[1].get(), key, &got);
    if (status.ok()) {
      EXPECT_EQ(got, value);
      continue;
    }
    failed = true;
    EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
    EXPECT_NE(status.ToString().find("catch up"), std::string::npos) << status.ToString();
  }
  EXPECT_TRUE(failed) << "no table is missing";
  ASSERT_OK(CatchUp());
  ExpectAll();
}

TEST_F(CatchUpTest, IngestedFilesAreFollowedInTheirOrder) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 6; ++i) {
    Write();
    Ingest({"key1", "key5"}, StrCat("ingested", i));
    if (i % 2 == 0) {
      ASSERT_OK(CatchUp());
      ASSERT_NO_FATAL_FAILURE(ExpectAll());
    }
    Write();
    ASSERT_OK(CatchUp());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
}

// ---- Everything.

TEST_F(CatchUpTest, RandomHistories) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    options_.max_manifest_file_size = random.OneIn(2) ? 600 : 100000;
    options_.write_buffer_size = random.OneIn(2) ? 8 << 10 : 64 << 10;
    options_.avoid_flush_during_recovery = random.OneIn(2);
    ASSERT_OK(primary_->Close());
    OpenPrimary();
    ASSERT_OK(OpenSecondary());
    for (int i = 0; i < 150; ++i) {
      const std::string family = random.OneIn(2) ? kSecond : kDefaultColumnFamilyName;
      const std::string key = StrCat("r", random.Uniform(40));
      switch (random.Uniform(12)) {
        case 0: Write({{Change::Kind::kDelete, family, key, ""}}); break;
        case 1: Write({{Change::Kind::kDeleteRange, family, key, key + "9"}}); break;
        case 2: Write({{Change::Kind::kMerge, family, key, StrCat(i)}}); break;
        case 3: ASSERT_OK(primary_->Flush({family}, random.OneIn(2))); break;
        case 4: FlushPrimary(); break;
        case 5:
          ASSERT_OK(primary_->db()->CompactRange(CompactRangeOptions(), primary_->family(family),
                                                 nullptr, nullptr));
          break;
        case 6:
          if (!random.OneIn(4)) break;
          ASSERT_OK(primary_->Close());
          OpenPrimary();
          break;
        default:
          Write({{Change::Kind::kPut, family, key,
                  std::string(static_cast<size_t>(random.Uniform(600)), 'v')}});
      }
      if (random.OneIn(3)) {
        ASSERT_OK(CatchUp());
        ASSERT_NO_FATAL_FAILURE(ExpectAll());
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
