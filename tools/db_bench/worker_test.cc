// Tests that a thread of a Loop does exactly its planned operations.
#include "tools/db_bench/worker.h"

#include <gtest/gtest.h>

namespace ashlar::bench {
namespace {

TEST(LoopTest, GivesOutExactlyTheOperationsPlanned) {
  for (const int64_t between_looks : {1, 7, 1000}) {
    for (const uint64_t ops : {0u, 1u, 6u, 7u, 8u, 2500u}) {
      for (const uint64_t batch : {1u, 3u, 1000u, 5000u}) {
        SCOPED_TRACE(testing::Message() << between_looks << " " << ops << " " << batch);
        Flags flags;
        flags.ops_between_duration_checks = between_looks;
        const std::atomic<bool> failed{false};
        Loop loop(flags, ops, 0, &failed);
        uint64_t done = 0;
        for (uint64_t taken = loop.Take(batch); taken != 0; taken = loop.Take(batch)) {
          EXPECT_LE(taken, batch);
          EXPECT_TRUE(taken == batch || done + taken == ops);
          done += taken;
          ASSERT_LE(done, ops);
        }
        EXPECT_EQ(done, ops);
        EXPECT_FALSE(loop.Continue());
      }
    }
  }
}

TEST(LoopTest, EndsAtTheNextLookAfterAnotherThreadFailed) {
  Flags flags;
  flags.ops_between_duration_checks = 10;
  std::atomic<bool> failed{false};
  Loop loop(flags, 1000, 0, &failed);
  EXPECT_TRUE(loop.Continue());
  failed = true;
  int more = 0;
  while (loop.Continue()) ++more;
  EXPECT_LE(more, 10);
}

TEST(LoopTest, ASecondIsAsLongAsASecond) {
  Flags flags;
  const std::atomic<bool> failed{false};
  const auto begin = Loop::Clock::now();
  Loop loop(flags, 1, 1, &failed);
  uint64_t done = 0;
  while (loop.Continue()) ++done;
  EXPECT_GE(Loop::Clock::now() - begin, std::chrono::seconds(1));
  EXPECT_GT(done, 1000u);
}

}  // namespace
}  // namespace ashlar::bench
