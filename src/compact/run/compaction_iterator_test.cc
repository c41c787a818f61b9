// Tests the decision about each entry, rule by rule and against a model that keeps all history.

#include "compact/run/compaction_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/random.h"
#include "compact/run/entry_test_kit.h"

namespace ashlar {
namespace {

const KeyComparator kBytewise(BytewiseComparator());

using MaybeKeys = std::optional<std::set<std::string>>;
const MaybeKeys kUnknown;
MaybeKeys Keys(const std::string& key) { return std::set<std::string>{key}; }

// Decides by the value: "rm", "purge", "chg", "long", "skip<key>" (until the key), "bad", "io",
// "throw"; others are kept. Lists the entries that it was called for.
class ValueFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "ValueFilter"; }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType type, const Slice& existing,
                    std::string* new_value, std::string* skip_until) const override {
    const std::string value = existing.ToString();
    asked_ += (asked_.empty() ? "" : " ") + key.ToString() + "=" + value;
    if (type == kMergeOperand) asked_ += "+";
    *new_value = value == "long" ? std::string(200, 'x') : "new";
    if (value.starts_with("skip")) *skip_until = value.substr(4);
    if (value == "throw") throw std::runtime_error("no mood");
    if (value == "rm") return Decision::kRemove;
    if (value == "purge") return Decision::kPurge;
    if (value == "chg" || value == "long") return Decision::kChangeValue;
    if (value.starts_with("skip")) return Decision::kRemoveAndSkipUntil;
    if (value == "bad") return static_cast<Decision>(77);
    if (value == "io") return Decision::kIOError;
    return Decision::kKeep;
  }
  std::string TakeAsked() const { return std::exchange(asked_, ""); }

 private:
  mutable std::string asked_;
};

struct Setting {
  std::vector<SequenceNumber> snapshots = {};
  // User keys that the levels below may hold, or nothing if they are unknown, as in a flush.
  MaybeKeys below = std::set<std::string>();
  bool zero = false;
  bool partial_merge = true;
  bool no_operator = false;
  size_t entry_bytes_max = 100;
  std::optional<std::string> begin = {};
  std::optional<std::string> end = {};
  const CompactionFilter* filter = nullptr;
};

// One file per key, on one level.
class KeysBelow {
 public:
  explicit KeysBelow(const std::set<std::string>& keys) : levels_(1) {
    for (const std::string& key : keys) {
      files_.push_back(std::make_unique<FileMetaData>());
      files_.back()->smallest = files_.back()->largest = MakeInternalKey(key, 1, ValueType::kValue);
      levels_[0].push_back(files_.back().get());
    }
  }
  KeyNotBelow Checker() const { return KeyNotBelow(kBytewise, levels_); }

 private:
  std::vector<std::unique_ptr<FileMetaData>> files_;
  std::vector<std::vector<FileMetaData*>> levels_;
};

struct Outcome {
  std::vector<TextEntry> entries;
  std::vector<TextEntry> for_snapshots;  // a subset of them
  Status status;
  StreamCounts counts;
};
Outcome RunStream(EntryCursor* input, const Setting& setting) {
  const JoinOperator join(setting.partial_merge);
  const KeysBelow below(setting.below.value_or(std::set<std::string>()));
  KeyNotBelow not_below = below.Checker();
  const Slice begin = setting.begin ? Slice(*setting.begin) : Slice();
  const Slice end = setting.end ? Slice(*setting.end) : Slice();
  std::optional<EntryFilter> filter;
  EXPECT_TRUE(EntryFilter::Make({.shared = setting.filter}, &filter).ok());
  CompactionIterator stream({.input = input,
                             .comparator = kBytewise,
                             .snapshots = setting.snapshots,
                             .merge_operator = setting.no_operator ? nullptr : &join,
                             .not_below = setting.below ? &not_below : nullptr,
                             .filter = filter ? &*filter : nullptr,
                             .zero_sequences = setting.zero,
                             .entry_bytes_max = setting.entry_bytes_max,
                             .stop = {},
                             .begin = setting.begin ? &begin : nullptr,
                             .end = setting.end ? &end : nullptr});
  Outcome outcome;
  std::string last;
  for (stream.Start(); stream.Valid(); stream.Next()) {
    const std::string user_key = ExtractUserKey(stream.key()).ToString();
    EXPECT_EQ(stream.first_of_user_key(),
              outcome.entries.empty() || outcome.entries.back().user_key != user_key);
    EXPECT_TRUE(last.empty() || kBytewise.CompareInternal(last, stream.key()) < 0)
        << "the output must ascend";
    last = stream.key().ToString();
    outcome.entries.push_back({user_key, TagSequence(ExtractTag(stream.key())),
                               ExtractType(stream.key()), stream.value().ToString()});
    if (stream.is_for_snapshots()) outcome.for_snapshots.push_back(outcome.entries.back());
  }
  outcome.status = stream.status();
  outcome.counts = stream.counts();
  return outcome;
}
std::string OutputsOfBatches(const std::string& text, const Setting& setting, size_t batch) {
  EntryCursor input(kBytewise, ParseEntries(text));
  input.SetBatch(batch);
  const Outcome outcome = RunStream(&input, setting);
  std::string out;
  for (const TextEntry& entry : outcome.entries)
    out += (out.empty() ? "" : ", ") + PrintEntry(entry.InternalKey(), entry.value);
  if (!outcome.status.ok()) out += (out.empty() ? "" : ", ") + outcome.status.ToString();
  return out;
}
// Returns the output, which must be the same for every size of the input's batches.
std::string Outputs(const std::string& text, const Setting& setting = {}) {
  const std::string out = OutputsOfBatches(text, setting, 1);
  EXPECT_EQ(OutputsOfBatches(text, setting, 2), out);
  EXPECT_EQ(OutputsOfBatches(text, setting, 100), out);
  return out;
}

