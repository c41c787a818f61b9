#include "pmem/free_runs.h"

#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

TEST(FreeRunsTest, JoinsTheRunsOnBothSides) {
  FreeRuns runs;
  runs.Add(10, 2);
  runs.Add(15, 5);
  EXPECT_EQ(runs.count(), 2u);
  runs.Add(12, 3);
  EXPECT_EQ(runs.count(), 1u);
  EXPECT_EQ(runs.LongestRun(), 10u);
  runs.CheckInvariants();
}

TEST(FreeRunsTest, TakesTheShortestRunOrTheFirst) {
  FreeRuns runs;
  runs.Add(10, 8);
  runs.Add(30, 4);
  runs.Add(50, 20);
  EXPECT_EQ(runs.TakeShortest(3, 0), 30u);
  EXPECT_EQ(runs.TakeShortest(9, 0), 50u);
  EXPECT_EQ(runs.TakeFirst(5, 100), 10u);
  EXPECT_EQ(runs.TakeFirst(4, 59), std::nullopt);
  EXPECT_EQ(runs.TakeFirst(4, 60), 59u);
  EXPECT_EQ(runs.TakeShortest(100, 0), std::nullopt);
  runs.CheckInvariants();
}

TEST(FreeRunsTest, TakesTheShortestRunAfterAPage) {
  FreeRuns runs;
  EXPECT_EQ(runs.FirstPage(), std::nullopt);
  runs.Add(10, 4);
  runs.Add(30, 6);
  runs.Add(50, 4);
  runs.Add(70, 5);
  EXPECT_EQ(runs.FirstPage(), 10u);
  EXPECT_EQ(runs.TakeShortest(4, 60), 70u);
  EXPECT_EQ(runs.TakeShortest(4, 50), 50u);
  EXPECT_EQ(runs.TakeShortest(4, 11), 30u);
  EXPECT_EQ(runs.TakeShortest(4, 11), std::nullopt);
  EXPECT_EQ(runs.TakeShortest(4, 10), 10u);
  EXPECT_EQ(runs.FirstPage(), 34u);
  runs.CheckInvariants();
}

TEST(FreeRunsTest, TakesTheRunUpToAPage) {
  FreeRuns runs;
  EXPECT_EQ(runs.PagesUpTo(100), 0u);
  runs.Add(10, 8);
  runs.Add(50, 20);
  EXPECT_EQ(runs.PagesUpTo(71), 0u);
  EXPECT_EQ(runs.PagesUpTo(70), 20u);
  EXPECT_EQ(runs.TakeUpTo(70), 50u);
  EXPECT_EQ(runs.PagesUpTo(70), 0u);
  EXPECT_EQ(runs.pages(), 8u);
  runs.CheckInvariants();
}

// With 22,000 free runs, a search from one run to the next would take 488 us of a put.
TEST(FreeRunsTest, ASearchLooksAtFewOfManyRuns) {
  constexpr uint64_t kRuns = 20'000;
  constexpr uint64_t kLengths = 10;
  constexpr uint64_t kDistance = 16;  // between the beginnings of two
  FreeRuns runs;
  for (uint64_t i = 0; i < kRuns; ++i) runs.Add(1 + i * kDistance, 1 + i % kLengths);
  ASSERT_EQ(runs.count(), kRuns);
  const uint64_t end = 1 + kRuns * kDistance;
  for (uint64_t pages = 1; pages <= kLengths; ++pages) {
    SCOPED_TRACE(pages);
    const auto looks_of = [&](const auto& take) {
      const uint64_t before = runs.runs_looked_at();
      const std::optional<uint64_t> page = take();
      EXPECT_TRUE(page.has_value());
      if (page) runs.Add(*page, pages);
      return runs.runs_looked_at() - before;
    };
    EXPECT_EQ(looks_of([&] { return runs.TakeShortest(pages, 0); }), 1U);
    // Only one run begins at this page or after it, and it is long.
    const uint64_t from = end - kDistance;
    EXPECT_LE(looks_of([&] { return runs.TakeShortest(pages, from); }), 2 * kLengths);
    EXPECT_LE(looks_of([&] { return runs.TakeFirst(pages, end); }), kLengths);
  }
  runs.CheckInvariants();
}

std::optional<uint64_t> FirstRun(const std::vector<bool>& is_free, uint64_t pages) {
  uint64_t free_pages = 0;
  for (uint64_t page = 0; page < is_free.size(); ++page) {
    free_pages = is_free[page] ? free_pages + 1 : 0;
    if (free_pages == pages) return page + 1 - pages;
  }
  return std::nullopt;
}

// Compares the runs with a map of pages.
TEST(FreeRunsTest, RandomHistoriesKeepTheInvariants) {
  constexpr uint64_t kPages = 400;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    FreeRuns runs;
    std::vector<bool> is_free(kPages + 1, true);
    is_free[0] = false;
    runs.Add(1, kPages);
    struct Taken {
      uint64_t page;
      uint64_t pages;
    };
    std::vector<Taken> taken;
    for (int step = 0; step < 2000; ++step) {
      if (random.OneIn(2) && !taken.empty()) {
        const size_t which = random.Uniform(taken.size());
        const Taken back = taken[which];
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
        runs.Add(back.page, back.pages);
        for (uint64_t i = 0; i < back.pages; ++i) is_free[back.page + i] = true;
      } else {
        const uint64_t pages = 1 + random.Uniform(12);
        const bool is_first = random.OneIn(2);
        const std::optional<uint64_t> page =
            is_first ? runs.TakeFirst(pages, kPages + 1) : runs.TakeShortest(pages, 0);
        if (is_first) {
          ASSERT_EQ(page, FirstRun(is_free, pages));
        }
        if (!page) continue;
        for (uint64_t i = 0; i < pages; ++i) {
          ASSERT_TRUE(is_free[*page + i]);
          is_free[*page + i] = false;
        }
        taken.push_back({*page, pages});
      }
      runs.CheckInvariants();
      uint64_t free_pages = 0;
      for (const bool page_is_free : is_free) free_pages += page_is_free ? 1 : 0;
      ASSERT_EQ(runs.pages(), free_pages);
    }
  }
}

}  // namespace
}  // namespace ashlar::pmem
