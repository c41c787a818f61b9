#include "execute/epoch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

Thread StartThread(std::function<void()> body) {
  Result<Thread> thread = Thread::Start({.name = "test"}, std::move(body));
  EXPECT_TRUE(thread.ok()) << thread.status().ToString();
  return std::move(thread).value();
}

// A step that threads of a test reach and wait for.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.SignalAll();
  }
  void Pass() {
    MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ ASHLAR_GUARDED_BY(mutex_) = false;
};

void Increment(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST(Epoch, AnObjectIsDeletedOnceWhenNobodyIsInside) {
  std::atomic<int> deleted{0};
  Retire(&Increment, &deleted);
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1);
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, AGuardEnteredBeforeKeepsTheObject) {
  std::atomic<int> deleted{0};
  Gate inside, leave;
  Thread reader = StartThread([&] {
    const EpochGuard guard;
    inside.Open();
    leave.Pass();
  });
  inside.Pass();
  Retire(&Increment, &deleted);
  for (int i = 0; i < 10; i++) EpochReclaim();
  EpochReclaimPatiently();  // its patience ends
  EXPECT_EQ(deleted.load(), 0);
  leave.Open();
  reader.Join();
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, AGuardEnteredAfterTheBatchWasClosedDoesNotKeepIt) {
  std::atomic<int> deleted{0};
  Gate old_inside, old_leave, new_inside, new_leave;
  Thread old_reader = StartThread([&] {
    const EpochGuard guard;
    old_inside.Open();
    old_leave.Pass();
  });
  old_inside.Pass();
  Retire(&Increment, &deleted);
  EpochReclaim();
  Thread new_reader = StartThread([&] {
    const EpochGuard guard;
    new_inside.Open();
    new_leave.Pass();
  });
  new_inside.Pass();
  old_leave.Open();
  old_reader.Join();
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1);
  new_leave.Open();
  new_reader.Join();
}

TEST(Epoch, OnlyTheOutermostGuardCounts) {
  std::atomic<int> deleted{0};
  {
    const EpochGuard outer;
    {
      const EpochGuard inner;
      EXPECT_EQ(CurrentThreadSlot().depth, 2u);
    }
    Retire(&Increment, &deleted);
    EpochReclaim();
    EXPECT_EQ(deleted.load(), 0);
  }
  EXPECT_EQ(CurrentThreadSlot().epoch.load(), 0u);
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, RetireReclaimsByItselfWhenEnoughCameTogether) {
  std::atomic<int> deleted{0};
  for (int i = 0; i < 1000; i++) Retire(&Increment, &deleted);
  EXPECT_GT(deleted.load(), 0);
  std::atomic<int> large_deleted{0};
  for (int i = 0; i < 3; i++) Retire(&Increment, &large_deleted, size_t{1} << 20);
  EXPECT_GT(large_deleted.load(), 0);
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1000);
  EXPECT_EQ(large_deleted.load(), 3);
}

TEST(Epoch, RetireUnderLockRunsNothing) {
  std::atomic<int> deleted{0};
  for (int i = 0; i < 1000; i++) RetireUnderLock(&Increment, &deleted, size_t{1} << 20);
  EXPECT_EQ(deleted.load(), 0);
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 1000);
}

struct Chain {
  std::atomic<int>* deleted;
  int left;
};

void DeleteChain(void* object) {
  std::unique_ptr<Chain> chain(static_cast<Chain*>(object));
  chain->deleted->fetch_add(1);
  if (chain->left == 0) return;
  chain->left--;
  // As a deleter may: enter a guard, retire more, ask for a pass.
  const EpochGuard guard;
  Retire(&DeleteChain, chain.release());
  EpochReclaim();
}

TEST(Epoch, DeletersMayRetireMore) {
  std::atomic<int> deleted{0};
  Retire(&DeleteChain, new Chain{&deleted, 5});
  EpochReclaim();
  EXPECT_EQ(deleted.load(), 6);
}

// A chain needs a pass for each link, and a thread that is inside most of the time stands in the way of most passes.
TEST(Epoch, PatienceOutlastsAThreadThatKeepsComingBack) {
  std::atomic<bool> stop{false};
  Gate inside;
  Thread reader = StartThread([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const EpochGuard guard;
      inside.Open();
    }
  });
  inside.Pass();
  std::atomic<int> deleted{0};
  RetireUnderLock(&DeleteChain, new Chain{.deleted = &deleted, .left = 4}, 0);
  EpochReclaimPatiently();
  EXPECT_EQ(deleted.load(), 5);
  stop = true;
  reader.Join();
}

