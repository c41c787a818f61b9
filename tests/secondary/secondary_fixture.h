// SecondaryFixture: a primary whose batches are numbered, and a secondary that must show the state
// after one of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/check_invariants.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/open_database.h"

namespace ashlar {

class SecondaryFixture : public ::testing::Test {
 protected:
  static constexpr const char* kSecond = "second";
  static constexpr const char* kOwnPath = "/secondary";
  static constexpr const char* kNumberKey = "number";

  // Small MANIFESTs, so that they are replaced often.
  SecondaryFixture() { options_.max_manifest_file_size = 600; }

  void OpenPrimary() {
    primary_ = std::make_unique<OpenDatabase>(primary_files_, options_, 1);
    ASSERT_OK(primary_->Open());
    if (!primary_->families().contains(kSecond)) {
      ASSERT_OK(primary_->CreateFamily(kSecond));
    }
  }
  // Writes the next batch: these changes, and its number in both families.
  void Write(Commit commit, const WriteOptions& write_options = WriteOptions()) {
    for (const std::string& family : {kDefaultColumnFamilyName, std::string(kSecond)}) {
      commit.push_back({.kind = Change::Kind::kPut,
                        .family = family,
                        .key = kNumberKey,
                        .value = StrCat(states_.size())});
    }
    Contents next = states_.back();
    Apply(commit, &next);
    states_.push_back(std::move(next));
    ASSERT_OK(primary_->Write(commit, write_options));
  }
  void Write() {
    Commit commit;
    for (const std::string& family : {kDefaultColumnFamilyName, std::string(kSecond)}) {
      const std::string key = StrCat("key", states_.size() % 7);
      commit.push_back(
          {.kind = Change::Kind::kPut, .family = family, .key = key, .value = StrCat(key, family)});
      if (states_.size() % 5 == 0) {
        commit.push_back({.kind = Change::Kind::kMerge,
                          .family = family,
                          .key = StrCat("key", states_.size() % 3),
                          .value = StrCat(states_.size())});
      }
    }
    Write(std::move(commit));
  }
  // Writes a batch of entries "failed0", "failed1", ... in both families. It is in the log's file
  // during `meanwhile`. Then its sync fails, and it is cut off again.
  void WriteThatIsTakenBack(size_t entries, std::function<void()> meanwhile) {
    FaultRule sync;
    sync.operations = FaultOperation::kSync;
    sync.name_contains = ".log";
    primary_files_->AddRule(sync);
    FaultRule cut;
    cut.operations = FaultOperation::kTruncate;
    cut.name_contains = ".log";
    cut.effect = FaultEffect::kRunAction;
    bool ran = false;
    cut.action = [&] {
      ran = true;
      meanwhile();
    };
    primary_files_->AddRule(cut);
    Commit failed;
    for (size_t i = 0; i < entries; ++i) {
      failed.push_back({.kind = Change::Kind::kPut,
                        .family = i % 2 == 0 ? kDefaultColumnFamilyName : kSecond,
                        .key = StrCat("failed", i),
                        .value = "write"});
    }
    WriteOptions synced;
    synced.sync = true;
    EXPECT_FALSE(primary_->Write(failed, synced).ok());
    primary_files_->ClearRules();
    ASSERT_TRUE(ran);
  }
  void FlushPrimary() { ASSERT_OK(primary_->Flush(primary_->families(), true)); }
  // Makes every kind of change to the files.
  void Step() {
    Write();
    FlushPrimary();
    if (++steps_ % 2 == 0) {
      for (const std::string& family : primary_->families()) {
        ASSERT_OK(primary_->db()->CompactRange(CompactRangeOptions(), primary_->family(family),
                                               nullptr, nullptr));
      }
    }
    Write();
  }
  // Makes a step at the nth call of the secondary and, if sticky, at each later one.
  void StepAtCall(uint64_t nth, bool sticky, int steps_max) {
    RunAtCall(calls_.get(), nth, sticky, steps_max, [this] { Step(); });
  }
  // Nothing that the primary does from here on reaches a file, as after kill -9.
  void KillPrimary() {
    FaultRule dead;
    dead.operations = FaultOperation::kAnyWrite;
    dead.sticky = true;
    primary_files_->AddRule(dead);
    primary_.reset();
    primary_files_->ClearRules();
  }
  // Returns the primary's newest log.
  std::string NewestLog() const {
    std::vector<std::string> names;
    EXPECT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    std::string newest;
    for (const std::string& name : names) {
      if (name.ends_with(".log")) newest = std::max(newest, name);
    }
    return StrCat(OpenDatabase::kPath, "/", newest);
  }
  uint64_t written() const { return states_.size() - 1; }

