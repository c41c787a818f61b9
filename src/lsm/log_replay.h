// LogReplay: applies the records of the logs that some family may still need, oldest log first.
//
//   FindLogs --> Run          a recovery: every log to its end, once
//   (FindLogs --> Run)*       a secondary: each Run continues where the last one ended
//
// wal/recovery_policy.h decides what an early end of a log means, and RecoveryReport has the
// findings. With `follows`, another process may still be writing the last log, so the next Run
// continues at its torn tail. An earlier log is complete, because its writer completes a log before
// it begins the next one.
//
// I1: each record is applied once, in the order of the logs. No record is skipped before an applied
//     one, except as the recovery mode or the program's WalFilter allows.
// I2: with `follows`, a memtable has records of one log only, so that the complete memtable can be
//     dropped when the MANIFEST says that its family no longer needs the log.
// I3: after a Run that failed or found damage, the memtables hold only a part of the records read,
//     and no other Run can continue the replay.
// I4: without the lock, a log is read up to the length that it had in FindLogs, or up to an end
//     that its writer made (README.md, "Logs without the lock").
// I5: each record that is applied has a sequence above Input::shown, so that readers of the
//     families do not see it before Run has returned.
//
// Thread safety: one thread, which is the only writer of the memtables. Lifetime: the state and the
// objects in the Input of a Run outlive the calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/vfs.h"
#include "ashlar/write_batch.h"
#include "base/result.h"
#include "lsm/column_family.h"
#include "lsm/database_state.h"
#include "lsm/memtable_inserter.h"
#include "lsm/predecessor_record.h"
#include "lsm/recovery_report.h"
#include "manifest/published_state.h"
#include "wal/log_reader.h"
#include "wal/recovery_policy.h"

namespace ashlar {

class LogReplay {
 public:
  LogReplay(DatabaseState* state, WALRecoveryMode mode, bool follows)
      : state_(state),
        mode_(mode),
        follows_(follows),
        filter_(follows ? nullptr : state->options.wal_filter) {}
  LogReplay(const LogReplay&) = delete;
  LogReplay& operator=(const LogReplay&) = delete;

  struct Input {
    const PublishedState* recorded = nullptr;  // by the MANIFEST
    const FamilyTable* families = nullptr;     // records of other families are skipped
    RecoveryReport* report = nullptr;
    // The newest sequence that readers of the families see, or std::nullopt if there are none yet.
    std::optional<SequenceNumber> shown = std::nullopt;
  };

  // Finds the logs that are needed. A reader without the lock also opens them, newest first, so
  // that an older log is complete when its size is read. Returns TryAgain if a log is not the one
  // that an earlier Run read, or if its writer has removed records that were read. The results of
  // that Run must then be discarded.
  Status FindLogs(const Input& input);
  // Returns TryAgain if the writer released a log before it was read. By then the MANIFEST says
  // that it is not needed. TryAgain also for a record that I5 excludes; new families may get it.
  Status Run();

  // Returns where the last record read from the log ends, or 0 if the log was not read.
  uint64_t good_bytes(uint64_t number) const {
    const auto found = good_bytes_.find(number);
    return found == good_bytes_.end() ? 0 : found->second;
  }
  bool applied_records() const { return applied_records_; }
  // The newest sequence of the records read and of the MANIFEST.
  SequenceNumber sequence() const { return sequence_; }
  // True if records were dropped, because earlier ones are missing or a WalFilter ended the replay.
  bool dropped_rest() const { return dropped_rest_; }
  // Where the newest record that was read ends. Log 0: no record was read.
  struct Place {
    uint64_t log = 0;
    uint64_t bytes = 0;
  };
  Place place() const { return {.log = first_, .bytes = good_bytes(first_)}; }
  // Returns true if the log was read up to the place, or is no longer needed.
  bool HasRead(const Place& place) const {
    return place.log < oldest_ || good_bytes(place.log) >= place.bytes;
  }

 private:
  struct Log {
    uint64_t number = 0;
    uint64_t bytes = 0;                              // when it was opened
    std::unique_ptr<vfs::SequentialFile> file = {};  // null: not open
    std::unique_ptr<LogReader> reader = nullptr;     // null: nothing was read yet
  };

