// Tests the four recovery modes: each line of the table in recovery_policy.h, and the replay of
// several logs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "wal/recovery_policy.h"

namespace ashlar {
namespace {

using Outcome = LogReader::Outcome;
using Mode = WALRecoveryMode;

constexpr Mode kModes[] = {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                           Mode::kPointInTimeRecovery, Mode::kSkipAnyCorruptedRecords};

LogStopAction Decide(Mode mode, Outcome outcome) {
  return DecideAtLogStop(LogStop{.mode = mode, .outcome = outcome});
}

TEST(RecoveryPolicy, TheEndOfALogLeadsToTheNext) {
  for (const Mode mode : kModes) EXPECT_EQ(Decide(mode, Outcome::kEnd), LogStopAction::kNextLog);
}

TEST(RecoveryPolicy, ATornTail) {
  EXPECT_EQ(Decide(Mode::kTolerateCorruptedTailRecords, Outcome::kTornTail),
            LogStopAction::kNextLogOrFail);
  EXPECT_EQ(Decide(Mode::kAbsoluteConsistency, Outcome::kTornTail), LogStopAction::kFail);
  EXPECT_EQ(Decide(Mode::kPointInTimeRecovery, Outcome::kTornTail), LogStopAction::kNextLogOrStop);
  EXPECT_EQ(Decide(Mode::kSkipAnyCorruptedRecords, Outcome::kTornTail), LogStopAction::kNextLog);
}

TEST(RecoveryPolicy, Corruption) {
  EXPECT_EQ(Decide(Mode::kTolerateCorruptedTailRecords, Outcome::kCorruption),
            LogStopAction::kFail);
  EXPECT_EQ(Decide(Mode::kAbsoluteConsistency, Outcome::kCorruption), LogStopAction::kFail);
  EXPECT_EQ(Decide(Mode::kPointInTimeRecovery, Outcome::kCorruption),
            LogStopAction::kNextLogOrStop);
  EXPECT_EQ(Decide(Mode::kSkipAnyCorruptedRecords, Outcome::kCorruption),
            LogStopAction::kSkipDamage);
}

TEST(RecoveryPolicy, ErrorsOfTheFileSystemAndUnsupportedFeaturesFailInEveryMode) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(Decide(mode, Outcome::kIoError), LogStopAction::kFail);
    EXPECT_EQ(Decide(mode, Outcome::kUnsupported), LogStopAction::kFail);
  }
}

TEST(RecoveryPolicy, DamageBelowASyncedOffsetFailsUnlessSalvaging) {
  for (const Mode mode : kModes) {
    for (const Outcome outcome : {Outcome::kEnd, Outcome::kTornTail, Outcome::kCorruption}) {
      const LogStop lost{
          .mode = mode, .outcome = outcome, .last_good_offset = 99, .synced_bytes = 100};
      EXPECT_EQ(DecideAtLogStop(lost) == LogStopAction::kFail,
                mode != Mode::kSkipAnyCorruptedRecords);
      const LogStop kept{
          .mode = mode, .outcome = outcome, .last_good_offset = 100, .synced_bytes = 100};
      EXPECT_EQ(DecideAtLogStop(kept), Decide(mode, outcome));
    }
  }
}

TEST(RecoveryPolicy, ALogThatEndsWellTooEarlyFailsWithAReason) {
  MemoryFileSystem file_system;
  ASSERT_TRUE(WriteStringToFile(&file_system, "", "000007.log", Durability::kBuffered).ok());
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(file_system.NewSequentialFile("000007.log", vfs::FileOptions{}, &file).ok());
  LogReader reader(std::move(file), "000007.log", 7, 0);
  Slice record;
  std::string scratch;
  ASSERT_FALSE(reader.ReadRecord(&record, &scratch));
  const LogStop stop{.mode = Mode::kPointInTimeRecovery,
                     .outcome = reader.outcome(),
                     .last_good_offset = reader.last_good_offset(),
                     .synced_bytes = 4096};
  ASSERT_EQ(DecideAtLogStop(stop), LogStopAction::kFail);
  const Status status = LogStopFailure(reader, stop);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("000007.log"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("4096"), std::string::npos) << status.ToString();
}

