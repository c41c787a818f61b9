#include "pmem/heap.h"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/random.h"
#include "execute/epoch.h"
#include "gtest/gtest.h"
#include "pmem/pool.h"
#include "tests/support/test_epochs.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{4} << 20;

TEST(SizeClassTest, EveryClassHoldsItsSizesAndWastesAtMostAnEighth) {
  uint32_t before = 0;
  for (uint64_t bytes = 1; bytes <= kSmallBytesMax; ++bytes) {
    const uint32_t size_class = SizeClassOf(bytes);
    ASSERT_LT(size_class, kSizeClasses);
    ASSERT_GE(SizeClassBytes(size_class), bytes);
    ASSERT_TRUE(size_class == before || size_class == before + 1) << bytes;
    ASSERT_EQ(SizeClassBytes(size_class) % kUnitBytes, 0U);
    ASSERT_LE(SizeClassBytes(size_class) - bytes, bytes <= 1024 ? 15 : bytes / 8) << bytes;
    before = size_class;
  }
  EXPECT_EQ(before, kSizeClasses - 1);
}

class HeapTest : public ::testing::Test {
 protected:
  HeapTest() { Reopen(true); }

  void Reopen(bool marked) {
    heap_.reset();
    medium_ = CountingMedium::Create(pool_.file());
    const Slice page(medium_->view(), kPageBytes);
    const PoolHeader header =
        DecodePoolHeader("test", page, medium_->bytes(), *BytewiseComparator()).value();
    heap_ = std::make_unique<Heap>(medium_.get(), &pins_, &TestEpochs(), header,
                                   std::function<bool()>());
    const Status status = heap_->ReadMap();
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (marked) heap_->FinishMark(true);
  }
  PoolOffset Take(uint64_t bytes) {
    const Result<PoolOffset> object = heap_->Allocate(bytes, Reserve::kInsert);
    return object.ok() ? object.value() : 0;
  }

  TestPool pool_{kPoolBytes};
  PinTable pins_{nullptr, kPoolBytes};
  std::unique_ptr<CountingMedium> medium_;
  std::unique_ptr<Heap> heap_;
};

TEST_F(HeapTest, ASpanCostsOneFenceAndItsObjectsNone) {
  const VerbCounts before = medium_->counts();
  // The first span of a class this small is a page, and one object is held back.
  for (uint64_t i = 0; i + 1 < kPageBytes / 48; ++i) ASSERT_NE(Take(48), 0U);
  EXPECT_EQ((medium_->counts() - before).fences, 1U);
  EXPECT_EQ((medium_->counts() - before).lines_flushed, 1U);
}

// A class must not take 64 KiB for its first object, but many small spans cost a fence or two each.
TEST_F(HeapTest, SpansGrowWithTheirClass) {
  const PoolOffset one = Take(48);
  const PoolOffset of_next_class = Take(96);
  EXPECT_EQ(of_next_class / kPageBytes, one / kPageBytes + 1);
  const VerbCounts before = medium_->counts();
  for (int i = 0; i < 3000; ++i) ASSERT_NE(Take(48), 0U);
  EXPECT_LT((medium_->counts() - before).fences, 25U);  // of 36 pages
}

TEST_F(HeapTest, ObjectsNeverOverlapInAnyHistory) {
  const uint64_t seed = 301;
  Random random(seed);
  std::map<PoolOffset, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (random.Uniform(100) < 55) {
      const uint64_t bytes = 1 + (random.OneIn(10) ? random.Uniform(60000) : random.Uniform(300));
      const PoolOffset object = Take(bytes);
      if (object == 0) continue;
      const auto after = live.lower_bound(object);
      const uint64_t next = after == live.end() ? kPoolBytes : after->first;
      const uint64_t end_before =
          after == live.begin() ? 0 : std::prev(after)->first + std::prev(after)->second;
      ASSERT_LE(object + bytes, next) << "seed " << seed << " step " << step;
      ASSERT_LE(end_before, object) << "seed " << seed << " step " << step;
      ASSERT_GE(heap_->ObjectBytes(object), bytes);
      live.emplace(object, bytes);
    } else if (!live.empty()) {
      auto victim = live.lower_bound(random.Uniform(kPoolBytes));
      if (victim == live.end()) victim = live.begin();
      if (random.OneIn(2)) {
        heap_->Retire(victim->first, victim->second);
      } else {
        heap_->Release(victim->first);
      }
      live.erase(victim);
    }
  }
  // The map is always a tiling, and an open with a mark finds exactly the live objects.
  heap_->Reclaim();
  const uint64_t used = heap_->UsedBytes();
  Reopen(false);
  for (const auto& [object, bytes] : live) ASSERT_TRUE(heap_->MarkRecord(object, bytes));
  heap_->FinishMark(true);
  EXPECT_EQ(heap_->UsedBytes(), used);
  for (const auto& [object, bytes] : live) heap_->Release(object);
  // Everything else is one free run again.
  EXPECT_NE(Take(kPoolBytes - (uint64_t{1} << 20)), 0U);
}