  bool WentBack() const { return !state_->versions->went_back().empty(); }
  std::string LogName(uint64_t number) const;
  // numbers: the needed logs in the directory, ascending. unneeded: the logs that no family needs,
  // but that the MANIFEST keeps.
  Status ListLogs(std::vector<uint64_t>* numbers, std::vector<uint64_t>* unneeded);
  // Returns NotSupported if one of these logs has a prepared transaction, for which RocksDB keeps
  // the log. An open would delete both.
  Status CheckNothingIsPrepared(const std::vector<uint64_t>& unneeded) const;
  Status TakeNewLogs(const std::vector<uint64_t>& numbers);
  Status CheckSyncedLogsAreThere() const;
  // TryAgain if the newest record that was read is neither in the tables nor in a log.
  Status CheckNothingTakenBack() const;
  Status OpenLogs();
  // TryAgain if the log is shorter than the part that an earlier Run has read.
  Status OpenLog(Log* log) const;
  // Adds a loss that extends to the end of the log, but not beyond end_max. Zeros alone are no
  // loss.
  void AddLoss(RecoveryReport::Loss loss, uint64_t end_max);
  // I2. Makes an active memtable without records of the log immutable. An empty one belongs to the
  // log from now on, as if the records of all earlier logs were flushed.
  void SeparateMemTables(uint64_t log_number);
  Status BeginReading(Log* log) const;
  Status ReplayLog(Log* log);
  // Checks I4 after the log was read. Returns TryAgain if its writer has released it, because it
  // may have been overwritten or truncated before its end was read.
  Status CheckNotWrittenOver(const Log& log) const;
  // True if the log may still grow. An early end is then no damage.
  bool MayGrow(const Log& log) const;
  // Requires: the reader stopped in such a log. Returns false if the reader continues at the same
  // place, because a read that is concurrent with a write may see only a part of it. Also returns
  // false if, after two reads, the reader has stopped at damage that a record follows.
  Result<bool> IsLastRecordTorn(Log* log, int* corrupt_reads) const;
  // Reopens the file and continues after the last record that was read, up to the same length.
  Status ReadAgain(Log* log) const;
  Status ReplayRecord(const LogReader& reader, const Slice& record, MemTableInserter* inserter);
  // I5.
  Status CheckIsNew(const LogReader& reader, SequenceNumber first) const;
  // NotifyFilterOfFamilies passes the recorded families to the program's filter. AskFilter applies
  // the filter to a batch: *batch becomes the batch to apply, or std::nullopt.
  void NotifyFilterOfFamilies() const;
  Status AskFilter(const LogReader& reader, std::optional<WriteBatch>* batch);
  Status StopAtRefusedRecord(const LogReader& reader);
  // Checks whether the preceding log was read up to the length that is in the head of this log.
  Status CheckContinues(const LogReader& reader, const PredecessorRecord& head);
  void SwitchFullMemTables(uint64_t log_number);
  uint64_t SyncedBytes(uint64_t number) const;
  Status CheckNoFamilyIsAhead(uint64_t stopped_log, const Status& damage) const;
  // A record has shown that nothing is missing before it.
  void NoteContinuation() {
    continuity_ = Continuity::kNotNeeded;
    early_end_.reset();
  }
  // Checks the log that ended early, if there is one and no later record has continued it.
  Status CheckEarlyEnd() const {
    return early_end_.has_value() ? CheckNoFamilyIsAhead(early_end_->number, early_end_->status)
                                  : Status::OK();
  }

  DatabaseState* const state_;
  const WALRecoveryMode mode_;
  const bool follows_;
  WalFilter* const filter_;  // null: every record is applied
  Input input_;
  SequenceNumber sequence_ = 0;
  // One more than the last replayed sequence; the MANIFEST may have later ones.
  std::optional<SequenceNumber> next_replayed_;
  uint64_t oldest_ = 0;     // logs below are not needed
  std::vector<Log> logs_;   // ascending
  uint64_t separated_ = 0;  // the log that the memtables belong to; 0: none since the Run began
  uint64_t first_ = 0;      // older logs were read to their ends, since a later one has a record
  // For each log read so far, the end of its last record.
  std::map<uint64_t, uint64_t> good_bytes_;
  Continuity continuity_ = Continuity::kNotNeeded;
  // The first log that ended early (kNextLogOrStop), until a record of a later one continues it.
  // RocksDB does not truncate a recycled log, which therefore seems to end early in most cases.
  struct EarlyEnd {
    uint64_t number = 0;
    Status status;
  };
  std::optional<EarlyEnd> early_end_;
  bool dropped_rest_ = false;
  // A log ended early, so recovered records must reach tables before a new one is logged.
  bool stopped_early_ = false;
  bool applied_records_ = false;
  // A full memtable has part of a log. If it alone were flushed, the log would be replayed over it.
  bool switched_full_ = false;
};

}  // namespace ashlar
