#include "ashlar/merge_operator.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "base/coding.h"

namespace ashlar {
namespace {

std::string Number(uint64_t n) {
  std::string bytes;
  PutFixed64(&bytes, n);
  return bytes;
}

struct Outcome {
  bool ok = false;
  bool borrowed = false;  // an operand or the existing value, not a new string
  std::string value;
};

Outcome FullMerge(const MergeOperator& op, const std::optional<std::string>& existing,
                  const std::vector<std::string>& operands) {
  const std::vector<Slice> slices(operands.begin(), operands.end());
  const std::string existing_bytes = existing.value_or("");
  const Slice existing_slice(existing_bytes);
  const Slice key("key");
  std::string new_value;
  Slice existing_operand(nullptr, 0);
  MergeOperator::MergeOperationOutput out(new_value, existing_operand);
  Outcome outcome;
  outcome.ok = op.FullMergeV2(MergeOperator::MergeOperationInput(
                                  key, existing ? &existing_slice : nullptr, slices, nullptr),
                              &out);
  outcome.borrowed = existing_operand.data() != nullptr;
  outcome.value = outcome.borrowed ? existing_operand.ToString() : new_value;
  return outcome;
}

std::optional<std::string> PartialMerge(const MergeOperator& op,
                                        const std::vector<std::string>& operands) {
  const std::deque<Slice> slices(operands.begin(), operands.end());
  std::string result;
  if (!op.PartialMergeMulti("key", slices, &result, nullptr)) return std::nullopt;
  return result;
}

TEST(UInt64Add, AddsAndWraps) {
  const auto op = MergeOperators::CreateUInt64AddOperator();
  EXPECT_STREQ(op->Name(), "UInt64AddOperator");
  EXPECT_EQ(FullMerge(*op, std::nullopt, {Number(5)}).value, Number(5));
  EXPECT_EQ(FullMerge(*op, Number(1), {Number(2), Number(3)}).value, Number(6));
  EXPECT_EQ(FullMerge(*op, Number(~uint64_t{0}), {Number(2)}).value, Number(1));
  EXPECT_EQ(PartialMerge(*op, {Number(1), Number(2), Number(40)}), Number(43));
}

TEST(UInt64Add, WhatIsNotANumberCountsAsZeroAndIsLogged) {
  class Lines final : public Logger {
   public:
    void Log(InfoLogLevel, std::string_view message) override { lines.emplace_back(message); }
    std::vector<std::string> lines;
  };
  const auto op = MergeOperators::CreateUInt64AddOperator();
  EXPECT_EQ(FullMerge(*op, "secret", {Number(2), "", Number(3)}).value, Number(5));
  Lines log;
  std::string result;
  EXPECT_TRUE(op->PartialMerge("key", "secret", Number(7), &result, &log));
  EXPECT_EQ(result, Number(7));
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].find("secret"), std::string::npos);
}

TEST(StringAppend, JoinsInOrder) {
  const auto op = MergeOperators::CreateStringAppendOperator();
  EXPECT_STREQ(op->Name(), "StringAppendOperator");
  EXPECT_EQ(FullMerge(*op, "a", {"b", "c"}).value, "a,b,c");
  EXPECT_EQ(FullMerge(*op, std::nullopt, {"b", "c"}).value, "b,c");
  EXPECT_EQ(FullMerge(*op, "", {"b"}).value, ",b");
  EXPECT_EQ(FullMerge(*op, std::nullopt, {"", ""}).value, ",");
  EXPECT_EQ(PartialMerge(*op, {"a", "", "c"}), "a,,c");
  EXPECT_EQ(FullMerge(*MergeOperators::CreateStringAppendOperator("<>"), "a", {"b"}).value, "a<>b");
  EXPECT_EQ(FullMerge(*MergeOperators::CreateStringAppendOperator(""), "a", {"b"}).value, "ab");
}

TEST(StringAppend, ASingleOperandWithoutAValueIsHandedOnWithoutACopy) {
  const Outcome outcome =
      FullMerge(*MergeOperators::CreateStringAppendOperator(), std::nullopt, {"only"});
  EXPECT_TRUE(outcome.borrowed);
  EXPECT_EQ(outcome.value, "only");
}

TEST(StringAppend, IdsAreThoseOfTheOptionsFile) {
  EXPECT_EQ(MergeOperators::CreateStringAppendOperator(':')->GetId(),
            "{id=StringAppendOperator;delimiter=:;}");
  EXPECT_EQ(MergeOperators::CreateStringAppendOperator(';')->GetId(),
            "{id=StringAppendOperator;delimiter={;};}");
}

