#include "key/lookup.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {
namespace {

// Bytes with a count of the pins on them.
struct Owner {
  std::string bytes;
  int pins = 0;

  PinSource source();
};

constexpr PinOps kOwnerOps = {
    .acquire = [](void* owner) { ++static_cast<Owner*>(owner)->pins; },
    .release = [](void* owner, void*) { --static_cast<Owner*>(owner)->pins; },
};

PinSource Owner::source() { return {&kOwnerOps, this}; }

class LookupTest : public testing::Test {
 protected:
  bool Offer(Lookup* lookup, ValueType type, SequenceNumber sequence, Owner* owner) {
    return lookup->Offer(type, sequence, owner->bytes, owner->source());
  }

  const std::shared_ptr<MergeOperator> append_ = MergeOperators::CreateStringAppendOperator(',');
  const std::shared_ptr<MergeOperator> put_ = MergeOperators::CreatePutOperator();
  const std::shared_ptr<MergeOperator> max_ = MergeOperators::CreateMaxOperator();
  Owner newest_{.bytes = "newest"};
  Owner middle_{.bytes = "middle"};
  Owner oldest_{.bytes = "oldest"};
};

TEST_F(LookupTest, NothingOfferedIsNotFound) {
  Lookup lookup({.user_key = "k"});
  PinnableSlice value;
  EXPECT_FALSE(lookup.Done());
  EXPECT_TRUE(lookup.Finish(&value).IsNotFound());
}

TEST_F(LookupTest, ValueIsPinnedNotCopied) {
  PinnableSlice value;
  {
    Lookup lookup({.user_key = "k"});
    EXPECT_FALSE(Offer(&lookup, ValueType::kValue, 9, &newest_));
    EXPECT_TRUE(lookup.Done());
    EXPECT_EQ(newest_.pins, 1);
    ASSERT_TRUE(lookup.Finish(&value).ok());
  }
  EXPECT_EQ(value.data(), newest_.bytes.data());
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(newest_.pins, 1);
  value.Reset();
  EXPECT_EQ(newest_.pins, 0);
}

TEST_F(LookupTest, AbandonedLookupReleasesItsPins) {
  {
    Lookup lookup({.user_key = "k", .merge_operator = append_.get()});
    Offer(&lookup, ValueType::kMerge, 9, &newest_);
    Offer(&lookup, ValueType::kValue, 8, &middle_);
    EXPECT_EQ(newest_.pins + middle_.pins, 2);
  }
  EXPECT_EQ(newest_.pins + middle_.pins, 0);
}

TEST_F(LookupTest, ARestartForgetsWhatWasOffered) {
  Lookup lookup({.user_key = "k", .snapshot = 9, .merge_operator = append_.get()});
  lookup.RaiseCoveringSequence(7);
  Offer(&lookup, ValueType::kMerge, 9, &newest_);
  Offer(&lookup, ValueType::kValue, 8, &middle_);
  EXPECT_TRUE(lookup.Done());
  lookup.Restart(12);
  EXPECT_EQ(newest_.pins + middle_.pins, 0);
  EXPECT_FALSE(lookup.Done());
  EXPECT_EQ(lookup.snapshot(), 12u);
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 6, &newest_));  // nothing covers it now
  PinnableSlice value;
  ASSERT_TRUE(lookup.Finish(&value).ok());
  EXPECT_EQ(value, "newest");
}

TEST_F(LookupTest, DeletionsEndTheSearch) {
  for (const ValueType type : {ValueType::kDeletion, ValueType::kSingleDeletion}) {
    Lookup lookup({.user_key = "k"});
    EXPECT_FALSE(Offer(&lookup, type, 9, &newest_));
    EXPECT_EQ(lookup.state(), Lookup::State::kDeleted);
    PinnableSlice value;
    EXPECT_TRUE(lookup.Finish(&value).IsNotFound());
  }
}

TEST_F(LookupTest, ComputedMergeIsMovedIntoTheBuffer) {
  Lookup lookup({.user_key = "k", .merge_operator = append_.get()});
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 9, &newest_));
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 8, &middle_));
  EXPECT_EQ(lookup.state(), Lookup::State::kMerging);
  EXPECT_FALSE(Offer(&lookup, ValueType::kValue, 7, &oldest_));
  std::string buffer;
  PinnableSlice value(&buffer);
  ASSERT_TRUE(lookup.Finish(&value).ok());
  EXPECT_EQ(value.ToString(), "oldest,middle,newest");
  EXPECT_FALSE(value.IsPinned());
  EXPECT_EQ(value.data(), buffer.data());
}

