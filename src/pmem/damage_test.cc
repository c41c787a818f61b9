// Tests damage to every word of a pool: of its first page, the span map, the leaves and the
// records. The open refuses it, Verify reports it, or it is harmless because the tree returns all
// of its entries. Reads and deletions always end. Pools with and without a log are tested.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "gtest/gtest.h"
#include "pmem/layout.h"
#include "pmem/leaf.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/pool.h"
#include "pmem/recovery.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"
#include "tests/support/verify_tree.h"

namespace ashlar::pmem {
namespace {

using Contents = std::map<std::string, std::string>;

std::string Key(int i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

class DamageSweepTest : public ::testing::TestWithParam<DurabilityClass> {
 protected:
  DamageSweepTest() {
    std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool_);
    // Make splits, replaced and deleted entries, merged leaves and a large record.
    for (int i = 0; i < 260; ++i) Put(tree.get(), Key(i * 37 % 260), std::string(20, 'v'));
    for (int i = 0; i < 260; i += 3) Put(tree.get(), Key(i), "other " + std::to_string(i));
    for (int i = 90; i < 180; ++i) {
      EXPECT_TRUE(tree->Delete(Key(i)).ok());
      contents_.erase(Key(i));
    }
    Put(tree.get(), Key(500), std::string(20'000, 'l'));
    EXPECT_TRUE(tree->Close().ok());
    tree.reset();
    raw_ = pool_.file()->Map(PoolMapMode::kShared).value();
    image_.assign(raw_->data(), raw_->bytes());
  }

  void Put(PersistentTree* tree, const std::string& key, const std::string& value) {
    EXPECT_TRUE(tree->Put(key, value).ok());
    contents_[key] = value;
  }
  uint64_t WordAt(uint64_t offset) const { return DecodeFixed64(image_.data() + offset); }
  // Whether the record at this offset is that of an entry of the tree.
  bool IsOfAnEntry(PoolOffset at) const {
    const uint64_t key_bytes = DecodeFixed32(image_.data() + at + 4);
    const uint64_t value_bytes = DecodeFixed32(image_.data() + at + 8);
    const uint64_t key_at = at + kRecordHeaderBytes;
    if (key_bytes > 100 || key_at + key_bytes + value_bytes > image_.size()) return false;
    const auto entry = contents_.find(image_.substr(key_at, key_bytes));
    return entry != contents_.end() &&
           entry->second == image_.substr(key_at + key_bytes, value_bytes);
  }
  PoolOffset MapOffsetOf(uint64_t page) const { return kPageBytes + page * 8; }

  // Calls the function with each span of the chain.
  template <typename Function>
  void ForEachSpan(const Function& function) const {
    for (uint64_t page = FirstLeafOf(image_.size()) / kPageBytes;
         page < image_.size() / kPageBytes;) {
      SpanEntry entry;
      ASSERT_TRUE(DecodeSpanEntry(page, WordAt(MapOffsetOf(page)), &entry));
      function(page, entry);
      if (entry.kind == SpanKind::kEnd) return;
      page += entry.pages;
    }
  }

  void Sweep(const char* what, uint64_t begin, uint64_t end) {
    for (uint64_t offset = begin; offset + 8 <= end; offset += 8) {
      const uint64_t word = WordAt(offset);
      // Neighbouring words are valid elsewhere.
      std::vector<uint64_t> others = {0,        ~uint64_t{0},       word + 1,
                                      word - 1, WordAt(offset ^ 8), WordAt(offset ^ 64)};
      for (uint64_t bit = offset / 8 % 5; bit < 64; bit += 5)
        others.push_back(word ^ uint64_t{1} << bit);
      for (const uint64_t other : others) {
        if (other == word) continue;
        EncodeFixed64(raw_->data() + offset, other);
        Judge();
        ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure())
            << what << ": offset " << offset << ": " << std::hex << word << " became " << other;
        memcpy(raw_->data(), image_.data(), image_.size());
      }
    }
    printf("damage: %s: %llu refused, %llu reported, %llu harmless\n", what,
           static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(reported_),
           static_cast<unsigned long long>(harmless_));
  }

  Result<std::unique_ptr<Medium>> OpenMedium() {
    if (GetParam() == DurabilityClass::kCpuFlush)
      return std::unique_ptr<Medium>(CountingMedium::Create(pool_.file()));
    ASHLAR_ASSIGN_OR_RETURN(const PoolHeader header,
                            DecodePoolHeader("test", Slice(raw_->data(), kPageBytes), raw_->bytes(),
                                             *BytewiseComparator()));
    auto storage = std::make_unique<MemoryStorage>(pool_.file());
    ASHLAR_RETURN_IF_ERROR(ReplayLog(storage.get(), {.pool_id = header.pool_id}));
    return LoggedMedium::Create(std::move(storage), {.pool_id = header.pool_id,
                                                     .log_bytes_max = uint64_t{1} << 20,
                                                     .private_bytes_max = uint64_t{1} << 20});
  }

  void Judge() {
    TreeConfig config = {.recovery = {.comparator = BytewiseComparator(), .refuse_allocation = {}},
                         .mark = MarkRun::kAtOpen};
    Result<std::unique_ptr<Medium>> medium = OpenMedium();
    if (!medium.ok()) {
      ++refused_;
      return;
    }
    Result<std::unique_ptr<PersistentTree>> opened =
        OpenTree(std::move(medium).value(), std::move(config));
    if (!opened.ok()) {
      ++refused_;
      return;
    }
    PersistentTree* const tree = opened->get();
    const bool verified = VerifyAndCheck(tree).ok();
    Contents found;
    const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
    for (it->SeekToFirst(); it->Valid() && found.size() <= contents_.size(); it->Next())
      found[it->key().ToString()] = it->value().ToString();
    bool equal = it->status().ok() && found == contents_;
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
    }
    for (const auto& [key, value] : contents_) {
      std::string got;
      equal &= tree->Get(ReadOptions(), key, &got).ok() && got == value;
    }
    ++(verified ? harmless_ : reported_);
    EXPECT_TRUE(equal || !verified) << "wrong contents, and Verify reports nothing";
    // Each of these calls returns, and none accesses memory outside of the pool.
    static_cast<void>(tree->Put("more", std::string(100, 'x')));
    static_cast<void>(tree->Put(Key(1), std::string(20, 'x')));
    static_cast<void>(tree->Delete(Key(30)));
    static_cast<void>(tree->Count(KeyRange::All()));
    static_cast<void>(tree->Defragment());
    static_cast<void>(tree->DeleteRange(KeyRange::Between(Key(40), Key(220))));
    static_cast<void>(tree->DeleteRange(KeyRange::All()));
  }

  TestPool pool_{uint64_t{1} << 20};
  Contents contents_;
  std::unique_ptr<PoolMapping> raw_;
  std::string image_;
  uint64_t refused_ = 0;
  uint64_t reported_ = 0;
  uint64_t harmless_ = 0;
};

TEST_P(DamageSweepTest, OfTheFirstPageIsNeverSilent) {
  Sweep("first page", 0, kPageBytes);
  EXPECT_GT(refused_, 100U);
}

TEST_P(DamageSweepTest, OfTheSpanMapIsNeverSilent) {
  uint64_t end = 0;
  ForEachSpan([&](uint64_t page, const SpanEntry& entry) {
    Sweep("span map", MapOffsetOf(page), MapOffsetOf(page) + 8);
    end = page + entry.pages;
  });
  Sweep("span map, after its end", MapOffsetOf(end), MapOffsetOf(end + 8));
  EXPECT_GT(refused_, 20U);
}

TEST_P(DamageSweepTest, OfALeafIsNeverSilent) {
  ForEachSpan([&](uint64_t page, const SpanEntry& entry) {
    if (entry.kind != SpanKind::kLeaves) return;
    for (uint64_t at = page * kPageBytes; at < (page + entry.pages) * kPageBytes;
         at += kLeafBytes) {
      if (WordAt(at + kLeafTag) == LeafTag(at)) Sweep("leaf", at, at + kLeafBytes);
    }
  });
  EXPECT_GT(refused_ + reported_, 500U);
}

TEST_P(DamageSweepTest, OfARecordIsNeverSilent) {
  ForEachSpan([&](uint64_t page, const SpanEntry& entry) {
    if (entry.kind == SpanKind::kRecords)
      Sweep("records", page * kPageBytes, page * kPageBytes + 512);
    if (entry.kind == SpanKind::kLarge) Sweep("large", page * kPageBytes, page * kPageBytes + 64);
  });
  EXPECT_GT(reported_, 500U);
}

// Only the lengths change. The bytes of the key and of the value do not change or move.
TEST_P(DamageSweepTest, AByteThatMovesFromAValueToItsKeyIsReported) {
  uint64_t moved = 0;
  ForEachSpan([&](uint64_t page, const SpanEntry& entry) {
    if (entry.kind != SpanKind::kRecords) return;
    for (PoolOffset at = page * kPageBytes; at < (page + entry.pages) * kPageBytes;
         at += kUnitBytes) {
      if (!IsOfAnEntry(at)) continue;
      char* const lengths = raw_->data() + at + 4;
      EncodeFixed32(lengths, DecodeFixed32(lengths) + 1);
      EncodeFixed32(lengths + 4, DecodeFixed32(lengths + 4) - 1);
      Judge();
      memcpy(raw_->data(), image_.data(), image_.size());
      ++moved;
    }
  });
  EXPECT_GT(moved, 150U);
  EXPECT_EQ(harmless_, 0U);
}

// Slots have no checksum. Defragmentation must check that a record is as large as its slot says, or
// it would copy a record over its neighbours.
TEST_P(DamageSweepTest, ASlotOfAnotherSizeMovesNothing) {
  PoolOffset damaged = 0;
  ForEachSpan([&](uint64_t page, const SpanEntry& entry) {
    if (entry.kind != SpanKind::kLeaves) return;
    for (uint64_t at = page * kPageBytes; at < (page + entry.pages) * kPageBytes;
         at += kLeafBytes) {
      if (WordAt(at + kLeafTag) != LeafTag(at)) continue;
      for (uint64_t slot = at + kLeafSlots; slot < at + kLeafBytes; slot += 8) {
        if (SlotUnits(WordAt(slot)) * kUnitBytes > 20'000) damaged = slot;
      }
    }
  });
  ASSERT_NE(damaged, 0U);
  EncodeFixed64(raw_->data() + damaged, EncodeSlot(SlotRecord(WordAt(damaged)), 1));
  Result<std::unique_ptr<PersistentTree>> opened =
      OpenTree(OpenMedium().value(),
               {.recovery = {.comparator = BytewiseComparator(), .refuse_allocation = {}},
                .mark = MarkRun::kAtOpen});
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_TRUE((*opened)->Defragment().IsCorruption());
  for (const auto& [key, value] : contents_) {
    std::string got;
    EXPECT_TRUE((*opened)->Get(ReadOptions(), key, &got).ok() && got == value) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Media, DamageSweepTest,
                         ::testing::Values(DurabilityClass::kCpuFlush, DurabilityClass::kLogged),
                         [](const ::testing::TestParamInfo<DurabilityClass>& param) {
                           return param.param == DurabilityClass::kLogged ? "Logged" : "Mapped";
                         });

}  // namespace
}  // namespace ashlar::pmem