TEST(StreamValues, NewerHidesOlder) {
  EXPECT_EQ(Outputs("a@9 put x, a@7 put y, b@3 put z"), "a@9 put x, b@3 put z");
}

TEST(StreamValues, EachSnapshotKeepsItsVersion) {
  EXPECT_EQ(Outputs("a@40 put 1, a@37 put 2, a@31 put 3, a@22 put 4, a@20 put 5, a@12 put 6",
                    {.snapshots = {20, 35}}),
            "a@40 put 1, a@31 put 3, a@20 put 5");
}

// Returns the entries that only snapshots see.
std::string ForSnapshots(const std::string& text, const Setting& setting) {
  EntryCursor input(kBytewise, ParseEntries(text));
  std::string out;
  for (const TextEntry& entry : RunStream(&input, setting).for_snapshots)
    out += (out.empty() ? "" : ", ") + PrintEntry(entry.InternalKey(), entry.value);
  return out;
}

TEST(StreamValues, VersionsOfSnapshotsAreKnown) {
  const std::string entries = "a@40 put 1, a@31 put 2, a@20 put 3, b@41 put 4, c@12 put 5";
  EXPECT_EQ(ForSnapshots(entries, {.snapshots = {20, 35}}), "a@31 put 2, a@20 put 3");
  EXPECT_EQ(ForSnapshots(entries, {.snapshots = {20, 35}, .zero = true}), "a@31 put 2, a@0 put 3");
  EXPECT_EQ(ForSnapshots(entries, {.snapshots = {20}}), "a@20 put 3");
  EXPECT_EQ(ForSnapshots(entries, {}), "");
}

// No snapshot separates them. Without the operator, another compaction would not merge them either.
TEST(StreamMerges, OperandsOfOneSnapshotAreNotForSnapshots) {
  const std::string entries = "a@40 merge 1, a@39 merge 2, a@20 merge 3, a@19 merge 4";
  EXPECT_EQ(ForSnapshots(entries, {.no_operator = true}), "");
  EXPECT_EQ(ForSnapshots(entries, {.snapshots = {30}, .no_operator = true}), "a@20 merge 3");
}

TEST(StreamValues, ZeroedOnlyBelowEverySnapshot) {
  EXPECT_EQ(
      Outputs("a@40 put 1, a@20 put 2, b@21 put 3, c@19 put 4", {.snapshots = {20}, .zero = true}),
      "a@40 put 1, a@0 put 2, b@21 put 3, c@0 put 4");
  EXPECT_EQ(Outputs("a@40 put 1, b@21 put 3", {.zero = true}), "a@0 put 1, b@0 put 3");
}

TEST(StreamDeletions, GoWhereNothingIsBelow) {
  EXPECT_EQ(Outputs("a@9 del, a@7 put y, b@3 del"), "");
  EXPECT_EQ(Outputs("a@9 del, a@7 put y, b@3 del", {.below = Keys("a")}), "a@9 del");
  EXPECT_EQ(Outputs("a@9 del, a@7 put y", {.below = kUnknown}), "a@9 del");
}

TEST(StreamDeletions, StayForWhatOlderSnapshotsKeep) {
  EXPECT_EQ(Outputs("a@9 del, a@8 put x, a@5 put y", {.snapshots = {6}}), "a@9 del, a@5 put y");
  EXPECT_EQ(Outputs("a@9 del, a@8 put x", {.snapshots = {6}}), "");
  EXPECT_EQ(Outputs("a@9 del, a@5 del, a@4 put x", {.snapshots = {6}}), "a@9 del")
      << "kept for a deletion that goes too: wasteful, not wrong";
}

TEST(StreamSingleDeletions, GoWithTheirValue) {
  EXPECT_EQ(Outputs("a@9 single, a@7 put y, b@3 put z", {.below = kUnknown}), "b@3 put z");
  EXPECT_EQ(Outputs("a@9 single, a@7 put y, a@5 single, a@3 put x", {.below = kUnknown}), "");
}

