#include "manifest/published_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "base/format.h"

namespace ashlar {
namespace {

std::unique_ptr<ColumnFamilyState> Family(ColumnFamilyId id, const std::string& name) {
  return std::make_unique<ColumnFamilyState>(
      id, ColumnFamilySpec{.name = name, .comparator = KeyComparator(BytewiseComparator())});
}

TEST(FamilyMapTest, FamiliesAreFoundByIdAndByName) {
  FamilyMap families;
  for (ColumnFamilyId id = 0; id < 100; ++id) {
    ColumnFamilyState* const added = families.Add(Family(id, StrCat("family", id)));
    EXPECT_EQ(families.Find(id), added);
    EXPECT_EQ(families.Find(StrCat("family", id)), added);
  }
  families.CheckInvariants();
  EXPECT_EQ(families.size(), 100u);
  EXPECT_EQ(families.Find(100), nullptr);
  EXPECT_EQ(families.Find("family100"), nullptr);
  ColumnFamilyId next = 0;
  for (const auto& [id, family] : families) EXPECT_EQ(id, next++);
}

TEST(FamilyMapTest, ANameIsFreeAgainAfterItsFamilyIsErased) {
  FamilyMap families;
  families.Add(Family(1, "name"));
  EXPECT_TRUE(families.Erase(1));
  EXPECT_FALSE(families.Erase(1));
  EXPECT_EQ(families.Find("name"), nullptr);
  ColumnFamilyState* const added = families.Add(Family(2, "name"));
  EXPECT_EQ(families.Find("name"), added);
  families.CheckInvariants();
}

TEST(FamilyMapTest, MergedFamiliesStayWhereTheyAre) {
  FamilyMap families;
  families.Add(Family(0, "default"));
  FamilyMap others;
  ColumnFamilyState* const other = others.Add(Family(1, "other"));
  families.Merge(&others);
  EXPECT_TRUE(others.empty());
  EXPECT_EQ(others.Find("other"), nullptr);
  EXPECT_EQ(families.Find("other"), other);
  const FamilyMap moved = std::move(families);
  EXPECT_EQ(moved.Find(1), other);
  EXPECT_EQ(moved.Find("other"), other);
  moved.CheckInvariants();
}

}  // namespace
}  // namespace ashlar
