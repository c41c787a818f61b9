// A secondary of a process that writes, flushes, compacts, replaces its MANIFEST, creates and drops
// families, and is killed repeatedly. The secondary catches up continuously. It shows the state
// after some number of the child's commits in both families. That number is no lower than the
// commits acknowledged before the call, and never decreases. If it is promoted after a kill, it has
// every acknowledged commit and makes the next ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/kill/killed_child.h"
#include "tests/kill/small_levels.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

const char* const kFamilies[] = {"default", "other"};
constexpr char kVictim[] = "victim";
constexpr uint64_t kCommitsPerVictim = 150;

using Contents = std::map<std::string, std::string>;
using BothContents = std::array<Contents, std::size(kFamilies)>;

Options SmallOptions() {
  Options options = SmallLevels();
  options.max_manifest_file_size = 3000;
  return options;
}

// Commit i of the child, the same in both families.
class CommitPlan {
 public:
  explicit CommitPlan(uint64_t commit) : commit_(commit), random_(commit) {
    key_ = StrCat("key", random_.Uniform(150));
    kind_ = random_.Uniform(12);
    value_ = StrCat(commit, ":", std::string(static_cast<size_t>(random_.Uniform(500)), 'x'));
  }

  Status AddTo(WriteBatch* batch, ColumnFamilyHandle* family) const {
    Status status = batch->Put(family, "commit", StrCat(commit_));
    if (!status.ok()) return status;
    switch (kind_) {
      case 0: return batch->Delete(family, key_);
      case 1: return batch->DeleteRange(family, key_, key_ + "5");
      case 2: return batch->Merge(family, key_, value_);
      default: return batch->Put(family, key_, value_);
    }
  }
  void ApplyTo(Contents* contents) const {
    (*contents)["commit"] = StrCat(commit_);
    switch (kind_) {
      case 0: contents->erase(key_); break;
      case 1:
        contents->erase(contents->lower_bound(key_), contents->lower_bound(key_ + "5"));
        break;
      case 2:
        if (const auto there = contents->find(key_); there != contents->end()) {
          there->second += "," + value_;
          break;
        }
        [[fallthrough]];
      default: (*contents)[key_] = value_;
    }
  }

 private:
  const uint64_t commit_;
  Random random_;
  std::string key_;
  uint64_t kind_ = 0;
  std::string value_;
};

class Child {
 public:
  Status Open(const std::string& directory) {
    std::vector<std::string> names;
    static_cast<void>(DB::ListColumnFamilies(SmallOptions(), directory, &names).ok());
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* const name : kFamilies) families.emplace_back(name, SmallOptions());
    for (const std::string& name : names) {
      if (name.starts_with(kVictim)) families.emplace_back(name, SmallOptions());
    }
    const Status opened = DB::Open(SmallOptions(), directory, families, &handles_, &db_);
    if (!opened.ok()) return opened;
    // Left by an earlier child.
    while (handles_.size() > std::size(kFamilies)) {
      Status dropped = db_->DropColumnFamily(handles_.back());
      if (!dropped.ok()) return dropped;
      delete handles_.back();
      handles_.pop_back();
    }
    std::string last;
    const Status found = db_->Get(ReadOptions(), "commit", &last);
    commit_ = found.ok() ? std::stoull(last) : 0;
    return found.IsNotFound() ? Status::OK() : found;
  }

  Status CommitNext() {
    ++commit_;
    WriteBatch batch;
    for (size_t family = 0; family < std::size(kFamilies); ++family) {
      Status added = CommitPlan(commit_).AddTo(&batch, handles_[family]);
      if (!added.ok()) return added;
    }
    if (commit_ % kCommitsPerVictim == 0) {
      Status replaced = ReplaceVictim();
      if (!replaced.ok()) return replaced;
    }
    if (victim_ != nullptr) {
      Status added = batch.Put(victim_, StrCat(commit_), std::string(300, 'v'));
      if (!added.ok()) return added;
    }
    return db_->Write(WriteOptions(), &batch);
  }
  uint64_t commit() const { return commit_; }

 private:
  Status ReplaceVictim() {
    if (victim_ != nullptr) {
      Status dropped = db_->DropColumnFamily(victim_);
      if (!dropped.ok()) return dropped;
      delete std::exchange(victim_, nullptr);
    }
    return db_->CreateColumnFamily(SmallOptions(), StrCat(kVictim, commit_), &victim_);
  }

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  ColumnFamilyHandle* victim_ = nullptr;
  uint64_t commit_ = 0;
};