TEST(StreamSingleDeletions, StayForAValueElsewhere) {
  EXPECT_EQ(Outputs("a@9 single", {.below = kUnknown}), "a@9 single");
  EXPECT_EQ(Outputs("a@9 single", {.below = Keys("a")}), "a@9 single");
  EXPECT_EQ(Outputs("a@9 single", {.below = Keys("b")}), "");
}

TEST(StreamSingleDeletions, StayForAValueThatASnapshotSees) {
  EXPECT_EQ(Outputs("a@9 single, a@5 put y", {.snapshots = {6}}), "a@9 single, a@5 put y");
}

TEST(StreamSingleDeletions, CoveredOnesStayForTheirValue) {
  // If a@9 were dropped, it could no longer delete the value below. A later single deletion would
  // delete a@10 and expose that value.
  EXPECT_EQ(Outputs("a@10 put z, a@9 single", {.below = Keys("a")}), "a@10 put z, a@9 single");
  EXPECT_EQ(Outputs("a@10 put z, a@9 single, a@8 put y", {.below = Keys("a")}), "a@10 put z");
  EXPECT_EQ(Outputs("a@10 put z, a@9 single", {.zero = true}), "a@0 put z");
}

TEST(StreamSingleDeletions, CoverWhatIsBelowTheirValue) {
  EXPECT_EQ(Outputs("a@9 single, a@8 put y, a@7 put x", {.below = Keys("a")}), "");
  EXPECT_EQ(Outputs("a@9 single, a@8 put y, a@7 put x", {.snapshots = {7}, .below = Keys("a")}),
            "a@7 put x");
}

// The deletion may come from a range, which single deletions may meet (file_ranges.h).
TEST(StreamSingleDeletions, LeaveADeletionBelowTheirValue) {
  EXPECT_EQ(Outputs("a@9 single, a@8 put y, a@7 del", {.below = Keys("a")}), "a@7 del");
  EXPECT_EQ(Outputs("a@9 single, a@8 put y, a@7 del, a@6 put x", {.below = Keys("a")}), "a@7 del");
  EXPECT_EQ(Outputs("a@9 single, a@8 put y, a@7 del, a@6 put x"), "");
}

TEST(StreamSingleDeletions, BrokenContractsTurnIntoDeletions) {
  EXPECT_EQ(Outputs("a@9 single, a@8 merge x, a@7 put y", {.below = Keys("a")}), "a@9 del");
  EXPECT_EQ(Outputs("a@9 single, a@8 del, a@7 put y", {.below = Keys("a")}), "a@9 del");
  EXPECT_EQ(Outputs("a@9 single, a@8 single, a@7 put y", {.below = Keys("a")}), "a@9 del");
  EXPECT_EQ(Outputs("a@9 single, a@8 del, a@7 put y"), "");
}

TEST(StreamMerges, WithABaseBecomeAValue) {
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, a@7 put 1, a@6 put 0", {.below = Keys("a")}),
            "a@9 put 1+2+3");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, a@7 del, a@6 put 0", {.below = Keys("a")}),
            "a@9 put 2+3");
  EXPECT_EQ(Outputs("a@9 merge 3, a@7 put 1", {.zero = true}), "a@0 put 1+3");
}

TEST(StreamMerges, AtTheEndOfTheKeyBecomeAValueWhereNothingIsBelow) {
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, b@1 put x"), "a@9 put 2+3, b@1 put x");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2", {.below = Keys("a")}), "a@9 merge 2+3");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2", {.below = kUnknown}), "a@9 merge 2+3");
}

TEST(StreamMerges, DoNotCrossSnapshots) {
  EXPECT_EQ(Outputs("a@9 merge 4, a@8 merge 3, a@6 merge 2, a@5 put 1", {.snapshots = {7}}),
            "a@9 merge 3+4, a@6 put 1+2");
  EXPECT_EQ(
      Outputs("a@9 merge 4, a@8 merge 3, a@6 merge 2, a@5 put 1", {.snapshots = {7}, .zero = true}),
      "a@9 merge 3+4, a@0 put 1+2");
}

TEST(StreamMerges, StayAsTheyAreWhenTheyCannotBePartlyMerged) {
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2", {.below = Keys("a"), .partial_merge = false}),
            "a@9 merge 3, a@8 merge 2");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, a@7 merge 1, b@1 put x",
                    {.below = kUnknown, .partial_merge = false}),
            "a@9 merge 3, a@8 merge 2, a@7 merge 1, b@1 put x");
}

TEST(StreamMerges, ASingleDeletionIsABaseAndStaysForItsValue) {
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 single", {.below = Keys("a")}), "a@9 put 3, a@8 single");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 single, a@7 put 1", {.below = Keys("a")}), "a@9 put 3");
}

TEST(StreamMerges, WithoutAnOperatorNothingIsLost) {
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, a@7 put 1, a@6 put 0", {.no_operator = true}),
            "a@9 merge 3, a@8 merge 2, a@7 put 1");
  EXPECT_EQ(Outputs("a@9 merge 3, a@8 merge 2, a@7 del, a@6 put 0",
                    {.below = Keys("a"), .no_operator = true}),
            "a@9 merge 3, a@8 merge 2, a@7 del");
  EXPECT_EQ(Outputs("a@9 merge 3", {.zero = true, .no_operator = true}), "a@9 merge 3");
}