TEST_F(HeapTest, OneObjectOfAClassInUseIsHeldBackForUpdates) {
  std::vector<PoolOffset> objects;
  for (PoolOffset object = Take(16384); object != 0; object = Take(16384))
    objects.push_back(object);
  EXPECT_TRUE(heap_->Allocate(16384, Reserve::kInsert).status().IsNoSpace());
  const Result<PoolOffset> held_back = heap_->Allocate(16384, Reserve::kUpdate);
  ASSERT_TRUE(held_back.ok());
  EXPECT_TRUE(heap_->Allocate(16384, Reserve::kUpdate).status().IsNoSpace());
  heap_->Retire(objects[0], 16384);
  heap_->Reclaim();
  EXPECT_TRUE(heap_->Allocate(16384, Reserve::kInsert).status().IsNoSpace());
  EXPECT_EQ(heap_->Allocate(16384, Reserve::kUpdate).value(), objects[0]);
}

TEST_F(HeapTest, WhatIsRetiredWaitsForGuardsAndPins) {
  const PoolOffset object = Take(1000);
  pins_.Pin(object);
  const uint64_t used = heap_->UsedBytes();
  heap_->Retire(object, 5000);
  heap_->Reclaim();
  EXPECT_EQ(heap_->UsedBytes(), used);
  pins_.Unpin(object);
  heap_->Reclaim();
  EXPECT_LT(heap_->UsedBytes(), used);
}

TEST_F(HeapTest, UntilTheMarkIsOverOldSpansHandOutNothing) {
  const PoolOffset kept = Take(48);
  const PoolOffset lost = Take(48);
  Reopen(false);
  const PoolOffset fresh = Take(48);
  EXPECT_GT(fresh, lost);
  EXPECT_NE(fresh / kPageBytes, lost / kPageBytes);
  ASSERT_TRUE(heap_->MarkRecord(kept, 48));
  heap_->FinishMark(true);
  std::set<PoolOffset> taken;
  for (int i = 0; i < 4000; ++i) taken.insert(Take(48));
  EXPECT_FALSE(taken.contains(kept));
  EXPECT_TRUE(taken.contains(lost));
}

