// Every pair of public calls, while writers and a reader work. A test runs one call against half of
// the others, on one database. The other tests have the other halves. README.md lists the
// comparisons.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "tests/concurrency/calls.h"
#include "tests/concurrency/pair_counts.h"
#include "tests/concurrency/pair_run.h"
#include "tests/concurrency/scene.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

constexpr uint64_t kBatchesPerWriter = 40;
constexpr int kFaultsPerPair = 2;
// A pair with Close meets at most once on a database. It runs on kCloses databases, and on more
// until it has met, up to kClosesMax.
constexpr int kCloses = 3;
constexpr int kClosesMax = 20;
constexpr size_t kLevelsMin = 3;

// The scene of a call's test. Every third scene has faults, and so does every third pair, including
// the tests of Resume and of AbortAllCompactions.
SceneKind SceneOf(size_t call) {
  return {.recycles_logs = call % 2 == 1,
          .has_faults = call % 3 == 1,
          .flushes_log_by_hand = call % 6 == 2,
          .writes_without_log = call % 4 >= 2};
}

std::vector<std::string> NamesOfCalls() {
  std::vector<std::string> names;
  for (const Call& call : Calls()) names.emplace_back(call.name);
  return names;
}

class PairsTest : public ::testing::TestWithParam<size_t> {
 protected:
  static void TearDownTestSuite() {
    EXPECT_GE(levels_seen_, kLevelsMin) << "the tables are in too few levels";
  }

  void RunPairOf(size_t a, size_t b) {
    const uint64_t meetings =
        a == ClosingCall() || b == ClosingCall() ? CloseWhile(a, b) : RunOnOpen(a, b);
    EXPECT_GT(meetings, 0U);
    PairCounts::Get().Add("DB, Checkpoint and BackupEngine", NamesOfCalls(), a, b, meetings);
  }

  uint64_t RunOnOpen(size_t a, size_t b) {
    const uint64_t meetings = RunPair(WorkOf(a, b));
    if (scene_.kind().has_faults) scene_.Settle();
    scene_.CheckContents();
    return meetings;
  }

  uint64_t CloseWhile(size_t a, size_t b) {
    uint64_t meetings = 0;
    for (int closes = 0; closes < kCloses || (meetings == 0 && closes < kClosesMax); ++closes) {
      scene_.BeginClosing();
      meetings += RunPair(WorkOf(a, b));
      if (HasFailure()) break;
      scene_.Reopen();
    }
    return meetings;
  }

  static size_t levels_seen_;  // the most in one of the scenes

  Scene scene_{SceneOf(GetParam())};

 private:
  PairWork WorkOf(size_t a, size_t b) {
    const std::array<size_t, 2> calls = {a, b};
    PairWork work = {.name = StrCat(Calls()[a].name, " and ", Calls()[b].name),
                     .call = {},
                     .workers = {},
                     .read = {},
                     .closes = {a == ClosingCall(), b == ClosingCall()}};
    for (size_t side = 0; side < 2; ++side) randoms_[side] = Random(calls[side] * 2 + side + 1);
    work.call = [this, calls](size_t side) {
      Calls()[calls[side]].run({.scene = &scene_,
                                .random = &randoms_[side],
                                .thread = side,
                                .number = ++numbers_[side]});
    };
    for (size_t writer = 0; writer < Scene::kWriters; ++writer) {
      work.workers.emplace_back([this, writer, seed = a * 100 + b * 10 + writer] {
        Random random(seed);
        for (uint64_t i = 0; i < kBatchesPerWriter; ++i) scene_.WriteOne(writer, &random);
      });
    }
    if (scene_.kind().has_faults) {
      work.workers.emplace_back([this] {
        for (int i = 0; i < kFaultsPerPair; ++i) scene_.FailAWriteThenResume();
      });
    }
    reader_random_ = Random(a + b);
    work.read = [this] {
      scene_.ReadOne(&reader_random_);
      if (++reads_ % 64 == 0 && !scene_.is_closing()) scene_.NoteLevels();
    };
    return work;
  }

  // One per side.
  std::array<Random, 2> randoms_ = {Random(1), Random(2)};
  std::array<uint64_t, 2> numbers_{};
  // State of the reader.
  Random reader_random_{1};
  uint64_t reads_ = 0;
};

size_t PairsTest::levels_seen_ = 0;

TEST_P(PairsTest, KeepsWhatWasAcknowledged) {
  const size_t call = GetParam();
  scene_.Open();
  // Pairs the call with itself and with the next half of the others, around the end of the list.
  for (size_t step = 0; step <= Calls().size() / 2 && !HasFailure(); ++step)
    RunPairOf(call, (call + step) % Calls().size());
  if (HasFailure()) return;
  scene_.Reopen();
  scene_.CheckSharedBackups();
  levels_seen_ = std::max(levels_seen_, scene_.LevelsSeen());
  EXPECT_EQ(scene_.FaultsInjected() > 0, scene_.kind().has_faults);
}

INSTANTIATE_TEST_SUITE_P(Calls, PairsTest, ::testing::Range(size_t{0}, Calls().size()),
                         [](const ::testing::TestParamInfo<size_t>& call) -> std::string {
                           return Calls()[call.param].name;
                         });

TEST(CallsTest, NoMethodOfDBIsLeftOut) {
  std::ifstream file(StrCat(kSourceDir, "/include/ashlar/db.h"));
  const std::string header((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = header.find("class ASHLAR_API DB {");
  ASSERT_NE(begin, std::string::npos);
  const std::string body = header.substr(begin, header.find("\n};", begin) - begin);
  std::set<std::string, std::less<>> methods;
  const std::regex method(R"(virtual [^;(]*?(\w+)\()");
  for (std::sregex_iterator found(body.begin(), body.end(), method), end; found != end; ++found)
    methods.insert((*found)[1]);
  methods.erase("DB");  // the destructor
  EXPECT_GT(methods.size(), 50U);
  for (const struct Call& call : Calls()) {
    for (const std::string_view name : call.methods) {
      const auto found = methods.find(name);
      if (found != methods.end()) methods.erase(found);
    }
  }
  for (const std::string& left : methods)
    ADD_FAILURE() << "DB::" << left << " runs against no other call: add it to calls.cc";
}

}  // namespace
}  // namespace ashlar
