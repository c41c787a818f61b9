// Every pair of public calls, both in loops, while writers and a reader work. A test is one call
// against half of the others, on one database; the other halves are in the other tests. README.md
// lists the comparisons.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "tests/concurrency/calls.h"
#include "tests/concurrency/pair_counts.h"
#include "tests/concurrency/scene.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

constexpr uint64_t kBatchesPerWriter = 40;
constexpr uint64_t kRunsMin = 2;
// Short calls go on until some of them have met, or this many have run.
constexpr uint64_t kMeetingsMin = 2;
constexpr uint64_t kRunsMax = 10000;

// Two calls at once, until both have run often enough.
class PairRun {
 public:
  PairRun(Scene* scene, size_t a, size_t b, uint64_t* numbers)
      : scene_(scene), calls_{a, b}, numbers_(numbers) {}

  void Run() {
    SCOPED_TRACE(Name());
    if (IsClosing()) scene_->BeginClosing();
    std::vector<std::thread> threads;
    for (size_t writer = 0; writer < Scene::kWriters; ++writer)
      threads.emplace_back([this, writer] { Write(writer); });
    threads.emplace_back([this] { Read(); });
    for (size_t side = 0; side < 2; ++side) threads.emplace_back([this, side] { Call(side); });
    for (std::thread& thread : threads) thread.join();
    PairCounts::Get().Add(calls_[0], calls_[1], meetings_);
    if (IsClosing()) scene_->Reopen();
    scene_->CheckContents();
  }

 private:
  std::string Name() const {
    return StrCat(Calls()[calls_[0]].name, " and ", Calls()[calls_[1]].name);
  }
  bool IsClosing() const { return calls_[0] == ClosingCall() || calls_[1] == ClosingCall(); }
  bool WritersEnded() const { return writers_ended_ == Scene::kWriters; }

  // Whether both have run often enough.
  bool Done() const {
    const uint64_t fewest = std::min(runs_[0], runs_[1]);
    return WritersEnded() && fewest >= kRunsMin &&
           (meetings_ >= kMeetingsMin || std::max(runs_[0], runs_[1]) >= kRunsMax);
  }

  void Write(size_t writer) {
    SCOPED_TRACE(Name());
    Random random(calls_[0] * 100 + calls_[1] * 10 + writer);
    for (uint64_t i = 0; i < kBatchesPerWriter; ++i) scene_->WriteOne(writer, &random);
    ++writers_ended_;
  }
  void Read() {
    SCOPED_TRACE(Name());
    Random random(calls_[0] + calls_[1]);
    while (!Done()) scene_->ReadOne(&random);
  }
  void Call(size_t side) {
    SCOPED_TRACE(Name());
    Random random(calls_[side] * 2 + side + 1);
    while (!Done() && !::testing::Test::HasFailure()) {
      under_way_[side] = true;
      if (under_way_[1 - side]) ++meetings_;
      Calls()[calls_[side]].run(
          {.scene = scene_, .random = &random, .thread = side, .number = ++numbers_[side]});
      under_way_[side] = false;
      ++runs_[side];
    }
    // A failed test ends the other side too.
    runs_[side] += ::testing::Test::HasFailure() ? kRunsMax : 0;
  }

  Scene* const scene_;
  const std::array<size_t, 2> calls_;
  uint64_t* const numbers_;  // of each side
  std::atomic<uint64_t> writers_ended_{0};
  std::array<std::atomic<bool>, 2> under_way_{};
  std::array<std::atomic<uint64_t>, 2> runs_{};
  std::atomic<uint64_t> meetings_{0};
};

class PairsTest : public ::testing::TestWithParam<size_t> {};

TEST_P(PairsTest, KeepsWhatWasAcknowledged) {
  const size_t call = GetParam();
  Scene scene(/*recycles_logs=*/call % 2 == 1);
  scene.Open();
  std::array<uint64_t, 2> numbers{};
  // The call itself, and the next half of the others, around the end of the list.
  for (size_t step = 0; step <= Calls().size() / 2 && !HasFailure(); ++step) {
    const size_t other = (call + step) % Calls().size();
    PairRun(&scene, call, other, numbers.data()).Run();
  }
  if (!HasFailure()) scene.Reopen();
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
