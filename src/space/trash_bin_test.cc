#include "space/trash_bin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "execute/clock.h"
#include "execute/executor.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/world_env.h"

namespace ashlar {
namespace {

// Runs delayed jobs when the clock reaches their time.
class ClockedExecutor final : public Executor {
 public:
  // Advances the clock to the next job and runs it. Returns false if there is no job.
  bool RunNext() {
    if (jobs_.empty()) return false;
    const auto first = jobs_.begin();
    const std::function<void()> job = std::move(first->second);
    clock.AdvanceMicros(first->first - NowMicros());
    jobs_.erase(first);
    job();
    return true;
  }
  void RunUntil(uint64_t micros) {
    while (!jobs_.empty() && jobs_.begin()->first <= micros) RunNext();
    clock.AdvanceMicros(micros - NowMicros());
  }
  uint64_t NowMicros() { return clock.NowNanos() / 1000; }
  size_t jobs() const { return jobs_.size(); }
  void RefuseJobs(bool refuses) { refuses_ = refuses; }

  bool Schedule(Executor::Priority priority, std::function<void()> job) override {
    return ScheduleAfter(0, priority, std::move(job));
  }
  bool ScheduleAfter(uint64_t delay_us, Executor::Priority, std::function<void()> job) override {
    if (refuses_) return false;
    jobs_.emplace(NowMicros() + delay_us, std::move(job));
    return true;
  }
  Status SetBackgroundThreads(int, Executor::Priority) override { return Status::OK(); }
  Status RaiseBackgroundThreads(int, Executor::Priority) override { return Status::OK(); }
  int GetBackgroundThreads(Executor::Priority) const override { return 1; }
  size_t QueuedJobs(Executor::Priority) const override { return jobs_.size(); }
  void WaitForIdle() override {}
  void Shutdown() override {}
  bool RunJobWhileWaiting() override { return RunNext(); }

  ManualClock clock{0};

 private:
  std::multimap<uint64_t, std::function<void()>> jobs_;  // by due time in microseconds
  bool refuses_ = false;
};

class ClockedEnv final : public WorldEnv {
 public:
  using WorldEnv::WorldEnv;

  bool RunNext() { return executor_.RunNext(); }
  void RunUntil(uint64_t micros) { executor_.RunUntil(micros); }
  size_t jobs() const { return executor_.jobs(); }
  void RefuseJobs(bool refuses) { executor_.RefuseJobs(refuses); }

  Executor* executor() override { return &executor_; }
  Clock* clock() override { return &executor_.clock; }
  uint64_t NowNanos() override { return 0; }  // for programs, because the engine reads the clock

 private:
  ClockedExecutor executor_;
};

constexpr uint64_t kSecond = 1000000;
constexpr uint64_t kTotal = uint64_t{1} << 40;  // so large that no ratio is exceeded

class TrashBinTest : public ::testing::Test {
 protected:
  TrashBinTest() { EXPECT_OK(files_->CreateDir("/db")); }

  void Make(int64_t bytes_per_second, uint64_t chunk_bytes) {
    bin_ = TrashBin::Create({.env = &env_,
                             .file_system = faults_,
                             .logger = nullptr,
                             .bytes_per_second = bytes_per_second,
                             .ratio_max = 0.25,
                             .chunk_bytes_max = chunk_bytes});
    bin_->SetStatistics(statistics_);
  }
  std::string MakeFile(const std::string& name, size_t bytes) {
    const std::string path = "/db/" + name;
    EXPECT_OK(
        WriteStringToFile(files_.get(), std::string(bytes, 'x'), path, Durability::kBuffered));
    return path;
  }
  void Delete(const std::string& path) { EXPECT_OK(bin_->Delete({.path = path}, kTotal)); }
  // Returns "a=12 b=3", names without the folder, each with its size in bytes.
  std::string Files() const {
    std::vector<std::string> names;
    EXPECT_OK(files_->GetChildren("/db", &names));
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names)
      StrAppend(&text, text.empty() ? "" : " ", name, "=", Bytes("/db/" + name));
    return text;
  }
  uint64_t Bytes(const std::string& path) const {
    uint64_t bytes = 0;
    EXPECT_OK(files_->GetFileSize(path, &bytes));
    return bytes;
  }
  uint64_t BytesOnDisk() const {
    std::vector<std::string> names;
    EXPECT_OK(files_->GetChildren("/db", &names));
    uint64_t bytes = 0;
    for (const std::string& name : names) bytes += Bytes("/db/" + name);
    return bytes;
  }
  uint64_t Ticker(Tickers ticker) const { return statistics_->getTickerCount(ticker); }
  void Refuse(FaultOperation operations) {
    FaultRule rule;
    rule.operations = operations;
    rule.sticky = true;
    faults_->AddRule(rule);
  }