TEST_F(LookupTest, OperandsOverADeletionOrNothingMergeWithoutABase) {
  Lookup deleted({.user_key = "k", .merge_operator = append_.get()});
  EXPECT_TRUE(Offer(&deleted, ValueType::kMerge, 9, &newest_));
  EXPECT_FALSE(Offer(&deleted, ValueType::kDeletion, 8, &middle_));
  PinnableSlice value;
  ASSERT_TRUE(deleted.Finish(&value).ok());
  EXPECT_EQ(value.ToString(), "newest");

  Lookup nothing({.user_key = "k", .merge_operator = append_.get()});
  EXPECT_TRUE(Offer(&nothing, ValueType::kMerge, 9, &newest_));
  EXPECT_TRUE(Offer(&nothing, ValueType::kMerge, 8, &middle_));
  value.Reset();
  ASSERT_TRUE(nothing.Finish(&value).ok());
  EXPECT_EQ(value.ToString(), "middle,newest");
}

TEST_F(LookupTest, MergeThatEndsInAnExistingValuePinsThat) {
  Lookup takes_operand({.user_key = "k", .merge_operator = put_.get()});
  Offer(&takes_operand, ValueType::kMerge, 9, &newest_);
  Offer(&takes_operand, ValueType::kMerge, 8, &middle_);
  Offer(&takes_operand, ValueType::kValue, 7, &oldest_);
  PinnableSlice value;
  ASSERT_TRUE(takes_operand.Finish(&value).ok());
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value.data(), newest_.bytes.data());
  value.Reset();

  Lookup takes_base({.user_key = "k", .merge_operator = max_.get()});
  Offer(&takes_base, ValueType::kMerge, 9, &middle_);
  Offer(&takes_base, ValueType::kValue, 7, &oldest_);
  ASSERT_TRUE(takes_base.Finish(&value).ok());
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value.data(), oldest_.bytes.data()) << "the larger of the two";
}

TEST_F(LookupTest, OperandsWithoutAnOperatorAreInvalid) {
  Lookup lookup({.user_key = "k"});
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 9, &newest_));
  PinnableSlice value;
  EXPECT_TRUE(lookup.Finish(&value).IsInvalidArgument());
}

TEST_F(LookupTest, UnsupportedTypeFailsTheLookup) {
  for (const bool below_operand : {false, true}) {
    Lookup lookup({.user_key = "k", .merge_operator = append_.get()});
    if (below_operand) Offer(&lookup, ValueType::kMerge, 9, &newest_);
    EXPECT_FALSE(Offer(&lookup, ValueType::kBlobIndex, 8, &middle_));
    EXPECT_TRUE(lookup.Done());
    PinnableSlice value;
    EXPECT_TRUE(lookup.Finish(&value).IsNotSupported());
  }
}

TEST_F(LookupTest, SourceErrorsComeOut) {
  Lookup lookup({.user_key = "k"});
  lookup.Fail(Status::Corruption("000007.sst, offset 4096"));
  PinnableSlice value;
  EXPECT_TRUE(lookup.Done());
  EXPECT_TRUE(lookup.Finish(&value).IsCorruption());
}

TEST_F(LookupTest, VersionBelowTheCoveringSequenceIsDeleted) {
  struct Case {
    SequenceNumber covering;
    bool found;
  };
  for (const Case c : {Case{0, true}, Case{8, true}, Case{9, true}, Case{10, false}}) {
    Lookup lookup({.user_key = "k", .snapshot = 20});
    lookup.RaiseCoveringSequence(c.covering);
    EXPECT_FALSE(Offer(&lookup, ValueType::kValue, 9, &newest_));
    EXPECT_TRUE(lookup.Done());
    PinnableSlice value;
    EXPECT_EQ(lookup.Finish(&value).ok(), c.found) << c.covering;
    EXPECT_EQ(newest_.pins, c.found ? 1 : 0) << c.covering;
  }
}

TEST_F(LookupTest, CoveringSequenceEndsAMergeAboveIt) {
  Lookup lookup({.user_key = "k", .merge_operator = append_.get()});
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 9, &newest_));
  lookup.RaiseCoveringSequence(9);
  lookup.RaiseCoveringSequence(5);  // an older tombstone changes nothing
  EXPECT_FALSE(Offer(&lookup, ValueType::kMerge, 8, &middle_));
  PinnableSlice value;
  ASSERT_TRUE(lookup.Finish(&value).ok());
  EXPECT_EQ(value.ToString(), "newest");
}

// Merges as soon as there are two operands.
class TwoOperandsOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "test.TwoOperands"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString() + ";";
    return true;
  }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return operands.size() == 2;
  }
};

TEST_F(LookupTest, OperatorMayEndTheSearch) {
  const TwoOperandsOperator two;
  Lookup lookup({.user_key = "k", .merge_operator = &two});
  EXPECT_TRUE(Offer(&lookup, ValueType::kMerge, 9, &newest_));
  EXPECT_FALSE(Offer(&lookup, ValueType::kMerge, 8, &middle_));
  EXPECT_TRUE(lookup.Done());
  PinnableSlice value;
  ASSERT_TRUE(lookup.Finish(&value).ok());
  EXPECT_EQ(value.ToString(), "middle;newest;");
}

}  // namespace
}  // namespace ashlar