TEST(Epoch, RetiredObjectsOfAnyTypeAreDestroyed) {
  const auto shared = std::make_shared<int>(7);
  RetireObject(new std::shared_ptr<int>(shared));
  RetireObject(static_cast<const std::shared_ptr<int>*>(new std::shared_ptr<int>(shared)));
  RetireObjectUnderLock(new std::shared_ptr<int>(shared));
  EXPECT_EQ(shared.use_count(), 4);
  EpochReclaim();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Epoch, SynchronizeWaitsForGuardsThatWereThere) {
  Gate inside;
  std::atomic<bool> left{false};
  Thread reader = StartThread([&] {
    const EpochGuard guard;
    inside.Open();
    for (int i = 0; i < 1000; i++) YieldThread();
    left = true;
  });
  inside.Pass();
  EpochSynchronize();
  EXPECT_TRUE(left.load());
  reader.Join();
}

TEST(Epoch, SynchronizeWaitsForDeletersThatRunElsewhere) {
  struct Slow {
    Gate running;
    std::atomic<int> deleted{0};
  } slow;
  RetireUnderLock(
      [](void* p) {
        Slow* self = static_cast<Slow*>(p);
        self->running.Open();
        for (int i = 0; i < 1000; i++) YieldThread();
        self->deleted.fetch_add(1);
      },
      &slow, 0);
  Thread other = StartThread([] { EpochReclaim(); });
  slow.running.Pass();
  EpochSynchronize();
  EXPECT_EQ(slow.deleted.load(), 1);
  other.Join();
}

// I1 under load: readers follow a pointer that a writer keeps replacing. A reader that saw freed memory would see the poison (or AddressSanitizer
// would).
TEST(Epoch, ReadersNeverSeeADeletedObject) {
  struct Object {
    std::atomic<uint64_t> value{0};
    std::atomic<uint64_t> check{0};
  };
  constexpr uint64_t kPoison = 0xdeaddeaddeaddead;
  constexpr int kReaders = 3;
  constexpr uint64_t kReplacements = 20000;
  constexpr uint64_t kGuards = 60000;
  std::atomic<Object*> current{new Object};
  current.load()->check = ~uint64_t{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> guards{0};
  std::vector<Thread> readers;
  for (int r = 0; r < kReaders; r++) {
    readers.push_back(StartThread([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        const EpochGuard guard;
        const Object* object = current.load(std::memory_order_acquire);
        const uint64_t value = object->value.load(std::memory_order_relaxed);
        // Now and then the reader is away while it holds the object.
        if (guards.fetch_add(1, std::memory_order_relaxed) % 16 == 0) YieldThread();
        if (value == kPoison || object->check.load(std::memory_order_relaxed) != ~value) wrong.fetch_add(1);
      }
    }));
  }
  for (uint64_t i = 1; i <= kReplacements || guards.load(std::memory_order_relaxed) < kGuards; i++) {
    Object* next = new Object;
    next->value.store(i, std::memory_order_relaxed);
    next->check.store(~i, std::memory_order_relaxed);
    Object* old = current.exchange(next, std::memory_order_acq_rel);
    Retire(
        [](void* p) {
          Object* object = static_cast<Object*>(p);
          object->value.store(kPoison, std::memory_order_relaxed);
          object->check.store(kPoison, std::memory_order_relaxed);
          delete object;
        },
        old);
  }
  stop = true;
  for (Thread& reader : readers) reader.Join();
  EXPECT_EQ(wrong.load(), 0u);
  RetireObject(current.load());
  EpochSynchronize();
}

// I2 under load: many threads retire, reclaim and synchronize at once.
TEST(Epoch, EveryRetiredObjectIsDeletedExactlyOnce) {
  constexpr int kThreads = 4;
  constexpr int kObjects = 3000;
  std::vector<std::atomic<int>> deleted(size_t{kThreads} * kObjects);
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.push_back(StartThread([&, t] {
      Random random(static_cast<uint64_t>(t));
      for (int i = 0; i < kObjects; i++) {
        std::atomic<int>& mine = deleted[static_cast<size_t>(t * kObjects + i)];
        if (random.OneIn(2)) {
          const EpochGuard guard;
          Retire(&Increment, &mine);
        } else {
          RetireUnderLock(&Increment, &mine, 100);
        }
        if (!random.OneIn(100)) continue;
        EpochSynchronize();
        for (int j = 0; j <= i; j++) ASSERT_EQ(deleted[static_cast<size_t>(t * kObjects + j)].load(), 1);
      }
    }));
  }
  for (Thread& thread : threads) thread.Join();
  EpochSynchronize();
  for (const std::atomic<int>& count : deleted) ASSERT_EQ(count.load(), 1);
}

TEST(Epoch, ThreadsComeAndGoWhileObjectsAreRetired) {
  std::atomic<int*> shared{new int(0)};
  for (int round = 0; round < 100; round++) {
    Thread reader = StartThread([&] {
      const EpochGuard guard;
      EXPECT_GE(*shared.load(std::memory_order_acquire), 0);
    });
    RetireObject(shared.exchange(new int(round), std::memory_order_acq_rel));
    EpochReclaim();
    reader.Join();
  }
  EpochSynchronize();
  EXPECT_EQ(EpochPendingObjects(), 0u);
  delete shared.load();
}

}  // namespace
}  // namespace ashlar
