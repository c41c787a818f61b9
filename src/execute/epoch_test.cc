#include "execute/epoch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

Thread StartThread(std::function<void()> body) {
  Result<Thread> thread = Thread::Start({.name = "test"}, std::move(body));
  EXPECT_TRUE(thread.ok()) << thread.status().ToString();
  return std::move(thread).value();
}

template <typename T>
void Delete(void* object) {
  delete static_cast<T*>(object);
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

// A thread that is inside a guard from construction until Leave.
class GuardedThread {
 public:
  GuardedThread()
      : thread_(StartThread([this] {
          const EpochGuard guard(TestEpochs());
          inside_.Open();
          leave_.Pass();
        })) {
    inside_.Pass();
  }
  void Leave() {
    leave_.Open();
    thread_.Join();
  }

 private:
  Gate inside_;
  Gate leave_;
  Thread thread_;
};

void Increment(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST(Epoch, AnObjectIsDeletedOnceWhenNobodyIsInside) {
  std::atomic<int> deleted{0};
  TestEpochs().Retire(&Increment, &deleted);
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1);
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, AGuardEnteredBeforeKeepsTheObject) {
  std::atomic<int> deleted{0};
  GuardedThread reader;
  TestEpochs().Retire(&Increment, &deleted);
  for (int i = 0; i < 10; i++) TestEpochs().Reclaim();
  TestEpochs().ReclaimPatiently();  // gives up while the reader is inside
  EXPECT_EQ(deleted.load(), 0);
  reader.Leave();
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, AGuardEnteredAfterTheBatchWasClosedDoesNotKeepIt) {
  std::atomic<int> deleted{0};
  GuardedThread old_reader;
  TestEpochs().Retire(&Increment, &deleted);
  TestEpochs().Reclaim();
  GuardedThread new_reader;
  old_reader.Leave();
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1);
  new_reader.Leave();
}

// An old guard blocks more batches than there is room for. The newest batch then also takes objects
// that are retired later, and waits for the later guards too.
TEST(Epoch, WithManyWaitingBatchesTheNewestWaitsForItsOwnGuards) {
  constexpr int kBatches = 50;
  std::atomic<int> deleted{0};
  std::atomic<int> last_deleted{0};
  GuardedThread old_reader;
  for (int i = 0; i < kBatches; ++i) {
    TestEpochs().RetireUnderLock(&Increment, &deleted, 0);
    TestEpochs().Reclaim();
  }
  GuardedThread new_reader;
  TestEpochs().RetireUnderLock(&Increment, &last_deleted, 0);
  TestEpochs().Reclaim();
  old_reader.Leave();
  TestEpochs().Reclaim();
  EXPECT_EQ(last_deleted.load(), 0);
  new_reader.Leave();
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), kBatches);
  EXPECT_EQ(last_deleted.load(), 1);
}

TEST(Epoch, OnlyTheOutermostGuardCounts) {
  std::atomic<int> deleted{0};
  {
    const EpochGuard outer(TestEpochs());
    {
      const EpochGuard inner(TestEpochs());
      EXPECT_EQ(CurrentThreadSlot().epoch.depth, 2u);
    }
    TestEpochs().Retire(&Increment, &deleted);
    TestEpochs().Reclaim();
    EXPECT_EQ(deleted.load(), 0);
  }
  EXPECT_EQ(CurrentThreadSlot().epoch.epoch.load(), 0u);
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(Epoch, RetireReclaimsByItselfWhenEnoughCameTogether) {
  std::atomic<int> deleted{0};
  for (int i = 0; i < 1000; i++) TestEpochs().Retire(&Increment, &deleted);
  EXPECT_GT(deleted.load(), 0);
  std::atomic<int> large_deleted{0};
  for (int i = 0; i < 3; i++) TestEpochs().Retire(&Increment, &large_deleted, size_t{1} << 20);
  EXPECT_GT(large_deleted.load(), 0);
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 1000);
  EXPECT_EQ(large_deleted.load(), 3);
}

