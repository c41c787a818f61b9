#include "key/prefix_extractors.h"

#include <gtest/gtest.h>

#include <memory>

namespace ashlar {
namespace {

std::shared_ptr<const SliceTransform> Fixed(size_t bytes) {
  return std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(bytes));
}

TEST(PrefixExtractors, AnIdHasOneTransformWhichStays) {
  std::shared_ptr<const SliceTransform> first = Fixed(3);
  const SliceTransform* const address = first.get();
  const std::string id = first->GetId();
  const std::string other_id = Fixed(4)->GetId();
  PrefixExtractors extractors(std::move(first));
  EXPECT_EQ(extractors.Current().get(), address);
  EXPECT_EQ(extractors.Find(id).get(), address);
  const std::shared_ptr<const SliceTransform> made = extractors.Find(other_id);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->GetId(), other_id);
  extractors.SetCurrent(nullptr);
  EXPECT_EQ(extractors.Current(), nullptr);
  EXPECT_EQ(extractors.Find(id).get(), address) << "it may be in the memo of a lookup";
  EXPECT_EQ(extractors.Find(other_id), made);
  // The family's own transform is preferred, because iterators recognise it by its address.
  extractors.SetCurrent(Fixed(4));
  EXPECT_EQ(extractors.Find(other_id), extractors.Current());
  EXPECT_EQ(extractors.Find("no such transform"), nullptr);
  EXPECT_EQ(extractors.Find("nullptr"), nullptr) << "the text of no transform";
}

}  // namespace
}  // namespace ashlar
