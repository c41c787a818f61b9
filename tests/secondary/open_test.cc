// The contract of a secondary: its refusals, and that it changes nothing in the primary.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "tests/secondary/secondary_fixture.h"

namespace ashlar {
namespace {

class OpenSecondaryTest : public SecondaryFixture {
 protected:
  void SetUp() override {
    OpenPrimary();
    for (int i = 0; i < 4; ++i) Step();
    Write();
  }
};

TEST_F(OpenSecondaryTest, ShowsWhatThePrimaryHasWrittenAndFollowsIt) {
  ASSERT_OK(OpenSecondary());
  ExpectAll();
  for (int i = 0; i < 20; ++i) {
    Write();
    ASSERT_OK(CatchUp());
    ExpectAll();
    if (i % 3 == 0) Step();
  }
}

TEST_F(OpenSecondaryTest, TheDefaultFamilyAloneIsEnough) {
  Options options = options_;
  options.env = &secondary_env_;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, kOwnPath, &secondary_));
  for (int i = 0; i < 10; ++i) {
    Step();
    ASSERT_OK(secondary_->TryCatchUpWithPrimary());
    const std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions()));
    EXPECT_EQ(ReadAll(it.get()), states_.back().at(kDefaultColumnFamilyName));
  }
  DB* raw = nullptr;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, kOwnPath, &raw));
  const std::unique_ptr<DB> other(raw);
  std::string value;
  EXPECT_OK(other->Get(ReadOptions(), kNumberKey, &value));
  EXPECT_EQ(value, StrCat(written()));
}

TEST_F(OpenSecondaryTest, ChangesNothingOfThePrimary) {
  calls_->ResetCounts();
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 10; ++i) {
    Step();
    ASSERT_OK(CatchUp());
    ExpectAll();
  }
  ASSERT_OK(secondary_->Close());
  CloseSecondary();
  EXPECT_EQ(calls_->CallCount(FaultOperation::kAnyWrite | FaultOperation::kLock), 0u);
}

TEST_F(OpenSecondaryTest, ItsLogIsInItsOwnDirectory) {
  options_.info_log = nullptr;
  ASSERT_OK(OpenSecondary());
  std::vector<std::string> names;
  ASSERT_OK(disk_->GetChildren(kOwnPath, &names));
  EXPECT_EQ(names, std::vector<std::string>{"LOG"});
  ASSERT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
  EXPECT_EQ(std::count(names.begin(), names.end(), "LOG"), 0) << "the primary has a silent logger";
}

TEST_F(OpenSecondaryTest, ThePrimarysDirectoryIsNoPlaceForItsLog) {
  Options options = options_;
  options.env = &secondary_env_;
  options.info_log = nullptr;
  for (const char* const path : {"/db", "/db/"}) {
    const Status opened = DB::OpenAsSecondary(options, "/db", path, &secondary_);
    EXPECT_TRUE(opened.IsInvalidArgument()) << opened.ToString();
  }
  options.info_log = options_.info_log;
  EXPECT_OK(DB::OpenAsSecondary(options, "/db", "/db", &secondary_));
}

TEST_F(OpenSecondaryTest, WhatIsNotThereIsRefused) {
  Options options = options_;
  options.env = &secondary_env_;
  options.create_if_missing = true;
  const Status nothing = DB::OpenAsSecondary(options, "/nothing", kOwnPath, &secondary_);
  EXPECT_TRUE(nothing.IsPathNotFound()) << nothing.ToString();
  EXPECT_TRUE(disk_->FileExists("/nothing").IsNotFound());
  EXPECT_EQ(secondary_, nullptr);
  std::vector<ColumnFamilyHandle*> handles;
  const Status family =
      DB::OpenAsSecondary(options, "/db", kOwnPath,
                          {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options),
                           ColumnFamilyDescriptor("another", options)},
                          &handles, &secondary_);
  EXPECT_TRUE(family.IsInvalidArgument()) << family.ToString();
  EXPECT_NE(family.ToString().find("another"), std::string::npos) << family.ToString();
  EXPECT_TRUE(handles.empty());
}

