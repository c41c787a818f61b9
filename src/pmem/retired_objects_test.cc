#include "pmem/retired_objects.h"

#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/test_epochs.h"

namespace ashlar::pmem {
namespace {

constexpr size_t kBatchObjects = 64;

class RetiredObjectsTest : public ::testing::Test {
 protected:
  ~RetiredObjectsTest() override { retired_.Reclaim(); }

  // Returns objects that no other call returns.
  std::vector<PoolOffset> NewObjects(size_t n) {
    std::vector<PoolOffset> objects;
    for (size_t i = 0; i < n; ++i) objects.push_back(next_ += kUnitBytes);
    return objects;
  }
  void Add(const std::vector<PoolOffset>& objects) {
    for (const PoolOffset object : objects) retired_.Add(object, kUnitBytes);
  }
  size_t freed() const { return freed_.size(); }

  PinTable pins_{nullptr, uint64_t{16} << 20};
  std::map<PoolOffset, int> freed_;  // how often each object was freed
  PoolOffset next_ = 0;
  RetiredObjects retired_{&pins_, &TestEpochs(), [this](std::span<const PoolOffset> objects) {
                            for (const PoolOffset object : objects) ++freed_[object];
                          }};
};

TEST_F(RetiredObjectsTest, AnObjectIsFreeOnceItsBatchAndEpochAreOver) {
  {
    const EpochGuard guard(TestEpochs());
    Add(NewObjects(kBatchObjects));
    TestEpochs().Reclaim();
    EXPECT_EQ(freed(), 0U);
  }
  TestEpochs().Synchronize();
  EXPECT_EQ(freed(), kBatchObjects);
}

// There are more threads than batches, and no batch is full.
TEST_F(RetiredObjectsTest, ObjectsOfManyThreadsAreFreedOnce) {
  constexpr size_t kThreads = 12;
  constexpr size_t kPerThread = 20;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([this, objects = NewObjects(kPerThread)] { Add(objects); });
  for (std::thread& thread : threads) thread.join();
  retired_.Reclaim();
  EXPECT_EQ(freed(), kThreads * kPerThread);
  for (const auto& [object, times] : freed_) EXPECT_EQ(times, 1) << object;
}

TEST_F(RetiredObjectsTest, APinnedObjectIsFreeOnceItIsUnpinned) {
  const std::vector<PoolOffset> objects = NewObjects(3);
  pins_.Pin(objects[1]);
  Add(objects);
  retired_.Reclaim();
  EXPECT_EQ(freed_, (std::map<PoolOffset, int>{{objects[0], 1}, {objects[2], 1}}));
  pins_.Unpin(objects[1]);
  retired_.Reclaim();
  EXPECT_EQ(freed_[objects[1]], 1);
}

// If every object with the hash of a pin waited for it, one in 16,384 would wait. A pool with many
// pins would then reuse little space.
TEST_F(RetiredObjectsTest, APinDelaysNoOtherObject) {
  const PoolOffset pinned = NewObjects(1).front();
  pins_.Pin(pinned);
  const size_t others = 4 * pins_.words();
  Add(NewObjects(others));
  Add({pinned});
  retired_.Reclaim();
  EXPECT_EQ(freed(), others);
  // The release of the first of two pins of an object frees nothing.
  pins_.Pin(pinned);
  pins_.Unpin(pinned);
  retired_.Reclaim();
  EXPECT_EQ(freed_[pinned], 0);
  pins_.Unpin(pinned);
  retired_.Reclaim();
  EXPECT_EQ(freed_[pinned], 1);
  EXPECT_FALSE(pins_.AnyPinned());
}

// If two pins of a hash delayed every object with it, 30,000 pins would delay one in 13, not 24.
TEST_F(RetiredObjectsTest, ManyPinsDelayFewOtherObjects) {
  constexpr uint64_t kPoolBytes = uint64_t{2} << 40;
  PinTable pins(nullptr, kPoolBytes);
  const uint64_t seed = 303;
  Random random(seed);
  const auto some_objects = [&](size_t n) {
    std::set<PoolOffset> objects;
    while (objects.size() < n) objects.insert(random.Uniform(kPoolBytes / kUnitBytes) * kUnitBytes);
    return objects;
  };
  const std::set<PoolOffset> pinned = some_objects(30'000);
  const std::set<PoolOffset> others = some_objects(100'000);
  for (const PoolOffset object : pinned) pins.Pin(object);
  for (const PoolOffset object : pinned) ASSERT_TRUE(pins.IsPinned(object)) << object;
  uint64_t delayed = 0;
  for (const PoolOffset object : others)
    delayed += pins.IsPinned(object) && !pinned.contains(object) ? uint64_t{1} : 0;
  EXPECT_LT(delayed, others.size() / 20);
  for (const PoolOffset object : pinned) pins.Unpin(object);
  for (const PoolOffset object : pinned) ASSERT_FALSE(pins.IsPinned(object)) << object;
  EXPECT_FALSE(pins.AnyPinned());
}

// I2: each batch rechecks a bounded number of pinned objects, however many there are.
TEST_F(RetiredObjectsTest, TheCostOfABatchDoesNotGrowWithThePins) {
  constexpr size_t kPinned = 200 * kBatchObjects;
  const std::vector<PoolOffset> pinned = NewObjects(kPinned);
  for (const PoolOffset object : pinned) pins_.Pin(object);
  Add(pinned);
  TestEpochs().Synchronize();
  ASSERT_EQ(freed(), 0U);
  for (const PoolOffset object : pinned) pins_.Unpin(object);
  size_t expected = 0;
  while (expected + 3 * kBatchObjects <= kPinned) {
    Add(NewObjects(kBatchObjects));
    TestEpochs().Synchronize();
    expected += 3 * kBatchObjects;  // the batch, and two pinned objects for each of its objects
    ASSERT_EQ(freed(), expected);
  }
  retired_.Reclaim();
  for (const PoolOffset object : pinned) ASSERT_EQ(freed_[object], 1);
}

// An update in a full pool must not check all of them, for space and for the record it replaces.
TEST_F(RetiredObjectsTest, FinishedBatchesAskFewPinnedObjects) {
  const std::vector<PoolOffset> pinned = NewObjects(100 * kBatchObjects);
  for (const PoolOffset object : pinned) pins_.Pin(object);
  Add(pinned);
  retired_.FinishBatches();
  ASSERT_EQ(freed(), 0U);
  for (const PoolOffset object : pinned) pins_.Unpin(object);
  Add(NewObjects(1));
  retired_.FinishBatches();
  EXPECT_EQ(freed(), 1U + 2U);
  retired_.Reclaim();
  EXPECT_EQ(freed(), pinned.size() + 1);
}

// With a table of the largest size for every pool, opening and closing a pool of 1 MiB would touch
// 128 pages. The proofs of power cuts do that for each image.
TEST_F(RetiredObjectsTest, TheTableOfPinsIsASmallPartOfThePool) {
  EXPECT_EQ(PinTable(nullptr, 4096).words(), 512U);
  EXPECT_EQ(PinTable(nullptr, uint64_t{1} << 20).VolatileBytes(), uint64_t{32} << 10);
  EXPECT_EQ(PinTable(nullptr, (uint64_t{1} << 20) + 4096).words(), 4096U);
  EXPECT_EQ(PinTable(nullptr, uint64_t{1} << 40).words(), 65536U);
}

}  // namespace
}  // namespace ashlar::pmem