TEST(StreamMerges, WhatWouldBeTooLargeForATableStaysInOperands) {
  // "a" and "11+22+33" are nine bytes together.
  EXPECT_EQ(Outputs("a@9 merge 33, a@8 merge 22, a@7 put 11", {.entry_bytes_max = 9}),
            "a@9 put 11+22+33");
  EXPECT_EQ(Outputs("a@9 merge 33, a@8 merge 22, a@7 put 11, a@6 put 0", {.entry_bytes_max = 8}),
            "a@9 merge 22+33, a@7 put 11");
  EXPECT_EQ(Outputs("a@9 merge 33, a@8 merge 22, a@7 put 11", {.zero = true, .entry_bytes_max = 5}),
            "a@9 merge 33, a@8 merge 22, a@0 put 11");
  EXPECT_EQ(Outputs("a@9 merge 33, a@8 merge 22, b@1 put x", {.entry_bytes_max = 5}),
            "a@9 merge 33, a@8 merge 22, b@1 put x");
}

TEST(StreamMerges, AFailureEndsTheJobOrKeepsTheOperands) {
  EXPECT_EQ(Outputs("a@9 put x, b@9 merge bad, b@7 put 1, c@1 put z").substr(0, 21),
            "a@9 put x, Corruption");
  EXPECT_EQ(Outputs("a@9 put x, b@9 merge must, b@8 merge 2, b@7 put 1, b@6 put 0, c@1 put z"),
            "a@9 put x, b@9 merge must, b@8 merge 2, b@7 put 1, c@1 put z");
}

TEST(StreamRanges, BoundsAreUserKeys) {
  const std::string input = "a@9 put 1, b@9 put 2, b@8 put 3, c@7 put 4, d@7 put 5";
  EXPECT_EQ(Outputs(input, {.begin = "b", .end = "d"}), "b@9 put 2, c@7 put 4");
  EXPECT_EQ(Outputs(input, {.begin = "bb", .end = "bc"}), "");
  EXPECT_EQ(Outputs("a@9 del, b@9 put x", {.end = "b"}), "");
}

TEST(StreamErrors, UnknownTypesAreRefused) {
  EXPECT_EQ(Outputs("a@9 put x, b@8 range y").substr(0, 31), "a@9 put x, Not implemented: com");
}

TEST(StreamErrors, DisorderIsCorruption) {
  EXPECT_EQ(Outputs("b@9 put x, a@8 put y").substr(0, 21), "b@9 put x, Corruption");
  EXPECT_EQ(Outputs("a@8 put x, a@9 put y").substr(0, 21), "a@8 put x, Corruption");
}

// Another range writes the keys before this one. If both wrote them, their tables would overlap.
TEST(StreamErrors, AKeyBeforeTheRangeIsCorruption) {
  for (const char* entries : {"a@9 put x, c@8 put y", "a@9 del, c@8 put y", "a@9 merge x"}) {
    EntryCursor input(kBytewise, ParseEntries(entries));
    input.MisleadSeeksTo(0);
    const Outcome outcome = RunStream(&input, {.begin = "b"});
    EXPECT_TRUE(outcome.status.IsCorruption()) << outcome.status.ToString();
    EXPECT_TRUE(outcome.entries.empty());
  }
}

TEST(StreamErrors, TheSameEntryTwiceCountsOnce) {
  EXPECT_EQ(Outputs("a@9 put x, a@9 put x, b@1 put z", {.snapshots = {1}}), "a@9 put x, b@1 put z");
  EXPECT_EQ(Outputs("a@9 merge x, a@9 merge x", {.below = kUnknown}), "a@9 merge x");
}

TEST(StreamErrors, AReadErrorEndsTheStream) {
  for (size_t fail_at = 0; fail_at < 6; ++fail_at) {
    EntryCursor input(
        kBytewise,
        ParseEntries("a@9 del, a@8 put x, b@7 merge 1, b@6 merge 2, c@5 put y, d@4 put z"));
    input.FailAt(fail_at);
    input.SetBatch(3);
    EXPECT_TRUE(RunStream(&input, {}).status.IsIOError()) << fail_at;
  }
}

TEST(StreamErrors, StopsWhenTold) {
  std::vector<TextEntry> entries;
  for (int i = 0; i < 10000; ++i)
    entries.push_back({"k", static_cast<SequenceNumber>(20000 - i), ValueType::kValue, "v"});
  for (int i = 0; i < 3; ++i) {
    const std::atomic<bool> yes{true};
    EntryCursor input(kBytewise, entries);
    StopFlags stop{.shutting_down = i == 0 ? &yes : nullptr,
                   .canceled = i == 1 ? &yes : nullptr,
                   .sibling_failed = i == 2 ? &yes : nullptr};
    CompactionIterator stream(
        {.input = &input, .comparator = kBytewise, .snapshots = {}, .stop = stop});
    for (stream.Start(); stream.Valid(); stream.Next()) {
    }
    const Status::Code expected[] = {Status::kShutdownInProgress, Status::kIncomplete,
                                     Status::kAborted};
    EXPECT_EQ(stream.status().code(), expected[i]);
    EXPECT_LT(stream.counts().entries_in, 5000u);
  }
}