TEST(Epoch, RetireUnderLockRunsNothing) {
  std::atomic<int> deleted{0};
  for (int i = 0; i < 1000; i++)
    TestEpochs().RetireUnderLock(&Increment, &deleted, size_t{1} << 20);
  EXPECT_EQ(deleted.load(), 0);
  TestEpochs().Reclaim();
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
  // Deleters may enter a guard, retire more objects and request a pass.
  const EpochGuard guard(TestEpochs());
  TestEpochs().Retire(&DeleteChain, chain.release());
  TestEpochs().Reclaim();
}

TEST(Epoch, DeletersMayRetireMore) {
  std::atomic<int> deleted{0};
  TestEpochs().Retire(&DeleteChain, new Chain{&deleted, 5});
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted.load(), 6);
}

// A chain needs a pass for each link, and a thread that is inside most of the time blocks most
// passes.
TEST(Epoch, PatienceOutlastsAThreadThatKeepsComingBack) {
  std::atomic<bool> stop{false};
  Gate inside;
  Thread reader = StartThread([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const EpochGuard guard(TestEpochs());
      inside.Open();
    }
  });
  inside.Pass();
  std::atomic<int> deleted{0};
  TestEpochs().RetireUnderLock(&DeleteChain, new Chain{.deleted = &deleted, .left = 4}, 0);
  TestEpochs().ReclaimPatiently();
  EXPECT_EQ(deleted.load(), 5);
  stop = true;
  reader.Join();
}

TEST(Epoch, SynchronizeWaitsForGuardsThatWereThere) {
  Gate inside;
  std::atomic<bool> left{false};
  Thread reader = StartThread([&] {
    const EpochGuard guard(TestEpochs());
    inside.Open();
    for (int i = 0; i < 1000; i++) YieldThread();
    left = true;
  });
  inside.Pass();
  TestEpochs().Synchronize();
  EXPECT_TRUE(left.load());
  reader.Join();
}

TEST(Epoch, SynchronizeWaitsForDeletersThatRunElsewhere) {
  struct Slow {
    Gate running;
    std::atomic<int> deleted{0};
  } slow;
  TestEpochs().RetireUnderLock(
      [](void* p) {
        Slow* self = static_cast<Slow*>(p);
        self->running.Open();
        for (int i = 0; i < 1000; i++) YieldThread();
        self->deleted.fetch_add(1);
      },
      &slow, 0);
  Thread other = StartThread([] { TestEpochs().Reclaim(); });
  slow.running.Pass();
  TestEpochs().Synchronize();
  EXPECT_EQ(slow.deleted.load(), 1);
  other.Join();
}

// The batch that Synchronize waits for becomes the newest of a full list. It also takes objects
// that are retired later, so it gets a later tag and a later guard blocks it.
TEST(Epoch, SynchronizeWaitsForABatchThatTookLaterObjects) {
  constexpr int kWaitingBatches = 31;  // one less than there is room for
  std::atomic<int> old_deleted{0};
  std::atomic<int> deleted{0};
  std::atomic<int> later_deleted{0};
  std::atomic<bool> returned{false};
  GuardedThread old_reader;
  for (int i = 0; i < kWaitingBatches; ++i) {
    TestEpochs().RetireUnderLock(&Increment, &old_deleted, 0);
    TestEpochs().Reclaim();
  }
  TestEpochs().RetireUnderLock(&Increment, &deleted, 0);
  const uint64_t epoch = internal::global_epoch.load();
  int deleted_at_return = 0;
  Thread waiting = StartThread([&] {
    TestEpochs().Synchronize();
    deleted_at_return = deleted.load();
    returned = true;
  });
  while (internal::global_epoch.load() == epoch) YieldThread();  // its batch is closed
  GuardedThread new_reader;
  TestEpochs().RetireUnderLock(&Increment, &later_deleted, 0);
  TestEpochs().Reclaim();
  old_reader.Leave();
  while (old_deleted.load() < kWaitingBatches) TestEpochs().Reclaim();
  // Long enough for a Synchronize that does not wait to return.
  for (int i = 0; i < 10000 && !returned.load(); ++i) YieldThread();
  new_reader.Leave();
  waiting.Join();
  EXPECT_EQ(deleted_at_return, 1);
  TestEpochs().Reclaim();
  EXPECT_EQ(later_deleted.load(), 1);
}

