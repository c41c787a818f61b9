// Runs the checker on histories that are linearizable, and on those that it must reject.
#include "tests/support/linearizability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace ashlar::test {
namespace {

using Kind = RecordedCall::Kind;
using Calls = std::vector<RecordedCall>;

RecordedCall Put(const char* value, uint64_t begin, uint64_t end) {
  return {Kind::kPut, value, begin, end};
}
RecordedCall Get(const char* value, uint64_t begin, uint64_t end) {
  return {Kind::kGet, value, begin, end};
}
RecordedCall GetNone(uint64_t begin, uint64_t end) { return {Kind::kGet, {}, begin, end}; }
RecordedCall Delete(uint64_t begin, uint64_t end) { return {Kind::kDelete, {}, begin, end}; }
RecordedCall Merge(const char* value, uint64_t begin, uint64_t end) {
  return {Kind::kMerge, value, begin, end};
}

void ExpectRight(const Calls& calls) { EXPECT_EQ(CheckLinearizable(calls, {}), ""); }
void ExpectWrong(const Calls& calls) { EXPECT_NE(CheckLinearizable(calls, {}), ""); }

TEST(Linearizability, CallsThatOverlapMayTakeEffectInEitherOrder) {
  ExpectRight({});
  ExpectRight({GetNone(0, 1)});
  ExpectRight({Put("1", 0, 10), Put("2", 1, 9), Get("1", 11, 12)});
  ExpectRight({Put("1", 0, 10), Put("2", 1, 9), Get("2", 11, 12)});
  ExpectRight({Put("1", 0, 10), GetNone(1, 2), Get("1", 3, 4)});
  ExpectRight({Put("1", 0, 1), Delete(2, 9), Get("1", 3, 4), GetNone(5, 6)});
  ExpectRight({Merge("1", 0, 9), Merge("2", 1, 8), Get("2,1", 10, 11)});
  // The example in the header.
  ExpectRight({Put("1", 0, 4), Put("2", 2, 8), Get("1", 6, 10), Get("2", 11, 12)});
}

TEST(Linearizability, AStaleReadIsWrong) {
  ExpectWrong({Put("1", 0, 1), Put("2", 2, 3), Get("1", 4, 5)});
  ExpectWrong({Put("1", 0, 1), Delete(2, 3), Get("1", 4, 5)});
  ExpectWrong({Put("1", 0, 1), GetNone(2, 3)});
}

TEST(Linearizability, AReadOfTheFutureIsWrong) {
  ExpectWrong({Get("1", 0, 1), Put("1", 2, 3)});
  ExpectWrong({Get("7", 0, 1)});
}

// Each read alone could be correct.
TEST(Linearizability, NewAndThenOldIsWrong) {
  ExpectWrong({Put("1", 0, 1), Put("2", 2, 20), Get("2", 3, 4), Get("1", 5, 6)});
  ExpectWrong({Put("1", 0, 20), Get("1", 3, 4), GetNone(5, 6)});
}

TEST(Linearizability, ALostOrDoubledMergeIsWrong) {
  ExpectWrong({Merge("1", 0, 9), Merge("2", 1, 8), Get("1", 10, 11)});
  ExpectWrong({Merge("1", 0, 9), Merge("2", 1, 8), Get("1,2,1", 10, 11)});
  ExpectWrong({Merge("1", 0, 1), Merge("2", 2, 3), Get("2,1", 4, 5)});
}

// Two readers see two concurrent writes in different orders.
TEST(Linearizability, ReadersThatDisagreeAreWrong) {
  ExpectWrong({Put("1", 0, 30), Put("2", 1, 29), Get("1", 2, 3), Get("2", 4, 5), Get("1", 6, 7)});
  ExpectWrong({Put("1", 0, 3), Put("2", 1, 4), Get("1", 5, 8), Get("2", 6, 10), Get("1", 12, 13),
               Get("2", 14, 15)});
}

TEST(Linearizability, TheFailureNamesTheCall) {
  const std::string text = CheckLinearizable({Put("1", 0, 1), Get("other", 2, 3)}, {});
  EXPECT_NE(text.find("Get other [2, 3]"), std::string::npos) << text;
}

// The calls took effect one after another, but begin earlier and end later, so that they overlap.
// Then one of the reads returns another value.
TEST(Linearizability, RandomHistoriesAreJudgedRight) {
  constexpr size_t kCalls = 200;
  constexpr uint64_t kStep = 100;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Calls calls;
    std::optional<std::string> value;
    for (size_t i = 0; i < kCalls; ++i) {
      const uint64_t at = (i + 10) * kStep;
      RecordedCall call{Kind::kGet, value, 0, 0};
      switch (random.Uniform(6)) {
        case 0:
          value.reset();
          call = {Kind::kDelete, {}, 0, 0};
          break;
        case 1:
        case 2:
          value = std::to_string(i);
          call = {Kind::kPut, value, 0, 0};
          break;
        default: break;
      }
      // The call's number is in the last digits, so that no two moments are equal.
      call.begin = (at - random.Uniform(2 * kStep)) * 1000 + i * 2;
      call.end = (at + random.Uniform(2 * kStep)) * 1000 + i * 2 + 1;
      calls.push_back(call);
    }
    EXPECT_EQ(CheckLinearizable(calls, {}), "");
    size_t read = random.Uniform(kCalls);
    while (calls[read % kCalls].kind != Kind::kGet) ++read;
    calls[read % kCalls].value = "never written";
    EXPECT_NE(CheckLinearizable(calls, {}), "");
  }
}

}  // namespace
}  // namespace ashlar::test
