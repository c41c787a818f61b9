// Every pair of public calls of the persistent tree, while writers and a reader work, on a mapped
// pool and on one with a log. A test runs one call against half of the others. The tree is closed
// and opened again after each pair.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "base/format.h"
#include "tests/concurrency/pair_counts.h"
#include "tests/concurrency/pair_run.h"
#include "tests/concurrency/tree_calls.h"
#include "tests/concurrency/tree_scene.h"

namespace ashlar::pmem {
namespace {

constexpr int kWritesPerWriter = 40;

using Parameter = std::tuple<DurabilityClass, size_t>;

DurabilityClass ClassOf(const Parameter& parameter) { return std::get<0>(parameter); }
size_t CallOf(const Parameter& parameter) { return std::get<1>(parameter); }

std::vector<std::string> NamesOfCalls() {
  std::vector<std::string> names;
  for (const TreeCall& call : TreeCalls()) names.emplace_back(call.name);
  return names;
}

class TreePairsTest : public ::testing::TestWithParam<Parameter> {
 protected:
  void RunPairOf(size_t a, size_t b) {
    const uint64_t pool_syncs = scene_.pool_syncs();
    const uint64_t meetings = RunPair(WorkOf(a, b));
    if (IsLogged() && (a == CheckpointCall() || b == CheckpointCall())) {
      EXPECT_GT(scene_.pool_syncs(), pool_syncs) << "there was no checkpoint";
    }
    scene_.CheckContents();
    scene_.Reopen();
    PairCounts::Get().Add(
        StrCat("PersistentTree, class ", DurabilityClassName(ClassOf(GetParam()))), NamesOfCalls(),
        a, b, meetings);
  }

  TreeScene scene_{ClassOf(GetParam())};

 private:
  static bool IsLogged() { return ClassOf(GetParam()) == DurabilityClass::kLogged; }

  PairWork WorkOf(size_t a, size_t b) {
    const std::array<size_t, 2> calls = {a, b};
    PairWork work = {.name = StrCat(TreeCalls()[a].name, " and ", TreeCalls()[b].name),
                     .call = {},
                     .workers = {},
                     .read = {}};
    for (size_t side = 0; side < 2; ++side) randoms_[side] = Random(calls[side] * 2 + side + 1);
    work.call = [this, calls](size_t side) {
      TreeCalls()[calls[side]].run({.scene = &scene_,
                                    .random = &randoms_[side],
                                    .thread = side,
                                    .number = ++numbers_[side]});
    };
    for (size_t writer = 0; writer < TreeScene::kWriters; ++writer) {
      work.workers.emplace_back([this, writer, seed = a * 100 + b * 10 + writer] {
        Random random(seed);
        for (int i = 0; i < kWritesPerWriter; ++i) scene_.WriteOne(writer, &random);
      });
    }
    reader_random_ = Random(a + b);
    work.read = [this] {
      const TreeScene::ModelKey key = TreeScene::PickKey(&reader_random_);
      const uint64_t floor = scene_.FloorOf(key);
      PinnableSlice value;
      const Status got = scene_.tree()->Get(ReadOptions(), key.text, &value);
      EXPECT_TRUE(got.ok() || (got.IsNotFound() && floor == 0)) << got.ToString();
      EXPECT_TRUE(!got.ok() || TreeScene::VersionOf(value) >= floor) << key.text;
    };
    return work;
  }

  // One per side.
  std::array<Random, 2> randoms_ = {Random(1), Random(2)};
  std::array<uint64_t, 2> numbers_{};
  Random reader_random_{1};
};

TEST_P(TreePairsTest, KeepsWhatWasAcknowledged) {
  const size_t call = CallOf(GetParam());
  scene_.Open();
  // Pairs the call with itself and with the next half of the others, around the end of the list.
  for (size_t step = 0; step <= TreeCalls().size() / 2 && !HasFailure(); ++step)
    RunPairOf(call, (call + step) % TreeCalls().size());
}

INSTANTIATE_TEST_SUITE_P(Calls, TreePairsTest,
                         ::testing::Combine(::testing::Values(DurabilityClass::kProcessCrashOnly,
                                                              DurabilityClass::kLogged),
                                            ::testing::Range(size_t{0}, TreeCalls().size())),
                         [](const ::testing::TestParamInfo<Parameter>& test) -> std::string {
                           const bool is_logged = ClassOf(test.param) == DurabilityClass::kLogged;
                           return StrCat(is_logged ? "Logged" : "Mapped",
                                         TreeCalls()[CallOf(test.param)].name);
                         });

}  // namespace
}  // namespace ashlar::pmem
