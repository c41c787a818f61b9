// Tests which logged writes FlushedWrites leaves out of a repair, for every way in which tables and
// logs can hold the same writes.
#include "repair/flushed_writes.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

constexpr FileNumber kLog = 5;
constexpr uint64_t kA = 11;
constexpr uint64_t kB = 12;

LoggedWrite Point(uint64_t key, SequenceNumber sequence) {
  return {.sequence = sequence, .key_hash = key, .kind = LoggedWrite::Kind::kPoint};
}
LoggedWrite Merge(uint64_t key, SequenceNumber sequence) {
  return {.sequence = sequence, .key_hash = key, .kind = LoggedWrite::Kind::kMerge};
}
LoggedWrite Range(SequenceNumber sequence) {
  return {
      .sequence = sequence, .key_hash = KeyVersion::kRangeHash, .kind = LoggedWrite::Kind::kRange};
}

// Returns the sequences of the writes, all in kLog, that the tables do not hold.
std::vector<SequenceNumber> Missing(const std::vector<LoggedWrite>& writes,
                                    FlushedWrites::Args args) {
  FlushedWrites flushed(std::move(args));
  for (const LoggedWrite& write : writes) flushed.Note(write);
  std::vector<SequenceNumber> missing;
  for (const LoggedWrite& write : writes) {
    if (!flushed.Holds(kLog, write)) missing.push_back(write.sequence);
  }
  return missing;
}

using Sequences = std::vector<SequenceNumber>;

TEST(FlushedWritesTest, WithoutTablesEveryWriteIsMissing) {
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2), Range(3)}, {.knows_logs = false}),
            (Sequences{1, 2, 3}));
}

TEST(FlushedWritesTest, ALogThatWasFlushedByTheManifestIsHeld) {
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2), Range(3)}, {.log_number = kLog + 1}), Sequences{});
  EXPECT_EQ(Missing({Point(kA, 1)}, {.log_number = kLog}), Sequences{1});
}

TEST(FlushedWritesTest, WritesUpToTheNewestThatATableHasWereFlushed) {
  // A compaction has dropped 1 and 2, and a flush ended at 3.
  EXPECT_EQ(Missing({Point(kA, 1), Point(kA, 2), Merge(kB, 3), Merge(kB, 4)},
                    {.versions = {{kB, 3}}, .knows_logs = false}),
            Sequences{4});
}

TEST(FlushedWritesTest, ASequenceThatNoWriteHasSaysNothingAboutFlushes) {
  // 9 is the number of an ingested file.
  EXPECT_EQ(Missing({Point(kA, 1), Point(kA, 12)}, {.versions = {{kB, 9}}, .knows_logs = false}),
            (Sequences{1, 12}));
  // Another key has the sequence in a table of another database.
  EXPECT_EQ(Missing({Point(kA, 1)}, {.versions = {{kB, 1}}, .knows_logs = false}), Sequences{1});
}

TEST(FlushedWritesTest, AnOlderWriteNeverHidesANewerVersion) {
  // 2 is a deletion that was in no log.
  EXPECT_EQ(Missing({Point(kA, 1)}, {.versions = {{kA, 2}}, .knows_logs = false}), Sequences{});
}

TEST(FlushedWritesTest, TheNewestOfSeveralVersionsCounts) {
  const std::vector<KeyVersion> versions = {{kA, 4}, {kB, 1}, {kA, 2}};
  EXPECT_EQ(Missing({Merge(kA, 3), Merge(kA, 5)}, {.versions = versions}), Sequences{5});
}

TEST(FlushedWritesTest, AnOperandHidesNoOlderValue) {
  const std::vector<KeyVersion> operand = {{.key_hash = kA, .sequence = 2, .is_operand = true}};
  // 1 was not flushed, or it is lost.
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2)}, {.versions = operand}), Sequences{1});
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2)},
                    {.versions = operand, .log_number = kLog + 1, .is_lossy = true}),
            Sequences{1});
  // An older operand may be part of the newer one.
  EXPECT_EQ(Missing({Merge(kA, 1), Merge(kA, 2)}, {.versions = operand}), Sequences{});
  // 1 was flushed and nothing is lost, so a deletion came between the two.
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2)}, {.versions = operand, .log_number = kLog + 1}),
            Sequences{});
  FlushedWrites flushed({.versions = operand});
  EXPECT_TRUE(flushed.HasNewer(Point(kA, 1)));
  EXPECT_FALSE(flushed.HasNewer(Point(kA, 2)));
  EXPECT_FALSE(flushed.HasNewer(Point(kB, 1)));
}