// Bytes that the mark has not reached must not count as free, or a full pool would seem empty.
TEST_F(HeapTest, UntilTheMarkIsOverWhatCannotBeAllocatedCountsAsUsed) {
  const uint64_t empty = heap_->UsedBytes();
  const PoolOffset kept = Take(5000);
  const PoolOffset large = Take(65'000);
  ASSERT_NE(Take(65'000), 0U);
  heap_->Release(large);
  ASSERT_NE(Take(20'000), 0U);  // the map calls the rest of that run free
  Reopen(false);
  const auto free_bytes = [this] { return kPoolBytes - heap_->UsedBytes(); };
  EXPECT_EQ(free_bytes(), heap_->CountFreePages().all * kPageBytes);
  ASSERT_TRUE(heap_->MarkRecord(kept, 5000));
  EXPECT_EQ(free_bytes(), heap_->CountFreePages().all * kPageBytes);
  heap_->CheckInvariants();
  heap_->FinishMark(true);
  EXPECT_EQ(heap_->UsedBytes(), empty + SizeClassBytes(SizeClassOf(5000)));
  Reopen(false);
  const uint64_t before = heap_->UsedBytes();
  heap_->FinishMark(false);
  EXPECT_EQ(heap_->UsedBytes(), before);
}

TEST_F(HeapTest, WhatIsUnlinkedDuringTheMarkIsFreeAfterwards) {
  const uint64_t empty = heap_->UsedBytes();
  const PoolOffset met = Take(5000);
  const PoolOffset not_met = Take(5000);
  Reopen(false);
  ASSERT_TRUE(heap_->MarkRecord(met, 5000));
  for (const PoolOffset object : {met, not_met}) {
    heap_->BeforeUnlink(object);
    heap_->Retire(object, 5000);
  }
  heap_->Reclaim();
  EXPECT_GT(heap_->UsedBytes(), empty);
  heap_->FinishMark(true);
  EXPECT_EQ(heap_->UsedBytes(), empty);
}

// A record may be unlinked before the mark reaches it, while a reader is still in its epoch. The
// mark must not take it for free when it ends, or the record would be handed out. It would then be
// freed again under its new owner when the reader leaves.
TEST_F(HeapTest, WhatIsUnlinkedBeforeTheMarkMeetsItWaitsForItsReaders) {
  const PoolOffset object = Take(5000);
  Reopen(false);
  {
    EpochGuard guard(TestEpochs());
    heap_->BeforeUnlink(object);
    heap_->Retire(object, 5000);
    heap_->FinishMark(true);
    for (int i = 0; i < 100; ++i) EXPECT_NE(Take(5000), object);
  }
  const uint64_t before = heap_->UsedBytes();
  heap_->Reclaim();
  EXPECT_EQ(heap_->UsedBytes(), before - SizeClassBytes(SizeClassOf(5000)));
}

// The same, but the mark ends between the unlinking and the retirement, where a logged change waits
// for its sync.
TEST_F(HeapTest, WhatIsUnlinkedBeforeTheMarkMeetsItAndRetiredAfterItsEndIsHandedOutOnce) {
  const PoolOffset object = Take(5000);
  Reopen(false);
  heap_->BeforeUnlink(object);
  heap_->FinishMark(true);
  for (int i = 0; i < 100; ++i) EXPECT_NE(Take(5000), object);
  const uint64_t before = heap_->UsedBytes();
  heap_->Retire(object, 5000);
  heap_->Reclaim();
  EXPECT_EQ(heap_->UsedBytes(), before - SizeClassBytes(SizeClassOf(5000)));
}

// A checkpoint waits for running operations. These take the heap's mutex to unlink a record before
// the mark is over, and in splits that copy records. An allocation that needs a span must not begin
// its operation with the mutex held, or it and the checkpoint would wait for each other forever.
TEST_F(HeapTest, AnAllocationThatWaitsForACheckpointLeavesTheHeapToOperationsUnderWay) {
  const PoolOffset unlinked = Take(48);
  Reopen(false);
  std::future<uint64_t> under_way;
  medium_->set_on_begin([&] {
    under_way = std::async(std::launch::async, [&] {
      heap_->BeforeUnlink(unlinked);
      return heap_->ObjectBytes(unlinked);
    });
    EXPECT_EQ(under_way.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  });
  EXPECT_NE(Take(20000), 0U);
  EXPECT_EQ(under_way.get(), 48U);
  EXPECT_NE(Take(96), 0U);
  EXPECT_EQ(under_way.get(), 48U);
  medium_->set_on_begin({});
}

// A thread's first allocation of a class reserves more objects, which it takes without the mutex.
TEST_F(HeapTest, AnAllocationFromAReservationNeedsNoMutex) {
  std::promise<void> is_held;
  std::promise<void> is_reserved;
  std::future<PoolOffset> taken = std::async(std::launch::async, [&] {
    EXPECT_NE(Take(48), 0U);
    is_reserved.set_value();
    is_held.get_future().wait();
    return Take(48);
  });
  is_reserved.get_future().wait();
  bool is_first = true;
  medium_->set_on_fence([&] {
    if (!std::exchange(is_first, false)) return;
    is_held.set_value();
    EXPECT_EQ(taken.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  });
  EXPECT_NE(Take(20000), 0U);
  medium_->set_on_fence({});
  EXPECT_NE(taken.get(), 0U);
}

TEST_F(HeapTest, ReservedObjectsAreTakenBackWhenThePoolIsFull) {
  uint64_t taken = 0;
  while (Take(96) != 0) taken++;
  const uint64_t used = heap_->UsedBytes();
  Reopen(true);
  constexpr uint64_t kThreads = 4;
  for (uint64_t thread = 0; thread < kThreads; ++thread)
    std::thread([&] { EXPECT_NE(Take(96), 0U); }).join();
  heap_->CheckInvariants();
  uint64_t taken_here = 0;
  while (Take(96) != 0) taken_here++;
  heap_->CheckInvariants();
  EXPECT_EQ(taken_here + kThreads, taken);
  EXPECT_EQ(heap_->UsedBytes(), used);
  // The held-back object is in no reservation.
  EXPECT_TRUE(heap_->Allocate(96, Reserve::kUpdate).ok());
}

// A class may begin with fewer than four objects.
TEST_F(HeapTest, AClassBeginsWithFewerObjectsWhereFourHaveNoRoom) {
  std::vector<PoolOffset> large;
  for (PoolOffset object = Take(20'000); object != 0; object = Take(20'000))
    large.push_back(object);
  ASSERT_GT(large.size(), 100U);
  heap_->Release(large[50]);  // five pages: two objects
  EXPECT_EQ(Take(10'000), large[50]);
  while (Take(10'000) != 0) {
  }
  // I2.
  EXPECT_TRUE(heap_->Allocate(10'000, Reserve::kUpdate).ok());
  heap_->CheckInvariants();
}

TEST_F(HeapTest, AClassThatHasRoomForOneObjectOnlyDoesNotBegin) {
  std::vector<PoolOffset> large;
  for (PoolOffset object = Take(20'000); object != 0; object = Take(20'000))
    large.push_back(object);
  heap_->Release(large[50]);  // five pages: one object
  EXPECT_EQ(Take(16'000), 0U);
  heap_->CheckInvariants();
  EXPECT_EQ(Take(20'000), large[50]);
}

// An update that fails leaves a span of one object. An insert must not take that object, or none
// would be held back in its class.
TEST_F(HeapTest, TheOnlyObjectOfAClassIsForUpdates) {
  std::vector<PoolOffset> large;
  for (PoolOffset object = Take(20'000); object != 0; object = Take(20'000))
    large.push_back(object);
  heap_->Release(large[50]);  // five pages: one object
  for (int i = 0; i < 3; ++i) {
    const Result<PoolOffset> only = heap_->Allocate(16'000, Reserve::kUpdate);
    ASSERT_TRUE(only.ok());
    heap_->Release(only.value());
    EXPECT_EQ(Take(16'000), 0U);
    heap_->CheckInvariants();
  }
  // The class has nothing in use, so other classes get its pages. It begins where two objects fit.
  EXPECT_EQ(Take(20'000), large[50]);
  heap_->Release(large[50]);
  heap_->Release(large[51]);
  EXPECT_NE(Take(16'000), 0U);
  while (Take(16'000) != 0) {
  }
  EXPECT_TRUE(heap_->Allocate(16'000, Reserve::kUpdate).ok());
  heap_->CheckInvariants();
}

// Spans leave their class's list from any position and return to it.
TEST_F(HeapTest, EveryHistoryOfFullEmptyAndEvacuatedSpansLeavesTheListsOfSpansInOrder) {
  const uint64_t seed = 302;
  Random random(seed);
  std::vector<PoolOffset> live;
  for (int step = 0; step < 20000; ++step) {
    // The number of objects grows and shrinks, and so does the number of spans.
    if (random.Uniform(100) < (step / 2000 % 2 == 0 ? 80U : 25U)) {
      const PoolOffset object = Take(900);
      if (object != 0) live.push_back(object);
    } else if (!live.empty()) {
      std::swap(live[random.Uniform(live.size())], live.back());
      heap_->Release(live.back());
      live.pop_back();
    }
    if (step % 500 == 0) heap_->BeginEvacuation(0.75);
    if (step % 500 == 100) heap_->EndEvacuation();
    if (step % 50 == 0) heap_->CheckInvariants();
  }
  EXPECT_GT(live.size(), 100U);
}

// The object that a replacement frees in such a span must be usable before the evacuation ends, or
// the next replacement would return NoSpace.
TEST_F(HeapTest, ReplacementsInAFullPoolFindAnObjectWhileTheirSpanIsEmptied) {
  constexpr uint64_t kBytes = 16384;
  // Each span has four. The first one gives three, because its last one is held back.
  std::vector<PoolOffset> objects;
  for (PoolOffset object = Take(kBytes); object != 0; object = Take(kBytes))
    objects.push_back(object);
  ASSERT_GT(objects.size(), 100U);
  // The third span is the only one that is half in use, and three others have room for the rest.
  for (const size_t i : {8U, 9U, 3U, 11U, 15U}) heap_->Release(objects[i]);
  heap_->BeginEvacuation(0.5);
  ASSERT_TRUE(heap_->IsEvacuated(objects[7]));
  ASSERT_TRUE(heap_->IsEvacuated(objects[10]));
  while (heap_->Allocate(kBytes, Reserve::kMove).ok()) {
  }
  std::vector<PoolOffset> replaced;
  for (const PoolOffset object : {objects[7], objects[10], objects[4]}) {
    const Result<PoolOffset> update = heap_->Allocate(kBytes, Reserve::kUpdate);
    ASSERT_TRUE(update.ok()) << update.status().ToString();
    replaced.push_back(update.value());
    heap_->Release(object);
    heap_->CheckInvariants();
  }
  heap_->EndEvacuation();
  heap_->CheckInvariants();
  // The span that was emptied has some of them.
  for (const PoolOffset object : replaced) EXPECT_EQ(heap_->ObjectBytes(object), kBytes);
  EXPECT_TRUE(heap_->Allocate(kBytes, Reserve::kUpdate).ok());
}

// An insert must not return NoSpace while its class has free objects, even if all of them are in
// spans that are being emptied.
TEST_F(HeapTest, InsertsInAFullPoolFindAnObjectInASpanThatIsBeingEmptied) {
  constexpr uint64_t kBytes = 16384;
  std::vector<PoolOffset> objects;  // as in the test above
  for (PoolOffset object = Take(kBytes); object != 0; object = Take(kBytes))
    objects.push_back(object);
  ASSERT_GT(objects.size(), 100U);
  const std::vector<size_t> released = {8, 9, 3, 11, 15};
  for (const size_t i : released) heap_->Release(objects[i]);
  heap_->BeginEvacuation(0.5);
  size_t taken = 0;
  while (heap_->Allocate(kBytes, Reserve::kMove).ok()) taken++;
  EXPECT_LT(taken, released.size());
  EXPECT_TRUE(heap_->IsEvacuated(objects[7]));  // not refilled by what is moved out of it
  heap_->CheckInvariants();
  while (Take(kBytes) != 0) taken++;
  EXPECT_EQ(taken, released.size());
  EXPECT_FALSE(heap_->IsEvacuated(objects[7]));
  heap_->CheckInvariants();
  heap_->EndEvacuation();
  heap_->CheckInvariants();
  EXPECT_TRUE(heap_->Allocate(kBytes, Reserve::kUpdate).ok());
}

// Each class keeps an empty span, and a thread keeps what it has reserved of it. A full pool takes
// both back.
TEST_F(HeapTest, EmptySpansOfOtherClassesAreTakenBackWhenThePoolIsFull) {
  const auto fill = [&] {
    std::vector<PoolOffset> objects;
    for (PoolOffset object = Take(16384); object != 0; object = Take(16384))
      objects.push_back(object);
    heap_->CheckInvariants();
    for (const PoolOffset object : objects) heap_->Release(object);
    heap_->CheckInvariants();
    return objects.size();
  };
  const size_t all = fill();
  // One page for each class, together as many pages as a span of the large objects.
  for (uint64_t bytes = 48; bytes <= 768; bytes += 48) {
    const PoolOffset object = Take(bytes);
    ASSERT_NE(object, 0U);
    heap_->Release(object);
  }
  heap_->CheckInvariants();
  EXPECT_EQ(fill(), all);
}

// Pages that a span of leaves gave back keep their entry in the map, so an open makes an empty span
// of them again. If it kept that span as the only one with room for a leaf, large records and the
// log of a batch would find no space in a pool that had it before.
TEST_F(HeapTest, AnEmptySpanOfLeavesThatAnOpenFindsIsTakenBackWhenThePoolIsFull) {
  std::vector<PoolOffset> leaves;
  for (uint64_t i = 0; i < kLeavesPerSpan + 1; ++i) leaves.push_back(heap_->AllocateLeaf().value());
  std::vector<PoolOffset> large;
  for (PoolOffset object = Take(20'000); object != 0; object = Take(20'000))
    large.push_back(object);
  // With a free leaf elsewhere the second span is given back. Then the first one is full again.
  heap_->Release(leaves.front());
  heap_->Release(leaves.back());
  ASSERT_EQ(heap_->ObjectBytes(leaves.back()), 0U);
  ASSERT_EQ(heap_->AllocateLeaf().value(), leaves.front());
  const uint64_t free_pages = heap_->CountFreePages().all;
  ASSERT_GE(free_pages, kSpanPages);

  Reopen(false);
  const std::vector<PoolOffset> spans = heap_->LeafSpans();
  ASSERT_EQ(spans.size(), 2U);
  heap_->MarkLeaves(spans[0], std::bitset<kLeavesPerSpan>().set());
  heap_->MarkLeaves(spans[1], {});
  for (const PoolOffset object : large) ASSERT_TRUE(heap_->MarkRecord(object, 20'000));
  heap_->FinishMark(true);
  heap_->CheckInvariants();
  ASSERT_EQ(heap_->CountFreePages().all, free_pages - kSpanPages);
  EXPECT_NE(Take(60'000), 0U);
  heap_->CheckInvariants();
  // A leaf gets a span once there are pages for one.
  EXPECT_TRUE(heap_->AllocateLeaf().status().IsNoSpace());
  for (const PoolOffset object : large) heap_->Release(object);
  EXPECT_TRUE(heap_->AllocateLeaf().ok());
  heap_->CheckInvariants();
}

// Threads allocate, free and take reservations from each other. No object is handed out twice.
TEST_F(HeapTest, ThreadsNeverShareAnObject) {
  constexpr uint64_t kSteps = 20000;
  std::vector<std::atomic<bool>> is_taken(kPoolBytes / kUnitBytes);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(700 + thread);
      std::vector<PoolOffset> mine;
      const auto release = [&](PoolOffset object) {
        is_taken[object / kUnitBytes] = false;
        heap_->Release(object);
      };
      for (uint64_t step = 0; step < kSteps; ++step) {
        if (random.Uniform(100) < 60) {
          // Large objects fill the pool, so that reservations are taken back.
          const PoolOffset object = Take(random.OneIn(20) ? 200'000 : 1 + random.Uniform(300));
          if (object == 0) continue;
          ASSERT_FALSE(is_taken[object / kUnitBytes].exchange(true)) << "step " << step;
          mine.push_back(object);
        } else if (!mine.empty()) {
          std::swap(mine[random.Uniform(mine.size())], mine.back());
          release(mine.back());
          mine.pop_back();
        }
      }
      std::for_each(mine.begin(), mine.end(), release);
    });
  }
  for (std::thread& thread : threads) thread.join();
  heap_->CheckInvariants();
  // Nothing is lost: all but the header and the map is one run again.
  EXPECT_NE(Take(kPoolBytes - (uint64_t{1} << 20)), 0U);
}

TEST_F(HeapTest, ADamagedMapIsRefusedWithItsOffset) {
  ASSERT_NE(Take(48), 0U);
  const PoolOffset entry = kPageBytes + (FirstLeafOf(kPoolBytes) / kPageBytes + 16) * 8;
  heap_.reset();
  const std::unique_ptr<PoolMapping> raw = pool_.file()->Map(PoolMapMode::kShared).value();
  raw->data()[entry] ^= 4;
  medium_ = CountingMedium::Create(pool_.file());
  const PoolHeader header = DecodePoolHeader("test", Slice(medium_->view(), kPageBytes),
                                             medium_->bytes(), *BytewiseComparator())
                                .value();
  Heap heap(medium_.get(), &pins_, &TestEpochs(), header, {});
  const Status status = heap.ReadMap();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(std::to_string(entry)), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace ashlar::pmem
