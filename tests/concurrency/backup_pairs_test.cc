// Every pair of calls of one BackupEngine, while two threads write to the database. Pairs with a
// call of another engine or of the database are in pairs_test.cc.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "base/format.h"
#include "tests/concurrency/backup_calls.h"
#include "tests/concurrency/pair_counts.h"
#include "tests/concurrency/pair_run.h"
#include "tests/concurrency/scene.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

constexpr uint64_t kBatchesPerWriter = 40;

std::vector<std::string> NamesOfCalls() {
  std::vector<std::string> names;
  for (const EngineCall& call : EngineCalls()) names.emplace_back(call.name);
  return names;
}

class BackupPairsTest : public ::testing::TestWithParam<size_t> {
 protected:
  void RunPairOf(size_t a, size_t b) {
    const uint64_t meetings = RunPair(WorkOf(a, b));
    scene_.CheckContents();
    std::vector<BackupInfo> infos;
    engine_->GetBackupInfo(&infos);
    for (const BackupInfo& info : infos)
      EXPECT_OK(engine_->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true));
    PairCounts::Get().Add("One BackupEngine", NamesOfCalls(), a, b, meetings);
  }

  void OpenEngine() {
    BackupEngine* opened = nullptr;
    ASSERT_OK(
        BackupEngine::Open(scene_.env(), BackupEngineOptions(Scene::kSharedBackups), &opened));
    engine_.reset(opened);
    ASSERT_OK(engine_->CreateNewBackup(scene_.db()));
  }

  Scene scene_{SceneKind{}};
  std::unique_ptr<BackupEngine> engine_;

 private:
  PairWork WorkOf(size_t a, size_t b) {
    const std::array<size_t, 2> calls = {a, b};
    PairWork work = {.name = StrCat(EngineCalls()[a].name, " and ", EngineCalls()[b].name),
                     .call = {},
                     .workers = {},
                     .read = {}};
    for (size_t side = 0; side < 2; ++side) randoms_[side] = Random(calls[side] * 2 + side + 1);
    work.call = [this, calls](size_t side) {
      const CallArgs args = {
          .scene = &scene_, .random = &randoms_[side], .thread = side, .number = ++numbers_[side]};
      EngineCalls()[calls[side]].run(args, engine_.get());
    };
    for (size_t writer = 0; writer < Scene::kWriters; ++writer) {
      work.workers.emplace_back([this, writer, seed = a * 100 + b * 10 + writer] {
        Random random(seed);
        for (uint64_t i = 0; i < kBatchesPerWriter; ++i) scene_.WriteOne(writer, &random);
      });
    }
    reader_random_ = Random(a + b);
    work.read = [this] { scene_.ReadOne(&reader_random_); };
    return work;
  }

  // One per side.
  std::array<Random, 2> randoms_ = {Random(1), Random(2)};
  std::array<uint64_t, 2> numbers_{};
  Random reader_random_{1};
};

TEST_P(BackupPairsTest, BackupsAreWholeAndNoChangeIsRefused) {
  scene_.Open();
  OpenEngine();
  for (size_t other = GetParam(); other < EngineCalls().size() && !HasFailure(); ++other)
    RunPairOf(GetParam(), other);
  if (HasFailure()) return;
  engine_.reset();
  scene_.CheckSharedBackups();
}

INSTANTIATE_TEST_SUITE_P(Calls, BackupPairsTest, ::testing::Range(size_t{0}, EngineCalls().size()),
                         [](const ::testing::TestParamInfo<size_t>& call) -> std::string {
                           return EngineCalls()[call.param].name;
                         });

}  // namespace
}  // namespace ashlar
