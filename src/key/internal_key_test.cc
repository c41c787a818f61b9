#include "key/internal_key.h"

#include <gtest/gtest.h>

#include <string>

namespace ashlar {
namespace {

TEST(InternalKeyTest, EncodingIsUserKeyThenLittleEndianTag) {
  const std::string key = MakeInternalKey("ab", 0x01020304050607, ValueType::kMerge);
  EXPECT_EQ(key, std::string("ab\x02\x07\x06\x05\x04\x03\x02\x01", 10));
  EXPECT_EQ(ExtractUserKey(key), Slice("ab"));
  EXPECT_EQ(TagSequence(ExtractTag(key)), 0x01020304050607u);
  EXPECT_EQ(ExtractType(key), ValueType::kMerge);
}

TEST(InternalKeyTest, EmptyUserKey) {
  const std::string key = MakeInternalKey("", kSequenceNumberMax, ValueType::kValue);
  EXPECT_EQ(key.size(), kTagBytes);
  EXPECT_TRUE(ExtractUserKey(key).empty());
  EXPECT_EQ(TagSequence(ExtractTag(key)), kSequenceNumberMax);
}

TEST(InternalKeyTest, SeekTagComesBeforeEveryVersionOfItsSequence) {
  EXPECT_GT(SeekTag(7), PackTag(7, ValueType::kWideColumnEntity));
  EXPECT_LT(SeekTag(7), PackTag(8, ValueType::kDeletion));
}

TEST(InternalKeyTest, TheQuestionsAboutATypeAgreeWithItsRole) {
  for (unsigned number = 0; number < 0x100; ++number) {
    const auto type = static_cast<ValueType>(number);
    const RecordRole role = RoleOf(type);
    EXPECT_EQ(IsValue(type), role == RecordRole::kValue) << number;
    EXPECT_EQ(IsTombstone(type), role == RecordRole::kTombstone) << number;
    EXPECT_EQ(IsOperand(type), role == RecordRole::kOperand) << number;
    EXPECT_EQ(IsPointType(type), IsValue(type) || IsTombstone(type) || IsOperand(type)) << number;
    EXPECT_TRUE(IsValue(type) || !IsPlainValue(type)) << number;
  }
}

TEST(InternalKeyTest, UnsupportedTypesAreNamed) {
  EXPECT_TRUE(IsPointType(ValueType::kSingleDeletion));
  EXPECT_FALSE(IsPointType(ValueType::kRangeDeletion));
  EXPECT_FALSE(IsPointType(ValueType::kBlobIndex));
  const Status status = UnsupportedTypeError(ValueType::kRangeDeletion);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("0x0f (DeleteRange)"), std::string::npos) << status.ToString();
  EXPECT_NE(UnsupportedTypeError(static_cast<ValueType>(0x6c)).ToString().find("0x6c (unknown)"),
            std::string::npos);
}

}  // namespace
}  // namespace ashlar
