// Allocation failure while a thread counts for the first time.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "ashlar/statistics.h"
#include "platform/thread.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/gate.h"

namespace ashlar {
namespace {

// Threads that use every slot, so that the next thread has to allocate one.
class AllSlots {
 public:
  AllSlots() {
    for (bool fresh = false; !fresh;) {
      Gate& has_slot = gates_.emplace_back();
      threads_.emplace_back([this, &has_slot, &fresh] {
        const size_t before = CountSlots();
        CurrentThreadSlot();
        fresh = CountSlots() > before;
        has_slot.Open();
        end_.Wait();
      });
      has_slot.Wait();
    }
  }
  ~AllSlots() {
    end_.Open();
    for (std::thread& thread : threads_) thread.join();
  }
  AllSlots(const AllSlots&) = delete;
  AllSlots& operator=(const AllSlots&) = delete;

 private:
  static size_t CountSlots() {
    size_t slots = 0;
    for (const ThreadSlot* slot = FirstThreadSlot(); slot != nullptr; slot = slot->next) ++slots;
    return slots;
  }

  Gate end_;
  std::deque<Gate> gates_;
  std::vector<std::thread> threads_;
};

// I4 of statistics_impl.h: destructors count.
TEST(StatisticsOutOfMemory, AThreadWithoutASlotCounts) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  const AllSlots used;
  bool has_failed = false;
  std::thread([&] {
    FailingNew::Arm(1, FailingNew::Kind::kUntilEnds);
    const Status counted = Call("recordTick and recordInHistogram", [&] {
      statistics->recordTick(NUMBER_KEYS_READ, 3);
      statistics->recordInHistogram(DB_GET, 1);
      return Status::OK();
    });
    EXPECT_TRUE(counted.ok());
    has_failed = FailingNew::HasFailed();
  }).join();
  EXPECT_TRUE(has_failed);
  EXPECT_EQ(statistics->getTickerCount(NUMBER_KEYS_READ), 3U);
}

}  // namespace
}  // namespace ashlar