TEST(StreamCounts, AddUp) {
  EntryCursor input(kBytewise, ParseEntries("a@9 put x, a@8 put yy, b@7 del, c@6 single, c@5 put "
                                            "z, d@4 merge 2, d@3 merge 1, e@2 put v, f@1 put w"));
  input.SetBatch(4);
  const StreamCounts counts = RunStream(&input, {}).counts;
  EXPECT_EQ(counts.entries_in, 9u);
  EXPECT_EQ(counts.entries_out, 4u);
  EXPECT_EQ(counts.deletions_in, 2u);
  EXPECT_EQ(counts.dropped_hidden, 2u);
  EXPECT_EQ(counts.dropped_obsolete, 2u);
  EXPECT_EQ(counts.merged_operands, 2u);
  EXPECT_EQ(counts.key_bytes_in, 81u);
  EXPECT_EQ(counts.value_bytes_in, 8u);
  EXPECT_EQ(counts.single_deletes_unmatched, 0u) << "c had its value";
}

TEST(StreamCounts, ASingleDeletionWithoutItsValueIsCounted) {
  EntryCursor input(kBytewise, ParseEntries("a@3 single, b@2 single, b@1 put v"));
  const StreamCounts counts = RunStream(&input, {}).counts;
  EXPECT_EQ(counts.entries_out, 0u);
  EXPECT_EQ(counts.single_deletes_unmatched, 1u);
}

// --- filters ---

// Returns the outputs, then the calls of the filter.
std::string Filtered(const std::string& text, Setting setting = {}) {
  std::string out;
  for (const size_t batch : {size_t{1}, size_t{2}, size_t{100}}) {
    const ValueFilter filter;
    setting.filter = &filter;
    std::string now = OutputsOfBatches(text, setting, batch);
    now += " | " + filter.TakeAsked();
    EXPECT_TRUE(out.empty() || out == now) << out << " and in batches of " << batch << ": " << now;
    out = std::move(now);
  }
  return out;
}

TEST(StreamFilter, DecidesAboutTheNewestVersion) {
  EXPECT_EQ(Filtered("a@9 put x, a@7 put rm, b@6 put rm, b@5 put y, c@4 put chg, d@3 put z"),
            "a@9 put x, c@4 put new, d@3 put z | a=x b=rm c=chg d=z");
  EXPECT_EQ(Filtered("a@9 del, a@8 put rm, b@7 single, b@6 put rm, c@5 put x"), "c@5 put x | c=x");
}

TEST(StreamFilter, ARemovedValueHidesWhatIsOlder) {
  EXPECT_EQ(Filtered("a@9 put rm, b@8 put rm", {.below = Keys("a")}), "a@9 del | a=rm b=rm");
  EXPECT_EQ(Filtered("a@9 put rm, a@8 put y, b@7 put rm", {.below = kUnknown}),
            "a@9 del, b@7 del | a=rm b=rm");
  EXPECT_EQ(Filtered("a@9 put purge, b@8 put purge", {.below = Keys("a")}),
            "a@9 single | a=purge b=purge");
}

TEST(StreamFilter, IsNeverAskedAboutAVersionThatASnapshotSees) {
  EXPECT_EQ(
      Filtered("a@9 put rm, a@5 put rm, a@4 put rm, b@5 put rm, c@6 put rm", {.snapshots = {2, 5}}),
      "a@9 del, a@5 put rm, b@5 put rm | a=rm c=rm");
  EXPECT_EQ(Filtered("a@9 put chg, b@8 merge rm", {.snapshots = {9}}),
            "a@9 put chg, b@8 put rm | ");
}

TEST(StreamFilter, OperandsAreLeftOutOrChanged) {
  EXPECT_EQ(Filtered("a@9 merge rm, a@8 merge chg, a@7 merge 1, a@6 put 0"),
            "a@8 put 0+1+new | a=rm+ a=chg+ a=1+");
  EXPECT_EQ(Filtered("a@9 merge rm, a@8 merge purge, a@7 put chg, b@6 merge rm, c@5 put x"),
            "a@7 put new, c@5 put x | a=rm+ a=purge+ a=chg b=rm+ c=x");
  EXPECT_EQ(Filtered("a@9 merge rm, a@5 merge rm, a@4 put x", {.snapshots = {5}}),
            "a@5 put x+rm | a=rm+");
}

