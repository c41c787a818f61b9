// Obsolete files that the file system refuses to delete, like a file that another program holds on
// Windows. Deletion is retried after delete_obsolete_files_period_micros.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/listener.h"
#include "filesystem/memory_file_system.h"
#include "gtest/gtest.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr uint64_t kPeriodMicros = 60'000'000;
constexpr const char* kPath = "db";

class DeletionCounts final : public EventListener {
 public:
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    ++(info.status.ok() ? deleted : failed);
  }
  std::atomic<int> deleted{0};
  std::atomic<int> failed{0};
};

// Sets an option at the next deletion of a table.
class OptionSetter final : public EventListener {
 public:
  void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) override {
    DB* const db = std::exchange(db_, nullptr);
    if (db == nullptr) return;
    EXPECT_OK(db->SetOptions({{"max_bytes_for_level_multiplier", "7"}}));
    was_called_ = true;
  }
  void SetAtNextDeletion(DB* db) { db_ = db; }
  bool was_called() const { return was_called_; }

 private:
  DB* db_ = nullptr;
  bool was_called_ = false;
};

class UndeletedFilesTest : public ::testing::Test {
 protected:
  UndeletedFilesTest() {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.delete_obsolete_files_period_micros = kPeriodMicros;
    options_.info_log = std::make_shared<SilentLogger>();
    options_.listeners.push_back(counts_);
  }
  void Open() { ASSERT_OK(DB::Open(options_, kPath, &db_)); }
  void RefuseDeletions(const std::string& name_contains) {
    FaultRule rule;
    rule.operations = FaultOperation::kDelete;
    rule.name_contains = name_contains;
    rule.sticky = true;
    faults_->AddRule(rule);
  }
  // Makes one more table. The end of its job deletes obsolete files.
  void MakeTable() {
    ASSERT_OK(db_->Put(WriteOptions(), "key", std::to_string(++writes_)));
    ASSERT_OK(db_->Flush(FlushOptions()));
    while (env_.RunOneJob()) continue;
  }
  // Makes all existing tables obsolete.
  void Compact() {
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
    while (env_.RunOneJob()) continue;
  }
  uint64_t Deletions() const { return faults_->CallCount(FaultOperation::kDelete); }
  int Files(const std::string& suffix) const {
    std::vector<std::string> names;
    EXPECT_OK(faults_->GetChildren(kPath, &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.ends_with(suffix);
    }));
  }

  const std::shared_ptr<FaultFileSystem> faults_ =
      std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  ManualEnv env_{faults_, 1};
  const std::shared_ptr<DeletionCounts> counts_ = std::make_shared<DeletionCounts>();
  Options options_;
  std::unique_ptr<DB> db_;
  int writes_ = 0;
};

TEST_F(UndeletedFilesTest, ATableIsTriedAgainAfterThePeriod) {
  Open();
  MakeTable();
  RefuseDeletions(".sst");
  Compact();
  ASSERT_EQ(counts_->failed, 1);
  ASSERT_EQ(Files(".sst"), 2);
  faults_->ClearRules();

  env_.clock()->SleepForMicros(kPeriodMicros - 1);
  MakeTable();
  EXPECT_EQ(Files(".sst"), 3) << "the period has not passed";
  env_.clock()->SleepForMicros(1);
  MakeTable();
  EXPECT_EQ(Files(".sst"), 3);
  EXPECT_EQ(counts_->deleted, 1);
  const uint64_t deletions = Deletions();
  env_.clock()->SleepForMicros(kPeriodMicros);
  MakeTable();
  EXPECT_LE(Deletions(), deletions + 1) << "the log of the memtable, and no table";
}

// A job does not wait for another job or call that deletes, and no file is forgotten.
TEST_F(UndeletedFilesTest, AJobLeavesItsFilesToOneThatDeletes) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  MakeTable();
  int flushes = 0;
  FaultRule rule;
  rule.operations = FaultOperation::kDelete;
  rule.name_contains = ".sst";
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    std::thread([&] {
      EXPECT_OK(db_->Put(WriteOptions(), "key", "of another job"));
      EXPECT_OK(db_->Flush(FlushOptions()));
      ++flushes;
    }).join();
  };
  faults_->AddRule(rule);
  MakeTable();  // and the compaction of both tables, which deletes them
  EXPECT_EQ(flushes, 1);
  EXPECT_EQ(counts_->deleted, 2);
  EXPECT_EQ(Files(".sst"), 2);
  EXPECT_EQ(Files(".log"), 1);
  faults_->ClearRules();
  faults_->AddRule(rule);
  Compact();
  EXPECT_EQ(flushes, 2);
  std::vector<LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  EXPECT_EQ(Files(".sst"), static_cast<int>(live.size()));
  EXPECT_EQ(Files(".log"), 1);
}

TEST_F(UndeletedFilesTest, AListenerMaySetOptionsWhileAnotherChangeOfOptionsDeletesFiles) {
  const auto setter = std::make_shared<OptionSetter>();
  options_.listeners.push_back(setter);
  Open();
  MakeTable();
  RefuseDeletions(".sst");
  Compact();
  ASSERT_EQ(counts_->failed, 1);
  faults_->ClearRules();
  env_.clock()->SleepForMicros(kPeriodMicros);
  setter->SetAtNextDeletion(db_.get());
  ASSERT_OK(db_->SetOptions({{"level0_file_num_compaction_trigger", "9"}}));
  EXPECT_EQ(counts_->deleted, 1);
  EXPECT_TRUE(setter->was_called());
  EXPECT_EQ(db_->GetOptions().max_bytes_for_level_multiplier, 7);
  EXPECT_EQ(db_->GetOptions().level0_file_num_compaction_trigger, 9);
}

TEST_F(UndeletedFilesTest, AFileThatStaysHeldIsTriedOncePerPeriod) {
  Open();
  MakeTable();
  RefuseDeletions(".sst");
  Compact();
  for (int period = 1; period <= 3; ++period) {
    ASSERT_EQ(counts_->failed, period);
    MakeTable();
    EXPECT_EQ(counts_->failed, period) << "the period has not passed";
    env_.clock()->SleepForMicros(kPeriodMicros);
    MakeTable();
  }
  EXPECT_EQ(counts_->failed, 4);
}

TEST_F(UndeletedFilesTest, ALogIsTriedAgain) {
  Open();
  MakeTable();
  const int logs = Files(".log");
  RefuseDeletions(".log");
  MakeTable();
  ASSERT_EQ(Files(".log"), logs + 1);
  faults_->ClearRules();
  env_.clock()->SleepForMicros(kPeriodMicros);
  MakeTable();
  EXPECT_EQ(Files(".log"), logs);
}

TEST_F(UndeletedFilesTest, ThePeriodMayChangeWhileTheDatabaseIsOpen) {
  Open();
  MakeTable();
  RefuseDeletions(".sst");
  Compact();
  faults_->ClearRules();
  ASSERT_OK(db_->SetDBOptions({{"delete_obsolete_files_period_micros", "0"}}));
  MakeTable();
  EXPECT_EQ(Files(".sst"), 2);
}

TEST_F(UndeletedFilesTest, WhatTheOpenCouldNotDeleteIsTriedAgain) {
  Open();
  MakeTable();
  RefuseDeletions(".sst");
  Compact();
  db_.reset();
  Open();
  ASSERT_EQ(Files(".sst"), 2);
  faults_->ClearRules();
  env_.clock()->SleepForMicros(kPeriodMicros);
  MakeTable();
  EXPECT_EQ(Files(".sst"), 2) << "the new table replaced the orphan";
}

}  // namespace
}  // namespace ashlar
