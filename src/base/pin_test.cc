#include "base/pin.h"

#include <gtest/gtest.h>

#include <utility>

namespace ashlar {
namespace {

struct Owner {
  int count = 0;
};

const PinOps kOps = {
    .acquire = [](void* owner) { ++static_cast<Owner*>(owner)->count; },
    .release = [](void* owner, void* /*unused*/) { --static_cast<Owner*>(owner)->count; },
};

TEST(PinTest, CountsOnceForEachPinHeld) {
  Owner owner;
  const PinSource source{.ops = &kOps, .owner = &owner};
  {
    Pin first = source.Acquire();
    Pin second = source.Acquire();
    EXPECT_EQ(owner.count, 2);
    second = std::move(first);
    EXPECT_EQ(owner.count, 1);
    EXPECT_FALSE(first.held());
    EXPECT_TRUE(second.held());
  }
  EXPECT_EQ(owner.count, 0);
}

TEST(PinTest, MovesItsCountIntoASlice) {
  Owner owner;
  PinnableSlice slice;
  {
    Pin pin = PinSource{.ops = &kOps, .owner = &owner}.Acquire();
    pin.MoveTo(&slice, "bytes");
  }
  EXPECT_EQ(owner.count, 1);
  EXPECT_EQ(slice.ToString(), "bytes");
  slice.Reset();
  EXPECT_EQ(owner.count, 0);
}

TEST(PinTest, BytesThatLiveForEverNeedNoCount) {
  PinnableSlice slice;
  Pin pin = PinSource{}.Acquire();
  EXPECT_FALSE(pin.held());
  pin.MoveTo(&slice, "bytes");
  EXPECT_TRUE(slice.IsPinned());
  EXPECT_EQ(slice.ToString(), "bytes");
}

}  // namespace
}  // namespace ashlar