TEST(StreamFilter, IsNotAskedAboutTheBaseOfOperandsThatStay) {
  EXPECT_EQ(Filtered("b@9 merge must, b@8 merge 2, b@7 put rm, c@1 put z"),
            "b@9 merge must, b@8 merge 2, b@7 put rm, c@1 put z | b=must+ b=2+ c=z");
  EXPECT_EQ(Filtered("a@9 merge 3, a@8 put rm", {.no_operator = true}),
            "a@9 merge 3, a@8 put rm | a=3+");
}

TEST(StreamFilter, SkipsARangeWithoutAskingAboutIt) {
  EXPECT_EQ(Filtered("a@9 put x, b@8 put skipd, b@7 put y, c@6 put rm, c@5 merge 1, d@4 put z"),
            "a@9 put x, d@4 put z | a=x b=skipd d=z");
  EXPECT_EQ(Filtered("b@8 put skipz, c@6 put x"), " | b=skipz");
  EXPECT_EQ(Filtered("b@8 merge 1, b@7 merge skipc, b@6 put x, c@5 put y"),
            "c@5 put y | b=1+ b=skipc+ c=y");
  EXPECT_EQ(Filtered("b@8 put skipb, c@7 put x"), "b@8 put skipb, c@7 put x | b=skipb c=x")
      << "the range is empty";
  EXPECT_EQ(Filtered("b@8 merge skipa, c@7 put x"), "b@8 put skipa, c@7 put x | b=skipa+ c=x");
}

TEST(StreamFilter, SkippedKeysStayForSnapshots) {
  EXPECT_EQ(Filtered("b@9 put skipe, b@5 put 1, c@8 put x, c@7 put y, d@4 put 2, e@9 put z",
                     {.snapshots = {6}}),
            "b@9 del, b@5 put 1, d@4 put 2, e@9 put z | b=skipe e=z");
  EXPECT_EQ(Filtered("b@9 put skipe, c@8 merge 1, c@5 put 0, d@8 del, d@5 put 3, d@2 put 4",
                     {.snapshots = {6}}),
            "c@8 del, c@5 put 0, d@8 del, d@5 put 3 | b=skipe");
}

TEST(StreamFilter, ImpossibleDecisionsAndExceptionsEndTheStream) {
  EXPECT_EQ(Filtered("a@9 put x, b@8 put bad").substr(0, 66),
            "a@9 put x, Invalid argument: the compaction filter ValueFilter ret");
  EXPECT_EQ(Filtered("a@9 put throw, b@8 put x"),
            "Invalid argument: the compaction filter ValueFilter threw: no mood | a=throw");
  EXPECT_EQ(Filtered("a@9 merge throw, b@8 put x"),
            "Invalid argument: the compaction filter ValueFilter threw: no mood | a=throw+");
  EXPECT_EQ(Filtered("a@9 put io"),
            "IO error: the compaction filter ValueFilter reported it | a=io");
  EXPECT_EQ(Filtered("a@9 put long").substr(0, 76),
            "Invalid argument: the compaction filter made an entry too large for a table ");
}

// A reader's view of one key. Versions are added newest first.
class Visible {
 public:
  // Returns false if older versions do not matter.
  bool Add(ValueType type, const std::string& value) {
    if (type == ValueType::kMerge) {
      text_ = text_ ? value + "+" + *text_ : value;
      return true;
    }
    if (type == ValueType::kValue) text_ = text_ ? value + "+" + *text_ : value;
    return false;
  }
  bool has_operands() const { return text_.has_value(); }
  const std::optional<std::string>& text() const { return text_; }

 private:
  std::optional<std::string> text_;
};

// All entries of a tree pass through a filter repeatedly. The model has the state that each
// snapshot saw when it was taken, and the filter's result for the entries after the newest
// snapshot.
class FilteredTree {
 public:
  explicit FilteredTree(uint64_t seed) : random_(seed) {}

  void Write() {
    const std::string number = std::to_string(10 + random_.Uniform(30));
    const char* const values[] = {"rm", "chg", "keep", "1", "skipk"};
    std::string key = "k" + number;
    TextEntry entry{key, ++sequence_, ValueType::kValue, values[random_.Uniform(5)]};
    if (entry.value == "skipk") entry.value += std::to_string(10 + random_.Uniform(30));
    if (random_.OneIn(5)) {
      // A key that is never written again.
      entry.user_key += "." + std::to_string(sequence_);
      if (random_.OneIn(2)) entry.value = "purge";
    } else if (random_.OneIn(4)) {
      entry.type = ValueType::kDeletion;
      entry.value.clear();
    } else if (random_.OneIn(3)) {
      entry.type = ValueType::kMerge;
      if (random_.OneIn(5)) entry.value = "purge";
    }
    stored_.push_back(std::move(entry));
    std::sort(stored_.begin(), stored_.end(), [](const TextEntry& a, const TextEntry& b) {
      return kBytewise.CompareInternal(a.InternalKey(), b.InternalKey()) < 0;
    });
  }
  void TakeOrReleaseSnapshots() {
    if (random_.OneIn(3)) seen_[sequence_] = ReadAt(kSequenceNumberMax);
    if (!seen_.empty() && random_.OneIn(3)) seen_.erase(seen_.begin());
    if (!seen_.empty() && random_.OneIn(4)) seen_.erase(std::prev(seen_.end()));
  }
  void Compact() {
    Setting setting{.filter = &filter_};
    if (random_.OneIn(3)) setting.below = kUnknown;
    for (const auto& [snapshot, contents] : seen_) setting.snapshots.push_back(snapshot);
    const Contents expected = LeftByTheFilter();
    EntryCursor input(kBytewise, std::exchange(stored_, {}));
    input.SetBatch(1 + random_.Uniform(5));
    Outcome outcome = RunStream(&input, setting);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    stored_ = std::move(outcome.entries);
    ASSERT_EQ(ReadAt(kSequenceNumberMax), expected);
    for (const auto& [snapshot, contents] : seen_)
      ASSERT_EQ(ReadAt(snapshot), contents) << "at " << snapshot;
  }
  Random* random() { return &random_; }

