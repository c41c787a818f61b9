#include "lsm/write_controller.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

TEST(WriteController, ReservationsOfAllWritersAddUpToTheRate) {
  kDatabaseMutex.AssertHeld();  // one thread
  WriteController controller;
  controller.Set(WriteController::State::kDelayed, 1000000);  // a byte per microsecond
  const uint64_t now_us = 5000000;
  uint64_t turn_us = 0;
  for (int writer = 0; writer < 10; ++writer) turn_us = controller.Reserve(now_us, 10000);
  // Up to a millisecond of unused time is credited.
  EXPECT_EQ(turn_us, now_us + 10 * 10000 - 1000);
}

TEST(WriteController, ANewRateVoidsReservations) {
  kDatabaseMutex.AssertHeld();  // one thread
  WriteController controller;
  controller.Set(WriteController::State::kDelayed, 1000);
  controller.Reserve(5000000, 1000000);
  const uint64_t generation = controller.generation();
  controller.Set(WriteController::State::kDelayed, 1000);
  EXPECT_EQ(controller.generation(), generation) << "nothing changed";
  controller.Set(WriteController::State::kDelayed, 1000000);
  EXPECT_NE(controller.generation(), generation);
  EXPECT_EQ(controller.Reserve(5000000, 10000), 5000000u + 10000 - 1000);
}

TEST(WriteController, LowPriorityWritersShareOneRate) {
  kDatabaseMutex.AssertHeld();  // one thread
  WriteController controller;
  controller.SetCompactionBehind(true);
  const uint64_t now_us = 5000000;
  controller.ReserveLowPriority(now_us, 1 << 20);
  EXPECT_EQ(controller.ReserveLowPriority(now_us, 1 << 20), now_us + 2000000 - 1000);
}

}  // namespace
}  // namespace ashlar