TEST(FlushedWritesTest, AValueThatAnOperandWasMergedIntoHidesOlderWrites) {
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2)}, {.versions = {{kA, 2}}}), Sequences{});
}

TEST(FlushedWritesTest, ARangeDeletionThatATableHasIsHeld) {
  const std::vector<KeyVersion> range = {{KeyVersion::kRangeHash, 2}};
  EXPECT_EQ(Missing({Range(2), Range(3)}, {.versions = range}), Sequences{3});
  // A part of the range may be lost.
  EXPECT_EQ(Missing({Range(2)}, {.versions = range, .is_lossy = true}), Sequences{2});
}

TEST(LoggedKeysTest, TheVersionsOfAHotKeyAreNotAllTaken) {
  LoggedKeys logged;
  logged.Add(Merge(kA, 10));
  logged.Add(Point(kA, 12));
  std::vector<KeyVersion> versions;
  const auto take = [&](uint64_t key, SequenceNumber sequence, bool is_operand) {
    logged.TakeVersion({.key_hash = key, .sequence = sequence, .is_operand = is_operand},
                       &versions);
  };
  for (SequenceNumber sequence = 1000; sequence > 500; --sequence) take(kA, sequence, true);
  for (SequenceNumber sequence = 500; sequence > 0; --sequence) take(kA, sequence, false);
  take(kB, 5, false);
  const std::vector<KeyVersion> expected = {
      {kA, 1000, true}, {kA, 500, false}, {kA, 12, false}, {kA, 11, false}, {kA, 10, false}};
  EXPECT_TRUE(versions == expected) << versions.size();
}

TEST(FlushedWritesTest, ASoundManifestIsBelievedAboutLogsThatWereNotFlushed) {
  // The table of 2 was written before the table of 1, and a crash occurred between them.
  EXPECT_EQ(Missing({Point(kA, 1), Point(kB, 2)},
                    {.versions = {{kB, 2}}, .log_number = kLog, .knows_logs = true}),
            Sequences{1});
}

TEST(FlushedWritesTest, WhatWasLostWithATableComesBack) {
  EXPECT_EQ(Missing({Point(kA, 1), Merge(kA, 2), Point(kB, 3)},
                    {.versions = {{kB, 3}}, .log_number = kLog + 1, .is_lossy = true}),
            (Sequences{1, 2}));
}

TEST(FlushedWritesTest, AnOperandThatMayBePartOfAValueDoesNotCountTwice) {
  const FlushedWrites::Args args{.versions = {{kA, 0}}, .log_number = kLog + 1, .is_lossy = true};
  EXPECT_EQ(Missing({Merge(kA, 1), Merge(kA, 2)}, args), Sequences{});
  // The logs have everything from a value on.
  EXPECT_EQ(Missing({Merge(kA, 1), Point(kA, 2), Merge(kA, 3)}, args), (Sequences{2, 3}));
  // 1 was not flushed, so no value contains it.
  EXPECT_EQ(Missing({Merge(kA, 1)}, {.versions = {{kA, 0}}, .is_lossy = true}), Sequences{1});
}

TEST(FlushedWritesTest, AValueDoesNotComeBackOverAZeroedOneThatMayHaveItsOperands) {
  // A compaction has merged 1 and 2, and 3 was flushed after it.
  const std::vector<KeyVersion> versions = {{kA, 0}, {kA, 3, true}};
  const std::vector<LoggedWrite> writes = {Point(kA, 1), Merge(kA, 2), Merge(kA, 3)};
  EXPECT_EQ(Missing(writes, {.versions = versions, .log_number = kLog + 1, .is_lossy = true}),
            Sequences{});
  // 1 was not flushed, so no value contains it.
  EXPECT_EQ(Missing({Point(kA, 1)}, {.versions = versions, .is_lossy = true}), Sequences{1});
}

TEST(FlushedWritesTest, AFlushedRangeDeletionDoesNotComeBackOverZeroedValues) {
  const FlushedWrites::Args args{.versions = {{kA, 0}}, .log_number = kLog + 1, .is_lossy = true};
  EXPECT_EQ(Missing({Range(1), Merge(kA, 2)}, args), Sequences{});
  EXPECT_EQ(Missing({Range(1)}, {.knows_logs = false, .is_lossy = true}), Sequences{1});
}

TEST(FlushedWritesTest, RangeDeletionsShowTheOrderOfFlushesToo) {
  EXPECT_EQ(Missing({Point(kA, 1), Range(2), Point(kA, 3)},
                    {.versions = {{KeyVersion::kRangeHash, 2}}, .knows_logs = false}),
            Sequences{3});
}

}  // namespace
}  // namespace ashlar