TEST(ChoosingOperators, ResultsAreNeverCopied) {
  const auto put = MergeOperators::CreatePutOperator();
  EXPECT_EQ(FullMerge(*put, "a", {"b", "c"}).value, "c");
  EXPECT_TRUE(FullMerge(*put, "a", {"b", "c"}).borrowed);
  EXPECT_EQ(PartialMerge(*put, {"b", "c"}), "c");
  const auto max = MergeOperators::CreateMaxOperator();
  EXPECT_EQ(FullMerge(*max, "m", {"b", "c"}).value, "m");
  EXPECT_EQ(FullMerge(*max, "a", {"c", "b"}).value, "c");
  EXPECT_EQ(FullMerge(*max, std::nullopt, {"b", "\xff", "c"}).value, "\xff");
  EXPECT_TRUE(FullMerge(*max, "m", {"b"}).borrowed);
  EXPECT_EQ(PartialMerge(*max, {"b", "d", "c"}), "d");
}

// Merges are associative: any split into partial merges gives the result of one full merge.
TEST(MergeOperators, PartialMergesAgreeWithFullMerges) {
  const std::vector<std::string> operands = {Number(3), Number(500), Number(1), Number(77)};
  for (const auto& op :
       {MergeOperators::CreateUInt64AddOperator(), MergeOperators::CreateStringAppendOperator(),
        MergeOperators::CreatePutOperator(), MergeOperators::CreateMaxOperator()}) {
    for (const std::optional<std::string>& existing :
         {std::optional<std::string>(), std::optional<std::string>(Number(9))}) {
      const std::string expected = FullMerge(*op, existing, operands).value;
      for (size_t begin = 0; begin < operands.size(); ++begin) {
        for (size_t end = begin + 2; end <= operands.size(); ++end) {
          std::vector<std::string> merged(operands.begin(),
                                          operands.begin() + static_cast<std::ptrdiff_t>(begin));
          const auto middle =
              PartialMerge(*op, {operands.begin() + static_cast<std::ptrdiff_t>(begin),
                                 operands.begin() + static_cast<std::ptrdiff_t>(end)});
          ASSERT_TRUE(middle.has_value());
          merged.push_back(*middle);
          merged.insert(merged.end(), operands.begin() + static_cast<std::ptrdiff_t>(end),
                        operands.end());
          EXPECT_EQ(FullMerge(*op, existing, merged).value, expected)
              << op->Name() << " " << begin << ".." << end;
        }
      }
    }
  }
}

TEST(MergeOperator, TheOldFormIsCalledByTheNewOne) {
  class Old final : public MergeOperator {
   public:
    const char* Name() const override { return "Old"; }
    bool FullMerge(const Slice&, const Slice* existing, const std::deque<std::string>& operands,
                   std::string* result, Logger*) const override {
      *result = existing == nullptr ? "-" : existing->ToString();
      for (const std::string& operand : operands) *result += operand;
      return operands.back() != "bad";
    }
  };
  EXPECT_EQ(FullMerge(Old(), "a", {"b", "c"}).value, "abc");
  EXPECT_EQ(FullMerge(Old(), std::nullopt, {"b"}).value, "-b");
  EXPECT_FALSE(FullMerge(Old(), "a", {"bad"}).ok);
  EXPECT_FALSE(PartialMerge(Old(), {"a", "b"}).has_value());
}

TEST(AssociativeMergeOperator, AFailureOfOneStepFailsTheMerge) {
  class Picky final : public AssociativeMergeOperator {
   public:
    const char* Name() const override { return "Picky"; }
    bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
               Logger*) const override {
      EXPECT_TRUE(result->empty());
      *result = (existing == nullptr ? "" : existing->ToString()) + value.ToString();
      return value != Slice("bad");
    }
  };
  EXPECT_EQ(FullMerge(Picky(), "a", {"b", "c", "d"}).value, "abcd");
  EXPECT_FALSE(FullMerge(Picky(), "a", {"b", "bad", "d"}).ok);
  EXPECT_EQ(PartialMerge(Picky(), {"b", "c", "d"}), "bcd");
  EXPECT_FALSE(PartialMerge(Picky(), {"b", "bad"}).has_value());
}

}  // namespace
}  // namespace ashlar
