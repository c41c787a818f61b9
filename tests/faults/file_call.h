// FileCall: a call that takes files into or out of a database, on a disk that fails or fills up,
// and the sweeps that are common to such calls.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {

class FileCall {
 public:
  FileCall() : FileCall(SmallDatabaseOptions()) {}
  explicit FileCall(Options settings) : settings_(std::move(settings)) {}
  virtual ~FileCall() = default;

  // Opens the database and writes the files. No errors are injected.
  virtual void Prepare() = 0;
  virtual Status Run() = 0;
  // Expects the result of a successful call.
  virtual void ExpectAll() {
    Reopen();
    ExpectContents(after_);
  }

  // Called after an error. No more errors are injected.
  virtual void CheckAfterError() {
    ExpectContents(before_);
    for (const auto& [path, wanted] : files_) {
      std::string bytes;
      ASSERT_OK(Read(path, &bytes));
      EXPECT_TRUE(bytes == wanted) << path << " has changed";
    }
    const Status resumed = database_->db()->Resume();
    ASSERT_TRUE(resumed.ok()) << resumed.ToString();
    ExpectContents(before_);
  }
  void Reopen() {
    if (database_->db() != nullptr)
      static_cast<void>(database_->Close());  // may return a latched error
    database_ = std::make_unique<OpenDatabase>(faults_, settings_, 1);
    ASSERT_OK(database_->Open());
    ExpectNoOrphan();
  }
  void ExpectEither() {
    Contents found;
    ASSERT_OK(database_->Read(&found));
    EXPECT_TRUE(found == before_ || found == after_) << "a part of the call";
  }
  virtual void ExpectNoOrphan() {
    std::vector<LiveFileMetaData> live;
    database_->db()->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    ASSERT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    const auto tables = std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
    EXPECT_EQ(static_cast<size_t>(tables), live.size()) << "a table belongs to nobody";
  }

  FaultFileSystem* faults() { return faults_.get(); }
  MemoryFileSystem* disk() { return disk_.get(); }
  uint64_t BytesUsed() const {
    uint64_t bytes = 0;
    std::set<const void*> counted;  // a file may have several names
    for (const MemoryImage::Entry& entry : disk_->Snapshot().entries) {
      if (!entry.is_directory && counted.insert(entry.bytes.get()).second)
        bytes += entry.bytes->size();
    }
    return bytes;
  }

 protected:
  Status Read(const std::string& path, std::string* bytes) {
    constexpr size_t kFileBytesMax = 1 << 20;
    ASHLAR_ASSIGN_OR_RETURN(*bytes, ReadFileToString(disk_.get(), path, kFileBytesMax));
    return Status::OK();
  }
  // Expects this file to stay unchanged after an error.
  void Keep(const std::string& path) {
    std::string bytes;
    ASSERT_OK(Read(path, &bytes));
    files_.emplace_back(path, std::move(bytes));
  }
  void Write(const Commit& commit) {
    ASSERT_OK(database_->Write(commit, WriteOptions()));
    Apply(commit, &before_);
  }
  void ExpectContents(const Contents& wanted) {
    Contents found;
    ASSERT_OK(database_->Read(&found));
    EXPECT_TRUE(found == wanted);
  }

  const Options settings_;
  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
  std::unique_ptr<OpenDatabase> database_ = std::make_unique<OpenDatabase>(faults_, settings_, 1);
  std::vector<std::pair<std::string, std::string>> files_;  // path, bytes
  Contents before_;
  Contents after_;
};

using MakeFileCall = std::function<std::unique_ptr<FileCall>()>;

// Runs one call with the rule. Returns true if the rule matched a file system call; counts errors.
inline bool RunWith(const MakeFileCall& make, const FaultRule& rule, bool reopens_first,
                    uint64_t* errors) {
  const std::unique_ptr<FileCall> call = make();
  call->Prepare();
  if (::testing::Test::HasFailure()) return false;
  call->faults()->ResetCounts();
  call->faults()->AddRule(rule);
  const Status status = call->Run();
  const bool met = call->faults()->FaultsInjected() > 0;
  call->faults()->ClearRules();
  EXPECT_TRUE(status.ok() || met) << status.ToString();
  if (status.ok()) {
    call->ExpectAll();
    return met;
  }
  ++*errors;
  if (reopens_first) {
    call->Reopen();
    call->ExpectEither();
    return met;
  }
  call->CheckAfterError();
  if (::testing::Test::HasFailure()) return met;
  const Status again = call->Run();
  EXPECT_TRUE(again.ok()) << again.ToString();
  call->ExpectAll();
  return met;
}

// Expects an error at each file system call in turn to change nothing. opens_after_error: the
// database can be opened afterwards.
inline void SweepErrors(const MakeFileCall& make, bool opens_after_error = true) {
  uint64_t errors = 0;
  for (const FaultEffect effect :
       {FaultEffect::kFailBefore, FaultEffect::kFailAfter, FaultEffect::kPartialAppend}) {
    for (const bool sticky : {false, true}) {
      for (const bool reopens_first : {false, true}) {
        if (reopens_first && !opens_after_error) continue;
        FaultRule rule;
        rule.effect = effect;
        rule.sticky = sticky;
        if (effect == FaultEffect::kPartialAppend) rule.error = Status::NoSpace("injected");
        bool met = true;
        for (rule.nth = 1; met && !::testing::Test::HasFailure(); ++rule.nth) {
          SCOPED_TRACE(StrCat("call ", rule.nth, sticky ? " and every later one" : "", ", effect ",
                              static_cast<int>(effect), reopens_first ? ", reopened" : ""));
          met = RunWith(make, rule, reopens_first, &errors);
        }
        EXPECT_GT(rule.nth, 20U);
      }
    }
  }
  EXPECT_GT(errors, 100U);
}

// Expects a disk that fills up after this many bytes to leave no orphan. Counts the places tried.
inline void SweepFullDisk(const MakeFileCall& make, uint64_t step_bytes, uint64_t* places) {
  bool was_full = true;
  for (uint64_t spare_bytes = 0; was_full && !::testing::Test::HasFailure();
       spare_bytes += step_bytes, ++*places) {
    SCOPED_TRACE(StrCat(spare_bytes, " bytes free"));
    const std::unique_ptr<FileCall> call = make();
    call->Prepare();
    if (::testing::Test::HasFailure()) return;
    call->disk()->SetCapacityBytes(call->BytesUsed() + spare_bytes);
    const Status status = call->Run();
    was_full = !status.ok();
    if (was_full) {
      EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    }
    call->disk()->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
    if (was_full) {
      call->CheckAfterError();
      if (::testing::Test::HasFailure()) return;
      call->ExpectNoOrphan();
      ASSERT_OK(call->Run());
    }
    call->ExpectAll();
  }
}

}  // namespace ashlar
