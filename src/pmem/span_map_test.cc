#include "pmem/span_map.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "pmem/pool.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{2} << 20;

class SpanMapTest : public ::testing::Test {
 protected:
  using Spans = std::map<uint64_t, uint64_t>;  // first page to pages

  SpanMapTest() { Reopen(); }

  // What the map says after a read of the pool.
  Spans Reopen() {
    medium_ = CountingMedium::Create(pool_.file());
    const Slice page(medium_->view(), kPageBytes);
    const PoolHeader header =
        DecodePoolHeader("test", page, medium_->bytes(), *BytewiseComparator()).value();
    map_.emplace(medium_.get(), header);
    Spans spans;
    const Status status = map_->Read(
        [&](uint64_t first, const SpanEntry& entry) { spans.emplace(first, entry.pages); });
    EXPECT_TRUE(status.ok()) << status.ToString();
    map_->CheckInvariants();
    return spans;
  }
  std::optional<uint64_t> Take(uint64_t pages, uint64_t pages_kept = 0,
                               std::optional<uint64_t> limit = std::nullopt) {
    const SpanEntry entry{
        .kind = SpanKind::kLarge, .size_class = 0, .pages = static_cast<uint32_t>(pages)};
    PoolOperation op(*medium_);
    const std::optional<uint64_t> page = limit ? map_->TakeBelow(&op, entry, *limit, pages_kept)
                                               : map_->Take(&op, entry, pages_kept);
    if (page) op.Commit();
    return page;
  }

  TestPool pool_{kPoolBytes};
  std::unique_ptr<CountingMedium> medium_;
  std::optional<SpanMap> map_;
};

TEST_F(SpanMapTest, ARandomHistoryLeavesAMapThatIsReadBack) {
  Random random(77);
  Spans live;
  for (int step = 0; step < 5000; ++step) {
    if (random.OneIn(2)) {
      const uint64_t pages = 1 + random.Uniform(random.OneIn(8) ? 60 : 6);
      const std::optional<uint64_t> limit =
          random.OneIn(4) ? std::optional<uint64_t>(1 + random.Uniform(400)) : std::nullopt;
      const uint64_t free_before = map_->FreePages();
      const std::optional<uint64_t> page = Take(pages, 0, limit);
      ASSERT_EQ(map_->FreePages(), free_before - (page ? pages : 0));
      if (!page) continue;
      ASSERT_TRUE(!limit || *page < *limit);
      const auto after = live.lower_bound(*page);
      ASSERT_TRUE(after == live.end() || *page + pages <= after->first);
      ASSERT_TRUE(after == live.begin() ||
                  std::prev(after)->first + std::prev(after)->second <= *page);
      live.emplace(*page, pages);
    } else if (!live.empty()) {
      auto span = live.begin();
      std::advance(span, static_cast<ptrdiff_t>(random.Uniform(live.size())));
      map_->Give(span->first, span->second);
      live.erase(span);
    }
    if (step % 50 == 0) map_->CheckInvariants();
  }
  // A span that was given back keeps its entry (I3): the pool may name more spans, none fewer.
  Spans read = Reopen();
  for (const auto& [page, pages] : live) EXPECT_EQ(read[page], pages) << page;
}

TEST_F(SpanMapTest, PagesAreKept) {
  const uint64_t free = map_->FreePages();
  EXPECT_FALSE(Take(free, 1).has_value());
  EXPECT_FALSE(Take(free - 9, 10).has_value());
  EXPECT_TRUE(Take(free - 10, 10).has_value());
  EXPECT_FALSE(Take(1, 10).has_value());
  EXPECT_TRUE(Take(10).has_value());
  EXPECT_EQ(map_->FreePages(), 0U);
  EXPECT_EQ(map_->LongestFreeRun(), 0U);
}

// The free pages up to the first page that was never used, and those after it, were two runs.
// Neither had room for a span that fits into both.
TEST_F(SpanMapTest, FreePagesAndThePagesAfterThemThatWereNeverUsedAreOneRun) {
  const uint64_t free = map_->FreePages();
  const std::optional<uint64_t> first = Take(free / 2);
  ASSERT_TRUE(first.has_value());
  map_->Give(*first, free / 2);
  EXPECT_EQ(map_->LongestFreeRun(), free);
  EXPECT_EQ(Take(free - 3), first);
  EXPECT_EQ(map_->FreePages(), 3U);
  EXPECT_EQ(map_->LongestFreeRun(), 3U);
  map_->CheckInvariants();
  Spans read = Reopen();
  EXPECT_EQ(read[*first], free - 3);
  EXPECT_EQ(map_->FreePages(), 3U);
}

}  // namespace
}  // namespace ashlar::pmem
