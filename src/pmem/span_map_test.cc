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

  Status Read(Spans* spans) {
    medium_ = CountingMedium::Create(pool_.file());
    const Slice page(medium_->view(), kPageBytes);
    const PoolHeader header =
        DecodePoolHeader("test", page, medium_->bytes(), *BytewiseComparator()).value();
    map_.emplace(medium_.get(), header);
    return map_->Read(
        [&](uint64_t first, const SpanEntry& entry) { spans->emplace(first, entry.pages); });
  }
  // Reads the pool and returns the spans of the map.
  Spans Reopen() {
    Spans spans;
    const Status status = Read(&spans);
    EXPECT_TRUE(status.ok()) << status.ToString();
    map_->Confirm();
    map_->CheckInvariants();
    return spans;
  }
  std::optional<uint64_t> Take(uint64_t pages, uint64_t pages_kept = 0,
                               std::optional<uint64_t> limit = std::nullopt, uint64_t from = 0) {
    const SpanEntry entry{
        .kind = SpanKind::kLarge, .size_class = 0, .pages = static_cast<uint32_t>(pages)};
    PoolOperation op(*medium_);
    const std::optional<uint64_t> page = limit ? map_->TakeBelow(&op, entry, *limit, pages_kept)
                                               : map_->Take(&op, entry, pages_kept, from);
    if (page) op.Commit();
    return page;
  }

  void StoreWord(uint64_t page, uint64_t word) {
    PoolOperation op(*medium_);
    op.Store(kPageBytes + page * sizeof(uint64_t), word);
    op.Commit();
  }
  void StoreEntry(uint64_t page, const SpanEntry& entry) {
    StoreWord(page, EncodeSpanEntry(page, entry));
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
      const uint64_t from = limit || random.OneIn(2) ? 0 : random.Uniform(map_->high_water_page());
      const uint64_t free_before = map_->FreePages();
      const std::optional<uint64_t> page = Take(pages, 0, limit, from);
      ASSERT_EQ(map_->FreePages(), free_before - (page ? pages : 0));
      if (!page) continue;
      ASSERT_TRUE(*page >= from && (!limit || *page < *limit));
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
  // A span that was given back keeps its entry (I3), so the pool may name more spans but not fewer.
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

// If the free pages before the first page that was never used and those after it were two runs,
// neither would have room for a span that fits into both together.
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

// Damage may mark pages as free that are in use.
TEST_F(SpanMapTest, WhatAnOpenFindsFreeIsTakenWhenItIsConfirmed) {
  const uint64_t first = Take(20).value();
  ASSERT_TRUE(Take(1).has_value());
  map_->Give(first, 20);
  ASSERT_EQ(Take(5), first);  // the rest is entered as free
  Spans read;
  ASSERT_TRUE(Read(&read).ok());
  const uint64_t high_water_page = map_->high_water_page();
  EXPECT_EQ(Take(3), high_water_page);
  map_->Confirm();
  EXPECT_EQ(Take(3), first + 5);
  map_->CheckInvariants();
}

// A crash may leave the end of a span whose entry was not stored. The entry of a span that is in
// use may also read as the end.
TEST_F(SpanMapTest, ThePagesAfterAnEndWithAnotherEndAreTakenWhenTheyAreConfirmed) {
  constexpr SpanEntry kEnd = {.kind = SpanKind::kEnd, .size_class = 0, .pages = 0};
  const uint64_t page = Take(30).value();
  StoreEntry(page, kEnd);
  Spans read;
  ASSERT_TRUE(Read(&read).ok());
  EXPECT_EQ(map_->high_water_page(), page);
  EXPECT_EQ(map_->FreePages(), 0U);
  EXPECT_EQ(Take(1), std::nullopt);
  map_->Confirm();
  EXPECT_EQ(Take(30), page);
}

// Everything except its place is right.
TEST_F(SpanMapTest, AnEntryOfAnotherPageIsRefused) {
  const uint64_t first = Take(3).value();
  const uint64_t second = Take(3).value();
  ASSERT_TRUE(Take(3).has_value());
  StoreWord(second,
            EncodeSpanEntry(first, {.kind = SpanKind::kLarge, .size_class = 0, .pages = 3}));
  Spans read;
  const Status status = Read(&read);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

// With more than 2^32 objects, two records would share a bit in the span's bitmap. The space of one
// would be handed out when the other one is deleted.
TEST_F(SpanMapTest, ASpanOfRecordsThatIsLongerThanAnyIsRefused) {
  for (const uint64_t pages : {kSpanPages, kSpanPages + 1}) {
    SCOPED_TRACE(pages);
    StoreEntry(
        Take(pages).value(),
        {.kind = SpanKind::kRecords, .size_class = 0, .pages = static_cast<uint32_t>(pages)});
    Spans read;
    EXPECT_EQ(Read(&read).IsCorruption(), pages > kSpanPages);
    map_->Confirm();
  }
}

TEST_F(SpanMapTest, ASpanAfterTheEndIsRefused) {
  constexpr SpanEntry kEnd = {.kind = SpanKind::kEnd, .size_class = 0, .pages = 0};
  const uint64_t page = Take(30).value();
  ASSERT_TRUE(Take(2).has_value());
  StoreEntry(page, kEnd);
  Spans read;
  const Status status = Read(&read);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

}  // namespace
}  // namespace ashlar::pmem
