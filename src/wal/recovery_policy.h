// The recovery decisions after a log becomes unreadable: pure functions of WALRecoveryMode.
//
//                                     torn tail            corruption
//   kTolerateCorruptedTailRecords     kNextLogOrFail       kFail
//   kAbsoluteConsistency              kFail                kFail
//   kPointInTimeRecovery              kNextLogOrStop       kNextLogOrStop
//   kSkipAnyCorruptedRecords          kNextLog             kSkipDamage
//
//   In every mode, the end of a log leads to kNextLog, and an I/O error or an unsupported feature
//   leads to kFail. A stop below an offset that is known to have been synced is a loss of
//   acknowledged writes and leads to kFail, except in kSkipAnyCorruptedRecords, which salvages the
//   readable rest.
//
// After a log that ended early, later logs may continue it (the database was opened and written
// after the damage) or may follow a gap. Their first record shows whether it continues the sequence
// or records are missing. DecideAtRecord returns the consequence:
//
//   Continuity    record continues    gap
//   kNotNeeded    kApply              kApply      no log was cut: writes without a log also
//                                                 take sequences
//   kOrStop       kApply              kDropRest   point in time: drops this record and later ones
//   kOrFail       kApply              kFail
//
// In point-in-time mode with several families, recovery fails with Corruption if no later record
// continues the log and tables of one family already have data of a later log (FamilyIsAhead).
#pragma once

#include <cstdint>

#include "ashlar/options.h"
#include "ashlar/types.h"
#include "wal/log_reader.h"

namespace ashlar {

struct LogStop {
  WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery;
  LogReader::Outcome outcome = LogReader::Outcome::kEnd;  // not kReading
  uint64_t last_good_offset = 0;
  uint64_t synced_bytes = 0;  // the log was durable up to here; 0: not known
};

// After each action except kFail, cut the log at last_good_offset() before appending to it.
enum class LogStopAction : uint8_t {
  kNextLog,        // read later logs
  kNextLogOrStop,  // read later logs only with Continuity::kOrStop
  kNextLogOrFail,  // read later logs only with Continuity::kOrFail
  kSkipDamage,     // LogReader::SkipDamage, then continue reading this log
  kFail,           // recovery fails with LogStopFailure()
};

LogStopAction DecideAtLogStop(const LogStop& stop);

// The error with which recovery fails after kFail: the reader's status, or Corruption naming both
// offsets if the log seems to end without damage below its synced length.
Status LogStopFailure(const LogReader& reader, const LogStop& stop);

enum class Continuity : uint8_t { kNotNeeded, kOrStop, kOrFail };
enum class RecordAction : uint8_t { kApply, kDropRest, kFail };

// The condition on records of later logs after a log has stopped, given the previous condition.
Continuity ContinuityAfter(LogStopAction action, Continuity before);
// next_sequence: one more than the last sequence number recovered. After kApply the continuity
// needed is kNotNeeded again.
RecordAction DecideAtRecord(Continuity continuity, SequenceNumber record_sequence,
                            SequenceNumber next_sequence);

// family_log_number: the family's tables contain everything in the logs with lower numbers.
inline constexpr bool FamilyIsAhead(uint64_t family_log_number, bool family_has_tables,
                                    uint64_t stopped_log_number) {
  return family_has_tables && family_log_number > stopped_log_number;
}

}  // namespace ashlar
