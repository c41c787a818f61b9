#include "base/kept_by_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

namespace ashlar {
namespace {

struct Counted {
  Counted() { made.fetch_add(1); }
  ~Counted() { destroyed.fetch_add(1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int uses = 0;

  static inline std::atomic<int> made{0};
  static inline std::atomic<int> destroyed{0};
};

TEST(KeptByThreadTest, AThreadHasOneObjectUntilItEnds) {
  Counted::made = Counted::destroyed = 0;
  std::thread thread([] {
    for (int i = 0; i < 3; ++i) {
      const KeptByThread<Counted> kept;
      EXPECT_EQ(kept->uses++, i);
    }
    EXPECT_EQ(Counted::made.load(), 1);
    std::thread other([] {
      const KeptByThread<Counted> kept;
      EXPECT_EQ((*kept).uses, 0);
    });
    other.join();
    EXPECT_EQ(Counted::made.load(), 2);
    EXPECT_EQ(Counted::destroyed.load(), 1);
  });
  thread.join();
  EXPECT_EQ(Counted::destroyed.load(), 2);
}

// Runs the function when the thread ends.
struct AtEnd {
  ~AtEnd() {
    if (function) function();
  }
  std::function<void()> function;
};

// Thread-locals are destroyed in the reverse order of their construction.
TEST(KeptByThreadTest, MayBeUsedWhileThreadLocalsAreDestroyed) {
  Counted::made = Counted::destroyed = 0;
  int late_uses = 0;
  std::thread thread([&] {
    static thread_local AtEnd last;
    last.function = [&late_uses] {
      for (int i = 0; i < 2; ++i) {
        const KeptByThread<Counted> kept;
        EXPECT_EQ(kept->uses++, 0) << "one of its own";
        ++late_uses;
      }
    };
    const KeptByThread<Counted> kept;
    kept->uses = 7;
  });
  thread.join();
  EXPECT_EQ(late_uses, 2);
  EXPECT_EQ(Counted::made.load(), 3);
  EXPECT_EQ(Counted::destroyed.load(), 3);
}

struct FailsOnce {
  FailsOnce() {
    if (attempts++ == 0) throw std::runtime_error("the first attempt");
  }
  static inline int attempts = 0;
};

TEST(KeptByThreadTest, AConstructorThatThrowsIsTriedAgain) {
  std::thread thread([] {
    EXPECT_THROW(static_cast<void>(KeptByThread<FailsOnce>()), std::runtime_error);
    const KeptByThread<FailsOnce> first;
    const FailsOnce* const object = &*first;
    const KeptByThread<FailsOnce> second;
    EXPECT_EQ(&*second, object);
    EXPECT_EQ(FailsOnce::attempts, 2);
  });
  thread.join();
}

}  // namespace
}  // namespace ashlar
