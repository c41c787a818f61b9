#include "lsm/write_controller.h"

#include <gtest/gtest.h>

#include <cstdint>

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

TEST(WriteController, TheSumOfReservationsDoesNotOverflow) {
  kDatabaseMutex.AssertHeld();  // one thread
  WriteController controller;
  controller.Set(WriteController::State::kDelayed, 1);
  const uint64_t now_us = 5000000;
  const uint64_t hundred_mib = uint64_t{100} << 20;
  EXPECT_EQ(controller.Reserve(now_us, hundred_mib), now_us + hundred_mib * 1000000 - 1000);
  uint64_t turn_us = 0;
  for (int writer = 0; writer < 3; ++writer) {
    const uint64_t next_us = controller.Reserve(now_us, UINT64_MAX / 4);
    EXPECT_GE(next_us, turn_us) << "no turn is earlier than one that was given before";
    turn_us = next_us;
  }
  EXPECT_GT(turn_us, now_us + hundred_mib * 1000000);
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