  using Families = std::vector<ColumnFamilyDescriptor>;
  using Handles = std::vector<ColumnFamilyHandle*>;

  Status OpenSecondary() {
    return OpenReader([this](const Options& options, const Families& families, Handles* handles) {
      return DB::OpenAsSecondary(options, OpenDatabase::kPath, kOwnPath, families, handles,
                                 &secondary_);
    });
  }
  // `open` sets secondary_.
  template <typename Open>
  Status OpenReader(const Open& open) {
    CloseSecondary();
    Options options = options_;
    options.env = &secondary_env_;
    Handles handles;
    const Status opened = open(options,
                               {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options),
                                ColumnFamilyDescriptor(kSecond, options)},
                               &handles);
    for (ColumnFamilyHandle* const handle : handles) handles_.emplace_back(handle);
    shown_ = 0;
    return opened;
  }
  void CloseSecondary() {
    handles_.clear();
    secondary_.reset();
  }
  Status CatchUp() {
    const Status caught_up = secondary_->TryCatchUpWithPrimary();
    CheckInvariants(secondary_.get());
    return caught_up;
  }

  static FamilyContents ReadAll(Iterator* it) {
    FamilyContents contents;
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    return contents;
  }
  FamilyContents Read(size_t family) const {
    const std::unique_ptr<Iterator> it(
        secondary_->NewIterator(ReadOptions(), handles_[family].get()));
    FamilyContents contents = ReadAll(it.get());
    // Each way of reading returns the same.
    std::vector<Slice> keys;
    for (const auto& [key, value] : contents) {
      std::string got;
      EXPECT_OK(secondary_->Get(ReadOptions(), handles_[family].get(), key, &got));
      EXPECT_EQ(got, value) << key;
      keys.emplace_back(key);
    }
    std::vector<std::string> values;
    const std::vector<ColumnFamilyHandle*> of_each(keys.size(), handles_[family].get());
    const std::vector<Status> statuses =
        secondary_->MultiGet(ReadOptions(), of_each, keys, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_OK(statuses[i]);
      EXPECT_EQ(values[i], contents[keys[i].ToString()]);
    }
    return contents;
  }
  static uint64_t NumberOf(const FamilyContents& contents) {
    const auto number = contents.find(kNumberKey);
    return number == contents.end() ? 0 : std::stoull(number->second);
  }
  // Expects the state after one batch, which is at_least or later, and not older than the state
  // shown before.
  void ExpectOneMoment(uint64_t at_least) {
    const FamilyContents first = Read(0);
    const uint64_t number = NumberOf(first);
    ASSERT_GE(number, std::max(at_least, shown_));
    ASSERT_LE(number, written());
    EXPECT_EQ(first, states_[number].at(kDefaultColumnFamilyName)) << "after batch " << number;
    EXPECT_EQ(Read(1), states_[number].at(kSecond)) << "after batch " << number;
    shown_ = number;
  }
  void ExpectAll() { ExpectOneMoment(written()); }

  Options options_ = SmallDatabaseOptions();
  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> primary_files_ = std::make_shared<FaultFileSystem>(disk_);
  const std::shared_ptr<FaultFileSystem> calls_ = std::make_shared<FaultFileSystem>(disk_);
  std::unique_ptr<OpenDatabase> primary_;
  ManualEnv secondary_env_{calls_, 2};
  std::unique_ptr<DB> secondary_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> handles_;
  // The contents after each batch; the first is the empty database.
  std::vector<Contents> states_ = {{{kDefaultColumnFamilyName, {}}, {kSecond, {}}}};
  uint64_t shown_ = 0;  // by the secondary, at the last check
  int steps_ = 0;
};

}  // namespace ashlar