// Not a test, but the code of the child. It never ends on its own.
TEST(SecondaryKillChild, DISABLED_Load) {
  LoadPlan plan;
  int pipe = -1;
  if (!PlanOfThisChild(&plan, &pipe)) GTEST_SKIP() << "started by the tests below";
  Child child;
  Status status = child.Open(plan.directory);
  if (status.ok()) SendReport(pipe, {.kind = LoadReport::kOpened});
  while (status.ok()) {
    status = child.CommitNext();
    if (status.ok()) SendReport(pipe, {.kind = LoadReport::kCommitted, .commit = child.commit()});
  }
  std::fprintf(stderr, "the child failed: %s\n", status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}

class SecondaryKillTest : public ::testing::Test {
 protected:
  ~SecondaryKillTest() override {
    for (ColumnFamilyHandle* const handle : handles_) delete handle;
  }

  void CloseSecondary() {
    for (ColumnFamilyHandle* const handle : handles_) delete handle;
    handles_.clear();
    secondary_.reset();
  }
  void OpenSecondary(bool with_victims = false) {
    CloseSecondary();
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* const name : kFamilies) families.emplace_back(name, SmallOptions());
    std::vector<std::string> names;
    if (with_victims) {
      ASSERT_OK(DB::ListColumnFamilies(SmallOptions(), plan_.directory, &names));
    }
    for (const std::string& name : names) {
      if (name.starts_with(kVictim)) families.emplace_back(name, SmallOptions());
    }
    ASSERT_OK(DB::OpenAsSecondary(SmallOptions(), plan_.directory, scratch_.File("secondary"),
                                  families, &handles_, &secondary_));
  }
  void CatchUp() {
    const Status caught_up = secondary_->TryCatchUpWithPrimary();
    ASSERT_OK(caught_up);
    ++catch_ups_;
  }
  // Compares with the contents after shown_ commits.
  void Compare(uint64_t at_least) {
    std::vector<Iterator*> made;
    const std::vector<ColumnFamilyHandle*> both(handles_.begin(),
                                                handles_.begin() + std::size(kFamilies));
    ASSERT_OK(secondary_->NewIterators(ReadOptions(), both, &made));
    BothContents found;
    for (size_t family = 0; family < made.size(); ++family) {
      const std::unique_ptr<Iterator> it(made[family]);
      for (it->SeekToFirst(); it->Valid(); it->Next())
        found[family][it->key().ToString()] = it->value().ToString();
      EXPECT_OK(it->status());
    }
    const auto last = found[0].find("commit");
    const uint64_t commits = last == found[0].end() ? 0 : std::stoull(last->second);
    ASSERT_GE(commits, at_least) << "a commit that was acknowledged before the call is missing";
    ASSERT_GE(commits, shown_) << "the secondary went back";
    while (shown_ < commits) {
      ++shown_;
      for (Contents& contents : expected_) CommitPlan(shown_).ApplyTo(&contents);
    }
    for (size_t family = 0; family < std::size(kFamilies); ++family)
      ASSERT_TRUE(found[family] == expected_[family]) << "not the state after commit " << commits;
  }

  const ScratchDirectory scratch_;
  const LoadPlan plan_{.load = "SecondaryKillChild.DISABLED_Load",
                       .directory = scratch_.File("db"),
                       .threads = 1,
                       .sync = false,
                       .variant = "",
                       .commits = {}};
  std::unique_ptr<DB> secondary_;
  std::vector<ColumnFamilyHandle*> handles_;
  BothContents expected_;
  uint64_t shown_ = 0;
  uint64_t catch_ups_ = 0;
};

