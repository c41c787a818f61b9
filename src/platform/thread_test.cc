#include "platform/thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

#include "platform/futex.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

Thread StartThread(std::function<void()> body) {
  Result<Thread> thread = Thread::Start({.name = "test"}, std::move(body));
  EXPECT_TRUE(thread.ok()) << thread.status().ToString();
  return std::move(thread).value();
}

TEST(ThreadSlot, SameSlotForTheLifeOfAThread) {
  ThreadSlot* first = &CurrentThreadSlot();
  EXPECT_EQ(first, &CurrentThreadSlot());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
}

TEST(ThreadSlot, LivingThreadsHaveDifferentSlots) {
  constexpr int kThreads = 8;
  Mutex mutex;
  CondVar changed;
  std::set<uint32_t> indexes;
  std::vector<Thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.push_back(StartThread([&] {
      MutexLock lock(mutex);
      indexes.insert(CurrentThreadSlot().index);
      changed.SignalAll();
      // No thread may exit and free its slot before all have one.
      while (indexes.size() < kThreads) changed.Wait(mutex);
    }));
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(indexes.size(), size_t{kThreads});
}

TEST(ThreadSlot, IsGivenToTheNextThreadAfterItsOwnerExits) {
  std::set<const ThreadSlot*> slots;
  for (int i = 0; i < 20; i++) {
    Thread thread = StartThread([&] { slots.insert(&CurrentThreadSlot()); });
    thread.Join();
  }
  EXPECT_EQ(slots.size(), 1u);
  EXPECT_FALSE((*slots.begin())->claimed.load());
}

TEST(ThreadSlot, EverySlotIsInTheList) {
  const ThreadSlot* mine = &CurrentThreadSlot();
  int found = 0;
  for (const ThreadSlot* slot = FirstThreadSlot(); slot != nullptr; slot = slot->next)
    found += slot == mine ? 1 : 0;
  EXPECT_EQ(found, 1);
}

struct UsesSlotWhenDestroyed {
  ~UsesSlotWhenDestroyed() {
    if (used != nullptr) *used = &CurrentThreadSlot();
  }
  ThreadSlot** used = nullptr;
};

// Two objects constructed before the slot is claimed are destroyed after it is released. Each
// claims a slot again and releases it again.
TEST(ThreadSlot, MayBeUsedWhileThreadLocalsAreDestroyed) {
  ThreadSlot* during = nullptr;
  ThreadSlot* during_again = nullptr;
  Thread thread = StartThread([&] {
    static thread_local UsesSlotWhenDestroyed first;
    static thread_local UsesSlotWhenDestroyed second;
    first.used = &during;
    second.used = &during_again;
    CurrentThreadSlot();
  });
  thread.Join();
  ASSERT_NE(during, nullptr);
  ASSERT_NE(during_again, nullptr);
  EXPECT_FALSE(during->claimed.load());
  EXPECT_FALSE(during_again->claimed.load());
}

TEST(Thread, RunsItsBodyAndJoins) {
  std::atomic<uint64_t> id{0};
  Thread thread = StartThread([&] { id = CurrentThreadSystemId(); });
  thread.Join();
  EXPECT_NE(id.load(), 0u);
  EXPECT_NE(id.load(), CurrentThreadSystemId());
}

TEST(Thread, ExitFunctionsRunInReverseOrder) {
  static std::vector<int> order;
  order.clear();
  Thread thread = StartThread([] {
    RunAtThreadExit([](void*) { order.push_back(1); }, nullptr);
    RunAtThreadExit([](void*) { order.push_back(2); }, nullptr);
  });
  thread.Join();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST(Mutex, TryLockFailsWhileAnotherThreadHoldsIt) {
  Mutex mutex;
  std::atomic<bool> taken{true};
  MutexLock lock(mutex);
  Thread thread = StartThread([&] {
    if (mutex.TryLock()) {
      mutex.Unlock();
    } else {
      taken = false;
    }
  });
  thread.Join();
  EXPECT_FALSE(taken.load());
}

TEST(CondVar, TimedWaitEndsWithoutASignal) {
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  // A wake-up without a signal is allowed, but running forever is not.
  while (never.TimedWait(mutex, 1)) {
  }
}

TEST(Futex, WaitReturnsAtOnceWhenTheWordHasChanged) {
  std::atomic<uint32_t> word{1};
  FutexWait(word, 0);
  EXPECT_TRUE(FutexTimedWait(word, 0, 1'000'000'000));
}

TEST(Futex, TimedWaitTimesOut) {
  std::atomic<uint32_t> word{0};
  while (FutexTimedWait(word, 0, 1)) {
  }
}

TEST(Futex, WakesAWaiter) {
  std::atomic<uint32_t> word{0};
  Thread thread = StartThread([&] {
    while (word.load(std::memory_order_acquire) == 0) FutexWait(word, 0);
  });
  word.store(1, std::memory_order_release);
  FutexWakeAll(word);
  thread.Join();
}

}  // namespace
}  // namespace ashlar