TEST(RecoveryPolicy, DamageBelowWhatWasSyncedNamesTheBytesThatAreLost) {
  MemoryFileSystem file_system;
  ASSERT_TRUE(
      WriteStringToFile(&file_system, std::string(3000, 'x'), "000007.log", Durability::kBuffered)
          .ok());
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(file_system.NewSequentialFile("000007.log", vfs::FileOptions{}, &file).ok());
  LogReader reader(std::move(file), "000007.log", 7, 3000);
  Slice record;
  std::string scratch;
  ASSERT_FALSE(reader.ReadRecord(&record, &scratch));
  const LogStop stop{.mode = Mode::kPointInTimeRecovery,
                     .outcome = reader.outcome(),
                     .last_good_offset = 0,
                     .synced_bytes = 2500};
  ASSERT_EQ(DecideAtLogStop(stop), LogStopAction::kFail);
  const std::string text = LogStopFailure(reader, stop).ToString();
  EXPECT_NE(text.find("000007.log"), std::string::npos) << text;
  EXPECT_NE(text.find("2500 bytes from offset 0"), std::string::npos) << text;
}

struct Log {
  std::vector<SequenceNumber> records;  // each record has one sequence number
  Outcome outcome = Outcome::kEnd;
};
struct Replay {
  std::vector<SequenceNumber> applied;
  bool failed = false;
};

Replay ReplayLogs(Mode mode, const std::vector<Log>& logs) {
  Replay replay;
  Continuity continuity = Continuity::kNotNeeded;
  SequenceNumber next = 1;
  for (const Log& log : logs) {
    for (const SequenceNumber sequence : log.records) {
      const RecordAction action = DecideAtRecord(continuity, sequence, next);
      if (action == RecordAction::kFail) replay.failed = true;
      if (action != RecordAction::kApply) return replay;
      continuity = Continuity::kNotNeeded;
      replay.applied.push_back(sequence);
      next = sequence + 1;
    }
    const LogStopAction action = Decide(mode, log.outcome);
    if (action == LogStopAction::kFail) {
      replay.failed = true;
      return replay;
    }
    continuity = ContinuityAfter(action, continuity);
  }
  return replay;
}

TEST(RecoveryPolicy, NumbersUsedByWritesWithoutALogAreNoGap) {
  const Replay replay =
      ReplayLogs(Mode::kPointInTimeRecovery, {{.records = {1, 2}}, {.records = {9, 10}}});
  EXPECT_EQ(replay.applied, (std::vector<SequenceNumber>{1, 2, 9, 10}));
}

TEST(RecoveryPolicy, PointInTimeStopsAtAGapBehindDamage) {
  const Replay replay = ReplayLogs(
      Mode::kPointInTimeRecovery,
      {{.records = {1, 2}, .outcome = Outcome::kCorruption}, {.records = {4}}, {.records = {3}}});
  EXPECT_EQ(replay.applied, (std::vector<SequenceNumber>{1, 2}));
  EXPECT_FALSE(replay.failed);
}

TEST(RecoveryPolicy, PointInTimeGoesOnWhereALaterLogContinues) {
  const Replay replay = ReplayLogs(
      Mode::kPointInTimeRecovery,
      {{.records = {1, 2}, .outcome = Outcome::kTornTail}, {}, {.records = {3}}, {.records = {7}}});
  EXPECT_EQ(replay.applied, (std::vector<SequenceNumber>{1, 2, 3, 7}));
}

TEST(RecoveryPolicy, ATruncatedMiddleLogIsNotSkippedSilently) {
  const Replay gap =
      ReplayLogs(Mode::kTolerateCorruptedTailRecords,
                 {{.records = {1}, .outcome = Outcome::kTornTail}, {.records = {3}}});
  EXPECT_TRUE(gap.failed);
  const Replay last =
      ReplayLogs(Mode::kTolerateCorruptedTailRecords,
                 {{.records = {1}}, {.records = {2}, .outcome = Outcome::kTornTail}});
  EXPECT_FALSE(last.failed);
  EXPECT_EQ(last.applied, (std::vector<SequenceNumber>{1, 2}));
}

TEST(RecoveryPolicy, AFamilyAheadOfThePointReached) {
  EXPECT_TRUE(FamilyIsAhead(8, true, 7));
  EXPECT_FALSE(FamilyIsAhead(7, true, 7));
  EXPECT_FALSE(FamilyIsAhead(8, false, 7));
}

}  // namespace
}  // namespace ashlar
