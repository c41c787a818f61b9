// FlushedWrites: which writes of the logs a repair leaves out, for every way in which tables and
// logs come to hold the same writes.
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

// Of the writes, which all are in kLog, the sequences of those that the tables do not hold.
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
  // 2 deletes, and was in no log.
  EXPECT_EQ(Missing({Point(kA, 1)}, {.versions = {{kA, 2}}, .knows_logs = false}), Sequences{});
}

TEST(FlushedWritesTest, TheNewestOfSeveralVersionsCounts) {
  const std::vector<KeyVersion> versions = {{kA, 4}, {kB, 1}, {kA, 2}};
  EXPECT_EQ(Missing({Merge(kA, 3), Merge(kA, 5)}, {.versions = versions}), Sequences{5});
}

TEST(FlushedWritesTest, ASoundManifestIsBelievedAboutLogsThatWereNotFlushed) {
  // The table of 2 was written before that of 1, and a crash came between them.
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
  // From a value on, the logs have all of it.
  EXPECT_EQ(Missing({Merge(kA, 1), Point(kA, 2), Merge(kA, 3)}, args), (Sequences{2, 3}));
  // Not flushed, so it is part of nothing.
  EXPECT_EQ(Missing({Merge(kA, 1)}, {.versions = {{kA, 0}}, .is_lossy = true}), Sequences{1});
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
