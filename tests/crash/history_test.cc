#include "tests/crash/history.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

Commit OneKey() {
  return {{.kind = Change::Kind::kPut,
           .family = kDefaultColumnFamilyName,
           .key = "key",
           .value = "value"}};
}

// The files may be the same at both moments. An image that was checked at the first moment was not
// checked for the writes acknowledged in between.
TEST(HistoryTest, AnImageHasToHoldMoreAfterAnAcknowledgement) {
  History history;
  history.BeginFamilies({kDefaultColumnFamilyName}, 0);
  history.EndFamilies(5);
  history.Begin(OneKey(), 6);
  history.Acknowledge(8);
  const Demand power_cut = history.DemandAt(8, false);
  EXPECT_TRUE(power_cut.Covers(history.DemandAt(7, true)));
  EXPECT_FALSE(power_cut.Covers(history.DemandAt(8, true)));
  history.Promise(1, 9);
  EXPECT_FALSE(power_cut.Covers(history.DemandAt(9, false)));
}

TEST(HistoryTest, AnImageHasToShowAChangeOfTheFamiliesThatHasEnded) {
  History history;
  history.BeginFamilies({kDefaultColumnFamilyName}, 0);
  history.EndFamilies(5);
  history.BeginFamilies({kDefaultColumnFamilyName, "other"}, 9);
  history.EndFamilies(12);
  Demand demand = history.DemandAt(11, false);
  EXPECT_TRUE(demand.Covers(history.DemandAt(5, false)));
  EXPECT_FALSE(demand.Covers(history.DemandAt(12, false)));
  demand.Add(history.DemandAt(12, false));
  EXPECT_TRUE(demand.Covers(history.DemandAt(12, false)));
}

}  // namespace
}  // namespace ashlar