// I1 under load: readers follow a pointer that a writer keeps replacing. A reader that read freed
//    memory would find the poison there, or AddressSanitizer would report
//    the read.
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
        const EpochGuard guard(TestEpochs());
        const Object* object = current.load(std::memory_order_acquire);
        const uint64_t value = object->value.load(std::memory_order_relaxed);
        // Now and then the reader yields while it holds the object.
        if (guards.fetch_add(1, std::memory_order_relaxed) % 16 == 0) YieldThread();
        if (value == kPoison || object->check.load(std::memory_order_relaxed) != ~value)
          wrong.fetch_add(1);
      }
    }));
  }
  for (uint64_t i = 1; i <= kReplacements || guards.load(std::memory_order_relaxed) < kGuards;
       i++) {
    Object* next = new Object;
    next->value.store(i, std::memory_order_relaxed);
    next->check.store(~i, std::memory_order_relaxed);
    Object* old = current.exchange(next, std::memory_order_acq_rel);
    TestEpochs().Retire(
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
  TestEpochs().Retire(&Delete<Object>, current.load());
  TestEpochs().Synchronize();
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
          const EpochGuard guard(TestEpochs());
          TestEpochs().Retire(&Increment, &mine);
        } else {
          TestEpochs().RetireUnderLock(&Increment, &mine, 100);
        }
        if (!random.OneIn(100)) continue;
        TestEpochs().Synchronize();
        for (int j = 0; j <= i; j++)
          ASSERT_EQ(deleted[static_cast<size_t>(t * kObjects + j)].load(), 1);
      }
    }));
  }
  for (Thread& thread : threads) thread.Join();
  TestEpochs().Synchronize();
  for (const std::atomic<int>& count : deleted) ASSERT_EQ(count.load(), 1);
}

TEST(Epoch, ThreadsComeAndGoWhileObjectsAreRetired) {
  std::atomic<int*> shared{new int(0)};
  for (int round = 0; round < 100; round++) {
    Thread reader = StartThread([&] {
      const EpochGuard guard(TestEpochs());
      EXPECT_GE(*shared.load(std::memory_order_acquire), 0);
    });
    TestEpochs().Retire(&Delete<int>, shared.exchange(new int(round), std::memory_order_acq_rel));
    TestEpochs().Reclaim();
    reader.Join();
  }
  TestEpochs().Synchronize();
  EXPECT_EQ(TestEpochs().PendingObjects(), 0u);
  delete shared.load();
}

TEST(EpochDomain, AGuardHoldsBackItsOwnDomainOnly) {
  EpochDomain one;
  EpochDomain two;
  std::atomic<int> deleted{0};
  {
    const EpochGuard guard(one);
    one.Retire(&Increment, &deleted);
    two.Retire(&Increment, &deleted);
    one.Reclaim();
    EXPECT_EQ(deleted.load(), 0);
    two.Reclaim();
    EXPECT_EQ(deleted.load(), 1);
    two.Synchronize();
    EXPECT_EQ(one.PendingObjects(), 1u);
    EXPECT_EQ(two.PendingObjects(), 0u);
    EpochReclaimAll();
    EXPECT_EQ(deleted.load(), 1);
  }
  EpochReclaimAll();
  EXPECT_EQ(deleted.load(), 2);
}

TEST(EpochDomain, NestedGuardsOfSeveralDomainsProtectEach) {
  constexpr size_t kDomains = 5;
  std::array<EpochDomain, kDomains> domains;
  std::atomic<int> deleted{0};
  const auto retire_into_all = [&] {
    for (EpochDomain& domain : domains) domain.Retire(&Increment, &deleted);
    EpochReclaimAll();
  };
  {
    std::vector<std::unique_ptr<EpochGuard>> guards;
    // Enter each domain twice, and do not leave them in reverse order.
    for (int round = 0; round < 2; ++round) {
      for (EpochDomain& domain : domains) guards.push_back(std::make_unique<EpochGuard>(domain));
    }
    retire_into_all();
    EXPECT_EQ(deleted.load(), 0);
    for (size_t i = 0; i < kDomains; ++i) guards[i].reset();
    EpochReclaimAll();
    EXPECT_EQ(deleted.load(), 0);
    for (size_t i = 0; i < kDomains; ++i) {
      guards[kDomains + i].reset();
      EpochReclaimAll();
      EXPECT_EQ(deleted.load(), static_cast<int>(i) + 1);
    }
  }
  retire_into_all();
  EXPECT_EQ(deleted.load(), 2 * static_cast<int>(kDomains));
}