 private:
  using Contents = std::map<std::string, std::string>;
  using ByKey = std::map<std::string, std::vector<const TextEntry*>>;  // versions, newest first

  ByKey Stored() const {
    ByKey keys;
    for (const TextEntry& entry : stored_) keys[entry.user_key].push_back(&entry);
    return keys;
  }
  Contents ReadAt(SequenceNumber point) const {
    Contents contents;
    for (const auto& [key, versions] : Stored()) {
      Visible visible;
      for (const TextEntry* entry : versions)
        if (entry->sequence <= point && !visible.Add(entry->type, entry->value)) break;
      if (visible.text()) contents[key] = *visible.text();
    }
    return contents;
  }

  // Filters a key with a version after the newest snapshot. Returns the value that is left.
  std::optional<std::string> Filter(const std::string& key,
                                    const std::vector<const TextEntry*>& versions,
                                    SequenceNumber newest, std::string* skip_until) const {
    Visible visible;
    for (const TextEntry* entry : versions) {
      std::string value = entry->value;
      if (entry->sequence > newest) {
        const bool asks = entry->type == ValueType::kMerge ||
                          (entry->type == ValueType::kValue && !visible.has_operands());
        const bool removes = asks && (value == "rm" || value == "purge");
        if (removes && entry->type == ValueType::kMerge) continue;
        if (removes) break;
        if (asks && value.starts_with("skip") && value.substr(4) > key) {
          *skip_until = value.substr(4);
          return {};
        }
        if (asks && value == "chg") value = "new";
      }
      if (!visible.Add(entry->type, value)) break;
    }
    return visible.text();
  }
  Contents LeftByTheFilter() const {
    const SequenceNumber newest = seen_.empty() ? 0 : seen_.rbegin()->first;
    Contents contents = ReadAt(kSequenceNumberMax);
    std::string skip_until;
    for (const auto& [key, versions] : Stored()) {
      if (versions.front()->sequence <= newest) continue;
      std::optional<std::string> left;
      if (key >= skip_until) left = Filter(key, versions, newest, &skip_until);
      contents.erase(key);
      if (left) contents[key] = *left;
    }
    return contents;
  }

  Random random_;
  const ValueFilter filter_;
  SequenceNumber sequence_ = 0;
  std::vector<TextEntry> stored_;  // in order
  std::map<SequenceNumber, Contents> seen_;
};

TEST(StreamFilter, EverySnapshotReadsAsTheModel) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    FilteredTree tree(seed);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      for (uint64_t i = tree.random()->Uniform(15); i > 0; --i) tree.Write();
      tree.TakeOrReleaseSnapshots();
      ASSERT_NO_FATAL_FAILURE(tree.Compact());
    }
  }
}

// --- the model ---

// A few levels of complete sorted runs. Random runs are compacted into lower levels, and snapshots
// are taken and released at random. Every key always reads as in its history.
class ModelTree {
 public:
  explicit ModelTree(uint64_t seed) : random_(seed), levels_(4) {}

  void Write() {
    const uint64_t k = random_.Uniform(12);
    const std::string key = "k" + std::to_string(k);
    std::vector<TextEntry>& history = history_[key];
    TextEntry entry{key, ++sequence_, ValueType::kValue, std::to_string(sequence_)};
    if (k < 4) {
      // These keys keep the contract of single deletions, which is exactly one after each value.
      if (!history.empty() && history.back().type == ValueType::kValue)
        entry = {key, sequence_, ValueType::kSingleDeletion, ""};
    } else {
      const uint64_t dice = random_.Uniform(10);
      if (dice < 3) entry = {key, sequence_, ValueType::kDeletion, ""};
      if (dice >= 6) entry.type = ValueType::kMerge;
    }
    history.push_back(entry);
    memtable_.push_back(entry);
  }

  void TakeSnapshot() { snapshots_.insert(sequence_); }
  void ReleaseSnapshot() {
    if (!snapshots_.empty())
      snapshots_.erase(std::next(snapshots_.begin(),
                                 static_cast<std::ptrdiff_t>(random_.Uniform(snapshots_.size()))));
  }