  const std::shared_ptr<MemoryFileSystem> files_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(files_);
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  ClockedEnv env_{faults_};
  std::shared_ptr<TrashBin> bin_;
};

TEST_F(TrashBinTest, WithoutARateFilesAreDeletedAtOnce) {
  Make(0, 0);
  Delete(MakeFile("000001.sst", 100));
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(env_.jobs(), 0u);
  EXPECT_EQ(Ticker(FILES_DELETED_IMMEDIATELY), 1u);
  EXPECT_EQ(Ticker(FILES_MARKED_TRASH), 0u);
}

TEST_F(TrashBinTest, AFileIsTrashUntilItsStep) {
  Make(1000, 0);
  Delete(MakeFile("000001.sst", 100));
  EXPECT_EQ(Files(), "000001.sst.trash=100");
  EXPECT_EQ(bin_->TrashBytes(), 100u);
  std::unordered_map<std::string, uint64_t> files;
  bin_->AddFiles(&files);
  EXPECT_EQ(files, (std::unordered_map<std::string, uint64_t>{{"/db/000001.sst.trash", 100}}));
  EXPECT_TRUE(env_.RunNext());
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(bin_->TrashBytes(), 0u);
  EXPECT_EQ(Ticker(FILES_MARKED_TRASH), 1u);
  EXPECT_EQ(Ticker(FILES_DELETED_FROM_TRASH_QUEUE), 1u);
}

// I2.
TEST_F(TrashBinTest, TheRateHoldsForEveryTime) {
  constexpr uint64_t kRate = 1000;
  constexpr uint64_t kLargest = 4000;
  Make(kRate, 0);
  uint64_t all_bytes = 0;
  for (int i = 1; i <= 12; ++i) {
    const auto bytes = static_cast<size_t>(i % 5 == 0 ? kLargest : 100 * static_cast<size_t>(i));
    Delete(MakeFile(StrCat(100000 + i, ".sst"), bytes));
    all_bytes += bytes;
  }
  while (BytesOnDisk() > 0) {
    ASSERT_TRUE(env_.RunNext());
    const uint64_t freed = all_bytes - BytesOnDisk();
    EXPECT_LE(freed * kSecond, kRate * env_.NowMicros() + kLargest * kSecond) << env_.NowMicros();
  }
  // The rate is not lower either, because all files except the last one are paid for.
  EXPECT_LE(env_.NowMicros(), all_bytes * kSecond / kRate + 12);
}

TEST_F(TrashBinTest, ARestPaysNoMoreThanTheDebt) {
  Make(1000, 0);
  Delete(MakeFile("000001.sst", 2000));
  env_.RunUntil(100 * kSecond);
  for (const char* const name : {"000002.sst", "000003.sst"}) Delete(MakeFile(name, 3000));
  env_.RunUntil(101 * kSecond);
  EXPECT_EQ(Files(), "000003.sst.trash=3000") << "the rest saves up nothing";
  env_.RunUntil(103 * kSecond);
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, AFileThatComesDuringThePauseWaitsForItsEnd) {
  Make(1000, 0);
  Delete(MakeFile("000001.sst", 5000));
  env_.RunUntil(2 * kSecond);
  ASSERT_EQ(Files(), "");
  Delete(MakeFile("000002.sst", 10));
  env_.RunUntil(4 * kSecond + kSecond / 2);
  EXPECT_EQ(Files(), "000002.sst.trash=10");
  env_.RunUntil(5 * kSecond);
  EXPECT_EQ(Files(), "");
}

// I2.
TEST_F(TrashBinTest, ADebtIsPaidAfterARefusedJob) {
  Make(1000, 0);
  for (const char* const name : {"000001.sst", "000002.sst"}) Delete(MakeFile(name, 5000));
  env_.RefuseJobs(true);
  ASSERT_TRUE(env_.RunNext());
  ASSERT_EQ(Files(), "000002.sst.trash=5000");
  ASSERT_EQ(env_.jobs(), 0u) << "the next step was refused";
  env_.RefuseJobs(false);
  Delete(MakeFile("000003.sst", 10));
  env_.RunUntil(4 * kSecond + kSecond / 2);
  EXPECT_EQ(Files(), "000002.sst.trash=5000 000003.sst.trash=10");
  env_.RunUntil(5 * kSecond + kSecond / 2);
  EXPECT_EQ(Files(), "000003.sst.trash=10");
  env_.RunUntil(10 * kSecond);
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, ANewRateIsHeededWithinASecond) {
  Make(1, 0);
  for (const char* const name : {"000001.sst", "000002.sst", "000003.sst"})
    Delete(MakeFile(name, 1000000));
  env_.RunUntil(60 * kSecond);
  ASSERT_EQ(bin_->TrashBytes(), 2000000u);
  bin_->SetBytesPerSecond(1000000);
  env_.RunUntil(61 * kSecond + kSecond / 2);
  EXPECT_EQ(bin_->TrashBytes(), 1000000u);
  bin_->SetBytesPerSecond(1);
  env_.RunUntil(100 * kSecond);
  EXPECT_EQ(bin_->TrashBytes(), 1000000u);
  bin_->SetBytesPerSecond(0);
  env_.RunUntil(101 * kSecond);
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(bin_->BytesPerSecond(), 0);
}

TEST_F(TrashBinTest, BeyondTheRatioFilesAreDeletedAtOnce) {
  Make(1000, 0);
  EXPECT_OK(bin_->Delete({.path = MakeFile("000001.sst", 300)}, 1000));
  EXPECT_EQ(Files(), "000001.sst.trash=300");
  EXPECT_OK(bin_->Delete({.path = MakeFile("000002.sst", 300)}, 1000));
  EXPECT_EQ(Files(), "000001.sst.trash=300") << "300 bytes are more than a quarter of 1000";
  bin_->SetRatioMax(0.5);
  EXPECT_EQ(bin_->RatioMax(), 0.5);
  EXPECT_OK(bin_->Delete({.path = MakeFile("000003.sst", 300)}, 1000));
  EXPECT_EQ(Files(), "000001.sst.trash=300 000003.sst.trash=300");
}

TEST_F(TrashBinTest, ALargeFileIsCutByChunks) {
  Make(1000, 1000);
  Delete(MakeFile("000001.sst", 2500));
  for (const char* const files : {"000001.sst.trash=1500", "000001.sst.trash=500", ""}) {
    ASSERT_TRUE(env_.RunNext());
    EXPECT_EQ(Files(), files);
    EXPECT_EQ(bin_->TrashBytes(), BytesOnDisk());
    if (*files != '\0') env_.RunUntil(env_.NowMicros() + kSecond - 1);
    EXPECT_EQ(Files(), files) << "the pause is a second";
  }
  EXPECT_EQ(Ticker(FILES_DELETED_FROM_TRASH_QUEUE), 1u);
}

// I3.
TEST_F(TrashBinTest, AFileWithAnotherLinkIsNotCut) {
  Make(1000, 1000);
  const std::string path = MakeFile("000001.sst", 2500);
  EXPECT_OK(files_->CreateDir("/checkpoint"));
  EXPECT_OK(files_->LinkFile(path, "/checkpoint/000001.sst"));
  Delete(path);
  ASSERT_TRUE(env_.RunNext());
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(Bytes("/checkpoint/000001.sst"), 2500u);
}

TEST_F(TrashBinTest, AFileThatMayBeMappedIsNotCut) {
  Make(1000, 1000);
  EXPECT_OK(bin_->Delete({.path = MakeFile("000001.sst", 2500), .is_whole = true}, kTotal));
  ASSERT_TRUE(env_.RunNext());
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, WhatCannotBeCutIsDeletedWhole) {
  Make(1000, 1000);
  Refuse(FaultOperation::kTruncate);
  Delete(MakeFile("000001.sst", 2500));
  ASSERT_TRUE(env_.RunNext());
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, WhatCannotBeRenamedIsDeletedAtOnce) {
  Make(1000, 0);
  Refuse(FaultOperation::kRename);
  Delete(MakeFile("000001.sst", 100));
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(bin_->TrashBytes(), 0u);
  EXPECT_EQ(Ticker(FILES_DELETED_IMMEDIATELY), 1u);
}

TEST_F(TrashBinTest, WhatCannotBeDeletedIsTriedAgainAfterThePeriod) {
  Make(1000000, 0);
  Refuse(FaultOperation::kDelete);
  EXPECT_OK(bin_->Delete(
      {.path = MakeFile("000001.sst", 100), .is_whole = false, .retry_micros = 100 * kSecond},
      kTotal));
  Delete(MakeFile("000002.sst", 100));
  env_.RunUntil(98 * kSecond);
  EXPECT_EQ(Files(), "000001.sst.trash=100 000002.sst.trash=100");
  EXPECT_EQ(bin_->TrashBytes(), 200u);
  faults_->ClearRules();
  Delete(MakeFile("000003.sst", 100));
  env_.RunUntil(100 * kSecond - 1);
  EXPECT_EQ(Files(), "000001.sst.trash=100") << "the others do not wait for it";
  env_.RunUntil(200 * kSecond);
  EXPECT_EQ(Files(), "");
  EXPECT_EQ(bin_->TrashBytes(), 0u);
}

TEST_F(TrashBinTest, APeriodWithoutEndIsNotTriedInALoop) {
  Make(1000000, 0);
  Refuse(FaultOperation::kDelete);
  env_.RunUntil(kSecond);
  for (const char* const name : {"000001.sst", "000002.sst"}) {
    EXPECT_OK(bin_->Delete(
        {.path = MakeFile(name, 100), .is_whole = false, .retry_micros = UINT64_MAX}, kTotal));
  }
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(env_.RunNext());
  EXPECT_GT(env_.clock()->NowNanos(), 10 * kSecond * 1000);
}

TEST_F(TrashBinTest, AFileThatHasGoneByItselfIsDone) {
  Make(1000, 1000);
  const std::string path = MakeFile("000001.sst", 5000);
  Delete(path);
  EXPECT_OK(files_->DeleteFile(path + ".trash"));
  ASSERT_TRUE(env_.RunNext());
  EXPECT_EQ(bin_->TrashBytes(), 0u);
}

// I4.
TEST_F(TrashBinTest, ANameThatIsTakenGetsANumber) {
  Make(1000, 0);
  Delete(MakeFile("000001.sst", 100));
  Delete(MakeFile("000001.sst", 200));
  Delete(MakeFile("000001.sst", 300));
  EXPECT_EQ(Files(), "000001.sst.trash=100 000001.sst0.trash=200 000001.sst1.trash=300");
  env_.RunUntil(10 * kSecond);
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, TrashOfAnEarlierRunIsAdopted) {
  Make(1000, 0);
  const std::string old = MakeFile("000001.sst.trash", 100);
  EXPECT_OK(bin_->Adopt({.path = old}, kTotal));
  EXPECT_OK(bin_->Adopt({.path = old}, kTotal));
  EXPECT_EQ(bin_->TrashBytes(), 100u) << "once";
  ASSERT_TRUE(env_.RunNext());
  EXPECT_EQ(Files(), "");
  bin_->SetBytesPerSecond(0);
  EXPECT_OK(bin_->Adopt({.path = MakeFile("000002.sst.trash", 100)}, kTotal));
  EXPECT_EQ(Files(), "");
}

TEST_F(TrashBinTest, TheEndOfTheBinLeavesItsTrash) {
  Make(1000, 0);
  Delete(MakeFile("000001.sst", 100));
  bin_ = nullptr;
  while (env_.RunNext()) {
  }
  EXPECT_EQ(Files(), "000001.sst.trash=100");
}

TEST_F(TrashBinTest, AnExecutorThatHasEndedLeavesTrash) {
  Make(1000, 0);
  env_.RefuseJobs(true);
  Delete(MakeFile("000001.sst", 100));
  EXPECT_EQ(Files(), "000001.sst.trash=100");
  EXPECT_EQ(bin_->TrashBytes(), 100u);
}

TEST_F(TrashBinTest, AFileThatIsMissingIsReported) {
  Make(1000, 0);
  EXPECT_TRUE(bin_->Delete({.path = "/db/000009.sst"}, kTotal).IsPathNotFound());
  EXPECT_EQ(bin_->TrashBytes(), 0u);
}

}  // namespace
}  // namespace ashlar
