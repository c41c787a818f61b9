// Tests damage to the span map that its checks cannot notice: an entry with a right check but other
// contents. It is refused at open, at the next change or by Verify, or it is harmless. Nothing that
// was readable is overwritten.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pmem/leaf.h"
#include "pmem/pool.h"
#include "pmem/recovery.h"
#include "pmem/tree.h"
#include "tests/support/expect_ok.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

using ::testing::HasSubstr;

std::string Key(int i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

class SpanDamageTest : public ::testing::Test {
 protected:
  struct Entry {
    uint64_t page;
    SpanEntry span;
  };
  struct Piece {
    PoolOffset offset;
    uint64_t bytes;
  };

  SpanDamageTest() {
    std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool_);
    // Make spans of records that are as long as those of leaves, one large record of that length,
    // and entries of free pages, which are the rest of a run that was partly reused.
    for (int i = 0; i < 3000; ++i) Put(tree.get(), Key(i * 37 % 3000), std::string(200, 'v'));
    Put(tree.get(), Key(5000), std::string(65'000, 'l'));
    EXPECT_OK(tree->Put("gone", std::string(65'000, 'g')));
    Put(tree.get(), Key(5001), std::string(20'000, 'l'));
    EXPECT_OK(tree->Delete("gone"));
    EXPECT_OK(tree->Defragment());  // frees the deleted record
    Put(tree.get(), Key(5002), std::string(30'000, 'l'));
    Put(tree.get(), Key(5003), std::string(65'000, 'l'));  // the last span has a live record
    EXPECT_OK(tree->Close());
    tree.reset();
    raw_ = pool_.file()->Map(PoolMapMode::kShared).value();
    image_.assign(raw_->data(), raw_->bytes());
    ReadMap();
    FindPiecesInUse();
  }

  void Put(PersistentTree* tree, const std::string& key, const std::string& value) {
    EXPECT_OK(tree->Put(key, value));
    contents_[key] = value;
  }

  void ReadMap() {
    for (uint64_t page = FirstLeafOf(image_.size()) / kPageBytes;
         page < image_.size() / kPageBytes;) {
      SpanEntry span;
      ASSERT_TRUE(DecodeSpanEntry(page, DecodeFixed64(image_.data() + EntryOffset(page)), &span));
      entries_.push_back({page, span});
      if (span.kind == SpanKind::kEnd) return;
      page += span.pages;
    }
  }

  void FindPiecesInUse() {
    const std::unique_ptr<Medium> medium = CountingMedium::Create(pool_.file());
    const auto add_record = [&](PoolOffset record) {
      in_use_.push_back({record, ReadRecord(*medium, record)->bytes()});
    };
    for (PoolOffset leaf = FirstLeafOf(image_.size()); leaf != 0;) {
      const LeafView view(*medium, leaf);
      in_use_.push_back({leaf, kLeafBytes});
      if (view.Separator() != 0) add_record(view.Separator());
      for (uint64_t rest = Occupied(view.Commit()); rest != 0; rest &= rest - 1)
        add_record(SlotRecord(view.Slot(static_cast<uint32_t>(std::countr_zero(rest)))));
      leaf = view.Next(view.Commit());
    }
    std::sort(in_use_.begin(), in_use_.end(),
              [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  }

  PoolOffset EntryOffset(uint64_t page) const { return kPageBytes + page * 8; }
  void Restore() { memcpy(raw_->data(), image_.data(), image_.size()); }
  void Store(uint64_t page, const SpanEntry& span) {
    EncodeFixed64(raw_->data() + EntryOffset(page), EncodeSpanEntry(page, span));
  }

  // Returns all other entries that the same pages could have. The end has the pages after it.
  std::vector<SpanEntry> Others(const Entry& entry) const {
    const bool is_end = entry.span.kind == SpanKind::kEnd;
    const auto pages =
        is_end ? static_cast<uint32_t>(kSpanPages) : static_cast<uint32_t>(entry.span.pages);
    std::vector<SpanEntry> others = {
        {.kind = SpanKind::kFree, .size_class = 0, .pages = pages},
        {.kind = SpanKind::kLarge, .size_class = 0, .pages = pages},
    };
    if (!is_end) others.push_back({.kind = SpanKind::kEnd, .size_class = 0, .pages = 0});
    if (pages == kSpanPages)
      others.push_back({.kind = SpanKind::kLeaves, .size_class = 0, .pages = pages});
    const std::initializer_list<uint64_t> sizes = {16, 32, 112, 224, 448, 4096, 16384};
    for (const uint64_t bytes : sizes) {
      others.push_back({.kind = SpanKind::kRecords,
                        .size_class = static_cast<uint16_t>(SizeClassOf(bytes)),
                        .pages = pages});
    }
    std::erase_if(others, [&](const SpanEntry& other) {
      return EncodeSpanEntry(entry.page, other) == EncodeSpanEntry(entry.page, entry.span);
    });
    return others;
  }

  // Calls check() with each entry of the map replaced by each other one.
  template <typename Check>
  void ForEachDamage(const Check& check) {
    for (const Entry& entry : entries_) {
      for (const SpanEntry& other : Others(entry)) {
        SCOPED_TRACE(StrCat("page ", entry.page, ", kind ", static_cast<int>(entry.span.kind),
                            " as kind ", static_cast<int>(other.kind), " of class ",
                            other.size_class));
        Store(entry.page, other);
        check();
        Restore();
        if (HasFailure()) return;
      }
    }
  }

  void ExpectUnused(PoolOffset offset, uint64_t bytes) const {
    const auto after =
        std::lower_bound(in_use_.begin(), in_use_.end(), offset,
                         [](const Piece& piece, PoolOffset place) { return piece.offset < place; });
    ASSERT_TRUE(after == in_use_.end() || offset + bytes <= after->offset) << offset;
    ASSERT_TRUE(after == in_use_.begin() ||
                std::prev(after)->offset + std::prev(after)->bytes <= offset)
        << offset;
  }

  Result<std::unique_ptr<PersistentTree>> Open() {
    return OpenTree(CountingMedium::Create(pool_.file()),
                    {.recovery = {.comparator = BytewiseComparator(), .refuse_allocation = {}},
                     .mark = MarkRun::kAtOpen});
  }

  void ExpectContents(PersistentTree* tree) const {
    for (const auto& [key, value] : contents_) {
      std::string got;
      ASSERT_OK(tree->Get(ReadOptions(), key, &got)) << key;
      ASSERT_EQ(got, value) << key;
    }
  }

  TestPool pool_{uint64_t{4} << 20};
  std::map<std::string, std::string> contents_;
  std::unique_ptr<PoolMapping> raw_;
  std::string image_;
  std::vector<Entry> entries_;
  std::vector<Piece> in_use_;  // in order
};

// Records must not be handed out as leaves or as free pages before the mark has reached them.
TEST_F(SpanDamageTest, NothingInUseIsHandedOutBeforeTheMarkIsOver) {
  int opened = 0;
  ForEachDamage([&] {
    RecoveryConfig config;
    config.comparator = BytewiseComparator();
    const auto state = RecoverTree(CountingMedium::Create(pool_.file()), std::move(config));
    if (!state.ok()) return;
    ++opened;
    Heap& heap = (*state)->heap;
    constexpr uint64_t kLeaf = 0;
    for (const uint64_t bytes : {kLeaf, uint64_t{16}, uint64_t{221}, uint64_t{16'000},
                                 uint64_t{20'000}, uint64_t{65'000}}) {
      // More objects than a span has.
      for (int i = 0; i < 200; ++i) {
        const Result<PoolOffset> object =
            bytes == kLeaf ? heap.AllocateLeaf() : heap.Allocate(bytes, Reserve::kInsert);
        if (!object.ok()) {
          EXPECT_TRUE(object.status().IsNoSpace()) << object.status().ToString();
          break;
        }
        ASSERT_NO_FATAL_FAILURE(ExpectUnused(*object, heap.ObjectBytes(*object)));
      }
    }
  });
  EXPECT_GT(opened, 20);
}

TEST_F(SpanDamageTest, AnEntryOfAnotherKindIsRefusedOrReportedAndOverwritesNothing) {
  int refused_at_open = 0;
  int refused_later = 0;
  ForEachDamage([&] {
    Result<std::unique_ptr<PersistentTree>> opened = Open();
    if (!opened.ok()) {
      EXPECT_TRUE(opened.status().IsCorruption()) << opened.status().ToString();
      ++refused_at_open;
      return;
    }
    PersistentTree* const tree = opened->get();
    bool is_noticed = tree->Verify().IsCorruption();
    for (int i = 0; i < 400; ++i) {
      const int bytes = i % 50 == 0 ? 20'000 : 150 + i % 3 * 60;
      const std::string value(static_cast<size_t>(bytes), 'n');
      const Status put = tree->Put("new" + std::to_string(i), value);
      ASSERT_TRUE(put.ok() || put.IsNoSpace() || put.IsCorruption()) << put.ToString();
      is_noticed |= put.IsCorruption();
    }
    ASSERT_NO_FATAL_FAILURE(ExpectContents(tree));
    refused_later += is_noticed ? 1 : 0;
    if (!is_noticed) {
      ASSERT_OK(tree->Verify());
    }
  });
  EXPECT_GT(refused_at_open, 10);
  EXPECT_GT(refused_later, 10);
}

TEST_F(SpanDamageTest, ATreeWhoseMarkMeetsDamageTakesNoChanges) {
  const auto records = std::find_if(entries_.begin(), entries_.end(), [this](const Entry& entry) {
    return entry.span.kind == SpanKind::kRecords && entry.span.pages == kSpanPages &&
           std::any_of(in_use_.begin(), in_use_.end(), [&entry](const Piece& piece) {
             return piece.offset / kPageBytes == entry.page;
           });
  });
  ASSERT_NE(records, entries_.end());
  Store(records->page, {.kind = SpanKind::kLeaves, .size_class = 0, .pages = records->span.pages});
  Result<std::unique_ptr<PersistentTree>> opened = Open();
  ASSERT_OK(opened.status());
  PersistentTree* const tree = opened->get();
  const std::string before(raw_->data(), raw_->bytes());
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Delete(Key(7)));
  for (const Status& status :
       {tree->Put("a", "1"), tree->Put(Key(7), std::string(200, 'w')), tree->Delete(Key(7)),
        tree->Write(batch), tree->DeleteRange(KeyRange::All()), tree->Defragment()}) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_THAT(status.ToString(), HasSubstr("copy its entries to a new pool"));
  }
  EXPECT_TRUE(tree->Verify().IsCorruption());
  ExpectContents(tree);
  EXPECT_TRUE(before == std::string(raw_->data(), raw_->bytes())) << "the pool has changed";
  EXPECT_OK(tree->Close());
}

// Such damage must not end the process by an assertion. The next open refuses the map, so no change
// may be acknowledged any more.
TEST(DamagedMapTest, AnEntryThatIsDamagedAfterTheOpenEndsAllChanges) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  // Each value takes eight pages after the leaves.
  const std::string value(30'000, 'v');
  for (const char* const key : {"a", "b", "c"}) ASSERT_OK(tree->Put(key, value));
  ASSERT_OK(tree->Delete("b"));
  ASSERT_OK(tree->Close());
  tree = OpenTestTree(&pool);
  const std::unique_ptr<PoolMapping> raw = pool.file()->Map(PoolMapMode::kShared).value();
  const uint64_t page = FirstLeafOf(raw->bytes()) / kPageBytes + kSpanPages + 8;
  char* const word = raw->data() + kPageBytes + page * 8;
  SpanEntry entry;
  ASSERT_TRUE(DecodeSpanEntry(page, DecodeFixed64(word), &entry));
  ASSERT_TRUE(entry.kind == SpanKind::kLarge && entry.pages == 8);
  EncodeFixed64(word, 0);
  EXPECT_THAT(tree->Put("d", value).ToString(), HasSubstr("bad span entry"));
  for (const Status& status :
       {tree->Put("d", value), tree->Put("a", "1"), tree->Delete("a"),
        tree->DeleteRange(KeyRange::All()), tree->Defragment(), tree->Verify()})
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  for (const char* const key : {"a", "c"}) {
    std::string found;
    ASSERT_OK(tree->Get(ReadOptions(), key, &found));
    EXPECT_EQ(found, value);
  }
  EXPECT_OK(tree->Close());
}

}  // namespace
}  // namespace ashlar::pmem
