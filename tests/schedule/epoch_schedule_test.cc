// Epochs under the scheduler. An object is valid for each guard that could have found it, and
// Synchronize returns after all objects that were retired before it are deleted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "tests/schedule/schedules.h"

namespace ashlar::test {
namespace {

constexpr int kReplacements = 100;  // more than the batches of a domain

struct Object {
  std::atomic<uint64_t> state{kWhole};
  std::atomic<int>* deleted = nullptr;

  static constexpr uint64_t kWhole = 0x600d;
  static constexpr uint64_t kDeleted = 0xdead;
  // The memory is kept, so that an incorrect reader detects the deletion.
  static void Delete(void* object) {
    auto* const self = static_cast<Object*>(object);
    EXPECT_EQ(self->state.exchange(kDeleted), kWhole);
    self->deleted->fetch_add(1);
  }
};

TEST(EpochScheduleTest, GuardsAndSynchronizeKeepTheirPromises) {
  ForEachSchedule(3000, [](uint64_t seed) {
    EpochDomain domain;
    std::vector<Object> objects(kReplacements + 1);
    std::atomic<int> deleted{0};
    std::atomic<int> retired{0};
    for (Object& object : objects) object.deleted = &deleted;
    std::atomic<Object*> shared{&objects[0]};
    std::vector<std::thread> threads;
    for (uint64_t reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&, reader] {
        Random random(seed * 2 + reader);
        for (int i = 0; i < 4; ++i) {
          const EpochGuard guard(domain);
          const Object* const found = shared.load();
          for (uint64_t look = random.Uniform(100); look > 0; --look)
            EXPECT_EQ(found->state.load(), Object::kWhole);
        }
      });
    }
    threads.emplace_back([&] {
      for (size_t i = 1; i <= kReplacements; ++i) {
        Object* const old = shared.exchange(&objects[i]);
        domain.RetireUnderLock(&Object::Delete, old, 0);
        retired.fetch_add(1);
        if (i % 4 != 0) domain.Reclaim();
      }
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const int before = retired.load();
        domain.Synchronize();
        EXPECT_GE(deleted.load(), before);
      }
    });
    for (std::thread& thread : threads) thread.join();
    domain.Synchronize();
    EXPECT_EQ(deleted.load(), kReplacements);
  });
}

}  // namespace
}  // namespace ashlar::test
