#include "wal/recovery_policy.h"

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

namespace {

LogStopAction ForTornTail(WALRecoveryMode mode) {
  switch (mode) {
    case WALRecoveryMode::kTolerateCorruptedTailRecords: return LogStopAction::kNextLogOrFail;
    case WALRecoveryMode::kPointInTimeRecovery: return LogStopAction::kNextLogOrStop;
    case WALRecoveryMode::kSkipAnyCorruptedRecords: return LogStopAction::kNextLog;
    case WALRecoveryMode::kAbsoluteConsistency: break;
  }
  return LogStopAction::kFail;
}

LogStopAction ForCorruption(WALRecoveryMode mode) {
  switch (mode) {
    case WALRecoveryMode::kPointInTimeRecovery: return LogStopAction::kNextLogOrStop;
    case WALRecoveryMode::kSkipAnyCorruptedRecords: return LogStopAction::kSkipDamage;
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
    case WALRecoveryMode::kAbsoluteConsistency: break;
  }
  return LogStopAction::kFail;
}

}  // namespace

LogStopAction DecideAtLogStop(const LogStop& stop) {
  ASHLAR_ASSERT(stop.outcome != LogReader::Outcome::kReading);  // LogStop: not kReading
  const bool salvaging = stop.mode == WALRecoveryMode::kSkipAnyCorruptedRecords;
  const bool readable = stop.outcome != LogReader::Outcome::kIoError &&
                        stop.outcome != LogReader::Outcome::kUnsupported;
  if (!readable) return LogStopAction::kFail;
  // A log that is readable only up to a point below its synced length has lost acknowledged writes,
  // even if it seems to end there without damage.
  if (stop.last_good_offset < stop.synced_bytes && !salvaging) return LogStopAction::kFail;
  switch (stop.outcome) {
    case LogReader::Outcome::kEnd: return LogStopAction::kNextLog;
    case LogReader::Outcome::kTornTail: return ForTornTail(stop.mode);
    case LogReader::Outcome::kCorruption: return ForCorruption(stop.mode);
    case LogReader::Outcome::kReading:
    case LogReader::Outcome::kUnsupported:
    case LogReader::Outcome::kIoError: break;
  }
  return LogStopAction::kFail;
}

Status LogStopFailure(const LogReader& reader, const LogStop& stop) {
  if (reader.status().IsCorruption() && stop.last_good_offset < stop.synced_bytes) {
    return Status::Corruption(StrCat(
        reader.status().getState(), ": ", stop.synced_bytes - stop.last_good_offset,
        " bytes from offset ", stop.last_good_offset, " that were synced cannot be replayed"));
  }
  if (!reader.status().ok()) return reader.status();
  return Status::Corruption(StrCat(reader.file_name(), ": the log ends at offset ",
                                   stop.last_good_offset, ", but ", stop.synced_bytes,
                                   " bytes of it were synced"));
}

Continuity ContinuityAfter(LogStopAction action, Continuity before) {
  switch (action) {
    case LogStopAction::kNextLogOrStop: return Continuity::kOrStop;
    case LogStopAction::kNextLogOrFail: return Continuity::kOrFail;
    case LogStopAction::kNextLog:
    case LogStopAction::kSkipDamage:
    case LogStopAction::kFail: break;
  }
  return before;
}

RecordAction DecideAtRecord(Continuity continuity, SequenceNumber record_sequence,
                            SequenceNumber next_sequence) {
  if (continuity == Continuity::kNotNeeded || record_sequence == next_sequence)
    return RecordAction::kApply;
  return continuity == Continuity::kOrStop ? RecordAction::kDropRest : RecordAction::kFail;
}

}  // namespace ashlar