// The word of the outer guard becomes free while the inner guard lives. A new guard in the inner
// guard's domain takes that word.
TEST(EpochDomain, ADomainMayBeEnteredInTwoWordsOfAThread) {
  EpochDomain one;
  EpochDomain two;
  std::atomic<int> deleted{0};
  auto outer = std::make_unique<EpochGuard>(one);
  auto inner = std::make_unique<EpochGuard>(two);
  outer.reset();
  auto again = std::make_unique<EpochGuard>(two);
  two.Retire(&Increment, &deleted);
  inner.reset();
  two.Reclaim();
  EXPECT_EQ(deleted.load(), 0);
  again.reset();
  two.Reclaim();
  EXPECT_EQ(deleted.load(), 1);
}

TEST(EpochDomain, IsEmptyWhenItEnds) {
  struct Link {
    static void Delete(void* object) {
      const std::unique_ptr<Link> link(static_cast<Link*>(object));
      link->deleted->fetch_add(1);
      if (link->left > 0)
        link->domain->Retire(&Link::Delete, new Link{link->domain, link->deleted, link->left - 1});
    }
    EpochDomain* domain;
    std::atomic<int>* deleted;
    int left;
  };
  std::atomic<int> deleted{0};
  {
    EpochDomain domain;
    domain.Retire(&Link::Delete, new Link{&domain, &deleted, 5});
  }
  EXPECT_EQ(deleted.load(), 6);
}

TEST(EpochDomain, DomainsComeAndGoWhileOthersAreReclaimed) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 300;
  std::atomic<int> deleted{0};
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.push_back(StartThread([&] {
      for (int i = 0; i < kRounds; ++i) {
        EpochDomain outer;
        EpochDomain inner;
        {
          const EpochGuard guard(outer);
          const EpochGuard nested(inner);
          outer.Retire(&Increment, &deleted);
          inner.Retire(&Increment, &deleted);
          EpochReclaimAll();
        }
        EpochReclaimAll();
      }
    }));
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(deleted.load(), 2 * kThreads * kRounds);
}

// The invariant under load, with domains that threads enter in either order.
TEST(EpochDomain, ReadersOfTwoDomainsNeverSeeADeletedObject) {
  struct Object {
    std::atomic<bool> alive{true};
  };
  constexpr int kReaders = 3;
  constexpr int kReplacements = 5000;
  std::array<EpochDomain, 2> domains;
  std::array<std::atomic<Object*>, 2> current;
  for (std::atomic<Object*>& object : current) object.store(new Object);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  const auto look = [&](size_t i) {
    if (!current[i].load(std::memory_order_acquire)->alive.load(std::memory_order_relaxed))
      wrong.fetch_add(1);
  };
  std::vector<Thread> readers;
  for (size_t r = 0; r < kReaders; ++r) {
    readers.push_back(StartThread([&, r] {
      while (!stop.load(std::memory_order_relaxed)) {
        const size_t first = r % 2;
        const EpochGuard outer(domains[first]);
        Object* const seen = current[first].load(std::memory_order_acquire);
        {
          const EpochGuard inner(domains[1 - first]);
          look(1 - first);
        }
        if (!seen->alive.load(std::memory_order_relaxed)) wrong.fetch_add(1);
      }
    }));
  }
  for (int i = 0; i < kReplacements; ++i) {
    for (size_t d = 0; d < domains.size(); ++d) {
      Object* const old = current[d].exchange(new Object, std::memory_order_acq_rel);
      domains[d].Retire(
          [](void* p) {
            auto* const object = static_cast<Object*>(p);
            object->alive.store(false, std::memory_order_relaxed);
            delete object;
          },
          old);
    }
  }
  stop = true;
  for (Thread& reader : readers) reader.Join();
  EXPECT_EQ(wrong.load(), 0);
  for (std::atomic<Object*>& object : current) delete object.load();
}

}  // namespace
}  // namespace ashlar
