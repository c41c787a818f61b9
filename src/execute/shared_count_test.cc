#include "execute/shared_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "platform/thread.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

Thread StartThread(std::function<void()> body) {
  Result<Thread> thread = Thread::Start({.name = "test"}, std::move(body));
  EXPECT_TRUE(thread.ok()) << thread.status().ToString();
  return std::move(thread).value();
}

class SharedCountTest : public testing::Test {
 protected:
  std::atomic<int> called_{0};
  SharedCount count_{&TestEpochs(),
                     [](void* called) { static_cast<std::atomic<int>*>(called)->fetch_add(1); },
                     &called_};
};

TEST_F(SharedCountTest, UnpinnedObjectsEndWithTheGracePeriodOfKill) {
  count_.Kill();
  EXPECT_EQ(called_.load(), 0);
  TestEpochs().Reclaim();
  EXPECT_EQ(called_.load(), 1);
}

TEST_F(SharedCountTest, TheLastReleaseAfterTheFoldCalls) {
  count_.Acquire();
  count_.Acquire();
  count_.Kill();
  TestEpochs().Reclaim();
  EXPECT_EQ(called_.load(), 0);
  count_.Release();
  EXPECT_EQ(called_.load(), 0);
  count_.Release();
  EXPECT_EQ(called_.load(), 1);
}

TEST_F(SharedCountTest, ReleasesBetweenKillAndFoldCount) {
  count_.Acquire();
  count_.Acquire();
  count_.Kill();
  count_.Release();
  count_.Release();
  EXPECT_EQ(called_.load(), 0);
  TestEpochs().Reclaim();
  EXPECT_EQ(called_.load(), 1);
}

TEST_F(SharedCountTest, ACountCanBeTakenBesideAnotherAfterTheFold) {
  count_.Acquire();
  count_.Kill();
  TestEpochs().Reclaim();
  count_.Acquire();
  count_.Release();
  EXPECT_EQ(called_.load(), 0);
  count_.Release();
  EXPECT_EQ(called_.load(), 1);
}

TEST_F(SharedCountTest, AReaderInsideAGuardMayStillPinAfterKill) {
  {
    const EpochGuard guard(TestEpochs());
    count_.Kill();
    TestEpochs().Reclaim();
    count_.Acquire();
  }
  TestEpochs().Reclaim();
  EXPECT_EQ(called_.load(), 0);
  count_.Release();
  EXPECT_EQ(called_.load(), 1);
}

TEST_F(SharedCountTest, CountIsTheSumOverThreads) {
  EXPECT_EQ(count_.Count(), 0);
  count_.Acquire();
  Thread other = StartThread([&] {
    count_.Acquire();
    count_.Acquire();
  });
  other.Join();
  EXPECT_EQ(count_.Count(), 3);
  // Released on another thread than acquired.
  for (int i = 0; i < 3; i++) count_.Release();
  EXPECT_EQ(count_.Count(), 0);
}

TEST_F(SharedCountTest, APinHoldsForAScope) {
  {
    const SharedCountPin pin(count_);
    EXPECT_EQ(count_.Count(), 1);
  }
  EXPECT_EQ(count_.Count(), 0);
}

TEST(SharedCount, MayBeDestroyedWithoutKillWhenNobodyHoldsIt) {
  SharedCount count(&TestEpochs(), [](void*) { FAIL(); }, nullptr);
  count.Acquire();
  count.Release();
}

// An object with the lifetime of the engine's objects: found through a pointer, pinned beyond the
// guard and deleted by the callback.
struct Pinned {
  explicit Pinned(std::atomic<int>* live_objects)
      : live(live_objects), count(&TestEpochs(), &Pinned::Delete, this) {
    live->fetch_add(1);
  }
  ~Pinned() { live->fetch_sub(1); }
  static void Delete(void* self) { delete static_cast<Pinned*>(self); }

  std::atomic<int>* const live;
  uint64_t value = 42;
  SharedCount count;
};

TEST(SharedCount, ManyThreadsPinWhatAWriterReplaces) {
  constexpr int kReaders = 3;
  constexpr int kReplacements = 3000;
  std::atomic<int> live{0};
  std::atomic<Pinned*> current{new Pinned(&live)};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<Thread> readers;
  for (int r = 0; r < kReaders; r++) {
    readers.push_back(StartThread([&, r] {
      Random random(static_cast<uint64_t>(r));
      std::vector<Pinned*> held;
      while (!stop.load(std::memory_order_relaxed)) {
        {
          const EpochGuard guard(TestEpochs());
          Pinned* object = current.load(std::memory_order_acquire);
          object->count.Acquire();
          held.push_back(object);
        }
        if (random.OneIn(4)) {
          held.push_back(held[static_cast<size_t>(random.Uniform(held.size()))]);
          held.back()->count.Acquire();
        }
        while (held.size() > 8 || (!held.empty() && random.OneIn(2))) {
          const size_t i = static_cast<size_t>(random.Uniform(held.size()));
          if (held[i]->value != 42) wrong.fetch_add(1);
          held[i]->count.Release();
          held[i] = held.back();
          held.pop_back();
        }
      }
      for (Pinned* object : held) object->count.Release();
    }));
  }
  for (int i = 0; i < kReplacements; i++) {
    Pinned* old = current.exchange(new Pinned(&live), std::memory_order_acq_rel);
    old->count.Kill();
    if (i % 16 == 0) TestEpochs().Reclaim();
    if (i % 64 == 0) YieldThread();
  }
  stop = true;
  for (Thread& reader : readers) reader.Join();
  current.load()->count.Kill();
  TestEpochs().Synchronize();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(live.load(), 0);
}

}  // namespace
}  // namespace ashlar