  void Flush() {
    std::vector<TextEntry> entries = std::exchange(memtable_, {});
    Rewrite(std::move(entries), {.below = kUnknown}, 0, /*replace=*/false);
  }
  void Compact(size_t level) {
    std::vector<TextEntry> entries = std::exchange(levels_[level], {});
    entries.insert(entries.end(), levels_[level + 1].begin(), levels_[level + 1].end());
    std::set<std::string> below;
    for (size_t deeper = level + 2; deeper < levels_.size(); ++deeper) {
      for (const TextEntry& entry : levels_[deeper]) below.insert(entry.user_key);
    }
    const bool zero = below.empty() && random_.OneIn(2);
    Rewrite(std::move(entries), {.below = below, .zero = zero}, level + 1, /*replace=*/true);
  }

  void Check() {
    std::set<SequenceNumber> points = snapshots_;
    points.insert(sequence_);
    for (const auto& [key, history] : history_) {
      std::vector<TextEntry> newest_first(history.rbegin(), history.rend());
      const std::vector<TextEntry> stored = Stored(key);
      for (const SequenceNumber point : points) {
        ASSERT_EQ(Read(stored, point), Read(newest_first, point)) << key << " at " << point;
      }
    }
  }

  size_t EntriesStored() const {
    size_t count = 0;
    for (const auto& level : levels_) count += level.size();
    return count;
  }
  uint64_t Random(uint64_t n) { return random_.Uniform(n); }

 private:
  void Rewrite(std::vector<TextEntry> entries, Setting setting, size_t level, bool replace) {
    std::sort(entries.begin(), entries.end(), [](const TextEntry& a, const TextEntry& b) {
      return kBytewise.CompareInternal(a.InternalKey(), b.InternalKey()) < 0;
    });
    setting.snapshots.assign(snapshots_.begin(), snapshots_.end());
    setting.partial_merge = random_.OneIn(2);
    EntryCursor input(kBytewise, std::move(entries));
    input.SetBatch(1 + random_.Uniform(5));
    Outcome outcome = RunStream(&input, setting);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    auto& target = levels_[level];
    if (replace) target.clear();
    // Level 0 is a list of concatenated runs. A read visits all entries anyway.
    target.insert(target.begin(), outcome.entries.begin(), outcome.entries.end());
  }

  // Returns the entries that a reader finds, newest first.
  std::vector<TextEntry> Stored(const std::string& key) const {
    std::vector<TextEntry> entries;
    for (auto it = memtable_.rbegin(); it != memtable_.rend(); ++it) {
      if (it->user_key == key) entries.push_back(*it);
    }
    for (const auto& level : levels_) {
      for (const TextEntry& entry : level) {
        if (entry.user_key == key) entries.push_back(entry);
      }
    }
    for (size_t i = 1; i < entries.size(); ++i)
      EXPECT_GT(entries[i - 1].sequence, entries[i].sequence);
    return entries;
  }

  static std::string Read(const std::vector<TextEntry>& newest_first, SequenceNumber point) {
    std::string operands;
    for (const TextEntry& entry : newest_first) {
      if (entry.sequence > point) continue;
      if (entry.type == ValueType::kMerge || entry.type == ValueType::kValue) {
        operands = entry.value + (operands.empty() ? "" : "+") + operands;
        if (entry.type == ValueType::kValue) return operands;
        continue;
      }
      break;
    }
    return operands.empty() ? "not found" : operands;
  }

  ::ashlar::Random random_;
  SequenceNumber sequence_ = 0;
  std::set<SequenceNumber> snapshots_;
  std::map<std::string, std::vector<TextEntry>> history_;
  std::vector<TextEntry> memtable_;
  std::vector<std::vector<TextEntry>> levels_;
};

TEST(StreamModel, EverySnapshotReadsAsItsHistory) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ModelTree tree(seed);
    for (int step = 0; step < 250; ++step) {
      SCOPED_TRACE(testing::Message() << "step " << step);
      for (uint64_t i = tree.Random(20); i > 0; --i) tree.Write();
      if (tree.Random(3) == 0) tree.TakeSnapshot();
      if (tree.Random(3) == 0) tree.ReleaseSnapshot();
      if (tree.Random(2) == 0) tree.Flush();
      if (tree.Random(3) == 0) tree.Compact(tree.Random(3));
      ASSERT_NO_FATAL_FAILURE(tree.Check());
    }
    // Without snapshots only one entry per live key is left at the bottom.
    for (int i = 0; i < 100; ++i) tree.ReleaseSnapshot();
    tree.Flush();
    for (size_t level = 0; level < 3; ++level) tree.Compact(level);
    ASSERT_NO_FATAL_FAILURE(tree.Check());
    EXPECT_LE(tree.EntriesStored(), 12u);
  }
}

}  // namespace
}  // namespace ashlar