TEST_F(SecondaryKillTest, ShowsAPrefixThatOnlyGrows) {
  constexpr uint64_t kLives = 6;
  constexpr uint64_t kCatchUpsPerLife = 60;
  uint64_t acknowledged = 0;
  for (uint64_t life = 0; life < kLives; ++life) {
    SCOPED_TRACE(StrCat("life ", life));
    KilledChild child(plan_);
    ASSERT_TRUE(child.Await(1, LoadReport::kOpened));
    if (secondary_ == nullptr) {
      ASSERT_NO_FATAL_FAILURE(OpenSecondary());
    }
    for (uint64_t i = 0; i < kCatchUpsPerLife; ++i) {
      ASSERT_TRUE(child.Await(20, LoadReport::kCommitted));
      child.ReadWaiting();
      acknowledged = std::max(acknowledged, child.acknowledged().at(0));
      ASSERT_NO_FATAL_FAILURE(CatchUp());
      ASSERT_NO_FATAL_FAILURE(Compare(acknowledged));
    }
    ASSERT_TRUE(child.KillAt({.reports = 5 + life, .micros = 100 * life}));
    acknowledged = std::max(acknowledged, child.acknowledged().at(0));
    // No writer is running.
    ASSERT_NO_FATAL_FAILURE(CatchUp());
    ASSERT_NO_FATAL_FAILURE(Compare(acknowledged));
  }
  std::printf("%llu catch-ups, %llu commits\n", static_cast<unsigned long long>(catch_ups_),
              static_cast<unsigned long long>(shown_));
}

TEST_F(SecondaryKillTest, PromotedItHasEveryAcknowledgedCommit) {
  constexpr uint64_t kLives = 6;
  for (uint64_t life = 0; life < kLives; ++life) {
    SCOPED_TRACE(StrCat("life ", life));
    KilledChild child(plan_);
    ASSERT_TRUE(child.Await(1, LoadReport::kOpened));
    ASSERT_NO_FATAL_FAILURE(OpenSecondary());
    ASSERT_TRUE(child.Await(200 + 30 * life, LoadReport::kCommitted));
    const Status early = secondary_->PromoteToPrimary();
    ASSERT_TRUE(early.IsBusy()) << early.ToString();
    ASSERT_NO_FATAL_FAILURE(CatchUp());
    ASSERT_TRUE(child.KillAt({.reports = 5 + life, .micros = 100 * life}));
    Status promoted = secondary_->PromoteToPrimary();
    if (promoted.IsInvalidArgument()) {
      // The child had created a family that is unknown to the secondary.
      EXPECT_NE(promoted.ToString().find(kVictim), std::string::npos) << promoted.ToString();
      ASSERT_NO_FATAL_FAILURE(OpenSecondary(/*with_victims=*/true));
      promoted = secondary_->PromoteToPrimary();
    }
    ASSERT_OK(promoted);
    ASSERT_NO_FATAL_FAILURE(Compare(child.acknowledged().at(0)));
    for (int i = 0; i < 300; ++i) {
      WriteBatch batch;
      for (size_t family = 0; family < std::size(kFamilies); ++family)
        ASSERT_OK(CommitPlan(shown_ + 1).AddTo(&batch, handles_[family]));
      ASSERT_OK(secondary_->Write(WriteOptions(), &batch));
      ++shown_;
      for (Contents& contents : expected_) CommitPlan(shown_).ApplyTo(&contents);
    }
    ASSERT_NO_FATAL_FAILURE(Compare(shown_));
    CloseSecondary();
  }
}

}  // namespace
}  // namespace ashlar