TEST_F(OpenSecondaryTest, OtherCallsThanReadsAreNotSupportedAndSayWhy) {
  ASSERT_OK(OpenSecondary());
  DB* const db = secondary_.get();
  WriteBatch batch;
  ASSERT_OK(batch.Put("key", "value"));
  const Slice begin("a");
  const Slice end("b");
  const RangePtr range(&begin, &end);
  ColumnFamilyHandle* made = nullptr;
  std::vector<std::string> files;
  for (const Status& status : {db->Put(WriteOptions(), "key", "value"),
                               db->Delete(WriteOptions(), "key"),
                               db->SingleDelete(WriteOptions(), "key"),
                               db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "a", "b"),
                               db->Merge(WriteOptions(), "key", "value"),
                               db->Write(WriteOptions(), &batch),
                               db->Flush(FlushOptions()),
                               db->CompactRange(CompactRangeOptions(), nullptr, nullptr),
                               db->SetOptions({{"write_buffer_size", "100000"}}),
                               db->SetDBOptions({{"max_background_jobs", "3"}}),
                               db->CreateColumnFamily(options_, "third", &made),
                               db->DropColumnFamily(handles_[1].get()),
                               db->IngestExternalFile({"/file.sst"}, IngestExternalFileOptions()),
                               db->SyncWAL(),
                               db->FlushWAL(true),
                               db->LockWAL(),
                               db->PauseBackgroundWork(),
                               db->DisableFileDeletions(),
                               db->SuggestCompactRange(db->DefaultColumnFamily(), nullptr, nullptr),
                               db->PromoteL0(db->DefaultColumnFamily(), 1),
                               db->DeleteFilesInRanges(db->DefaultColumnFamily(), &range, 1, true),
                               db->Resume(),
                               db->WaitForCompact(WaitForCompactOptions())}) {
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("secondary"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(db->GetSnapshot(), nullptr);
  const Snapshot* const foreign = primary_->db()->GetSnapshot();
  ReadOptions at_snapshot;
  at_snapshot.snapshot = foreign;
  const std::unique_ptr<Iterator> it(db->NewIterator(at_snapshot));
  EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
  primary_->db()->ReleaseSnapshot(foreign);
  ExpectAll();
}

TEST_F(OpenSecondaryTest, OnlyASecondaryCatchesUp) {
  const Status primary = primary_->db()->TryCatchUpWithPrimary();
  EXPECT_TRUE(primary.IsNotSupported()) << primary.ToString();
  Options options = options_;
  options.env = &secondary_env_;
  ASSERT_OK(DB::OpenForReadOnly(options, OpenDatabase::kPath, &secondary_));
  const Status read_only = secondary_->TryCatchUpWithPrimary();
  EXPECT_TRUE(read_only.IsNotSupported()) << read_only.ToString();
  CloseSecondary();
  ASSERT_OK(OpenSecondary());
  handles_.clear();
  ASSERT_OK(secondary_->Close());
  const Status closed = secondary_->TryCatchUpWithPrimary();
  EXPECT_TRUE(closed.IsShutdownInProgress()) << closed.ToString();
}

TEST_F(OpenSecondaryTest, CloseWaitsForIterators) {
  ASSERT_OK(OpenSecondary());
  std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions()));
  Write();
  ASSERT_OK(CatchUp());
  EXPECT_TRUE(secondary_->Close().IsAborted());
  it.reset();
  EXPECT_OK(secondary_->Close());
}

TEST_F(OpenSecondaryTest, PropertiesAreThoseOfWhatItShows) {
  ASSERT_OK(OpenSecondary());
  Step();
  ASSERT_OK(CatchUp());
  EXPECT_EQ(secondary_->GetLatestSequenceNumber(), primary_->db()->GetLatestSequenceNumber());
  std::string identity;
  std::string of_primary;
  ASSERT_OK(secondary_->GetDbIdentity(identity));
  ASSERT_OK(primary_->db()->GetDbIdentity(of_primary));
  EXPECT_EQ(identity, of_primary);
  std::vector<LiveFileMetaData> files;
  std::vector<LiveFileMetaData> files_of_primary;
  secondary_->GetLiveFilesMetaData(&files);
  primary_->db()->GetLiveFilesMetaData(&files_of_primary);
  ASSERT_EQ(files.size(), files_of_primary.size());
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].name, files_of_primary[i].name);
  std::string text;
  EXPECT_TRUE(secondary_->GetProperty("rocksdb.stats", &text));
  uint64_t keys = 0;
  EXPECT_TRUE(secondary_->GetIntProperty("rocksdb.estimate-num-keys", &keys));
  EXPECT_GT(keys, 0u);
  EXPECT_OK(secondary_->VerifyChecksum(ReadOptions()));
}

TEST_F(OpenSecondaryTest, ADatabaseThatTookThePrimarysPlaceIsRefused) {
  ASSERT_OK(OpenSecondary());
  ExpectAll();
  const FamilyContents before = Read(0);
  ASSERT_OK(primary_->Close());
  primary_.reset();
  Options options = options_;
  ManualEnv env(disk_, 3);
  options.env = &env;
  ASSERT_OK(DestroyDB(OpenDatabase::kPath, options));
  {
    OpenDatabase other(disk_, options_, 4);
    ASSERT_OK(other.Open());
    ASSERT_OK(other.CreateFamily(kSecond));
    const Status caught_up = CatchUp();
    EXPECT_TRUE(caught_up.IsCorruption()) << caught_up.ToString();
    EXPECT_EQ(Read(0), before);
    // Later, with a MANIFEST of a higher number.
    for (int i = 0; i < 30; ++i) {
      ASSERT_OK(other.Write({{Change::Kind::kPut, kDefaultColumnFamilyName, StrCat(i), "other"}},
                            WriteOptions()));
      ASSERT_OK(other.Flush(other.families(), true));
    }
    const Status later = CatchUp();
    EXPECT_TRUE(later.IsCorruption()) << later.ToString();
    EXPECT_NE(later.ToString().find("open it again"), std::string::npos) << later.ToString();
    EXPECT_EQ(Read(0), before);
  }
}

}  // namespace
}  // namespace ashlar
