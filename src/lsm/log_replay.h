// LogReplay: applies the records of the logs that some family may still need, oldest log first.
//
//   FindLogs --> Run          a recovery: every log to its end, once
//   (FindLogs --> Run)*       a secondary: each Run continues where the last one ended
//
// What a log that ends early means is decided by wal/recovery_policy.h; RecoveryReport has the
// findings. With `follows` the last log is one that another process may be writing: its torn tail
// is where the next Run continues. An earlier log is complete, because its writer completes a log
// before it begins the next one.
//
// I1: each record is applied once, in the order of the logs, and none is left out before one that
//     is applied, except as the recovery mode or the program's WalFilter allows.
// I2: with `follows` a memtable has records of one log only, so that it can leave as a whole when
//     the MANIFEST says that its family needs the log no more.
// I3: after a Run that failed, or found damage, the memtables hold a part of what was read, and the
//     replay can only be thrown away.
// I4: without the lock, a log is read up to the length that it had in FindLogs, or to an end that
//     its writer made: README.md, "Logs without the lock".
// I5: no record is applied that readers of the families would see before Run has returned: its
//     sequence is above Input::shown.
//
// Thread safety: one thread, the only writer of the memtables. Lifetime: the state, and of each
// Run its Input, outlive the calls.
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
    const FamilyTable* families = nullptr;     // that get the records; those of others are skipped
    RecoveryReport* report = nullptr;
    // The newest sequence that readers of the families see. Nothing: they have no readers yet.
    std::optional<SequenceNumber> shown = std::nullopt;
  };

  // Finds the logs that are needed. A reader without the lock opens them too, newest first, so that
  // an older log is complete when its size is taken. TryAgain: a log is not the one that an earlier
  // Run has read, or its writer has taken back what was read of it. The results of that Run have to
  // be discarded.
  Status FindLogs(const Input& input);
  // TryAgain if the writer released a log before it was read. By then the MANIFEST says that it is
  // not needed. TryAgain also for a record that I5 excludes; new families may have it.
  Status Run();

  // Of a log that was read: where its last record ends. 0 for one that was not.
  uint64_t good_bytes(uint64_t number) const {
    const auto found = good_bytes_.find(number);
    return found == good_bytes_.end() ? 0 : found->second;
  }
  bool applied_records() const { return applied_records_; }
  // The newest of the records and of the MANIFEST.
  SequenceNumber sequence() const { return sequence_; }
  // Records were dropped, because others before them are missing.
  bool dropped_rest() const { return dropped_rest_; }
  // Where the newest record ends that was read. Log 0: none was.
  struct Place {
    uint64_t log = 0;
    uint64_t bytes = 0;
  };
  Place place() const { return {.log = first_, .bytes = good_bytes(first_)}; }
  // True if the log was read that far, or is not needed any more.
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
  // The numbers in the directory, ascending. unneeded: of logs that no family needs, and that the
  // MANIFEST does not give up.
  Status ListLogs(std::vector<uint64_t>* numbers, std::vector<uint64_t>* unneeded);
  // NotSupported: one of these logs has a prepared transaction, for which RocksDB keeps the log. An
  // open would delete both.
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
  // I2. Active memtables without records of the log become immutable, or belong to it from now on:
  // records of logs before it are taken for flushed ones.
  void SeparateMemTables(uint64_t log_number);
  Status BeginReading(Log* log) const;
  Status ReplayLog(Log* log);
  // I4, after the log was read. TryAgain if its writer has released it, because it may have been
  // overwritten or truncated before its end was read.
  Status CheckNotWrittenOver(const Log& log) const;
  // True if the log may still grow. An early end is then no damage.
  bool MayGrow(const Log& log) const;
  // Of such a log, after a stop. False: the reader continues at the same place, because a read that
  // met a write may see only a part of it; or after two reads it has stopped at damage that a
  // record follows.
  Result<bool> IsLastRecordTorn(Log* log, int* corrupt_reads) const;
  // Continues after the last record that was read, in the same bytes of the file.
  Status ReadAgain(Log* log) const;
  Status ReplayRecord(const LogReader& reader, const Slice& record, MemTableInserter* inserter);
  // I5.
  Status CheckIsNew(const LogReader& reader, SequenceNumber first) const;
  // Applies the program's filter to a batch that is to be applied: *batch becomes the batch to
  // apply, or std::nullopt.
  void NotifyFilterOfFamilies() const;
  Status AskFilter(const LogReader& reader, std::optional<WriteBatch>* batch);
  Status StopAtRefusedRecord(const LogReader& reader);
  // Checks by the length in the head of a log whether the log before it was read to its end.
  Status CheckContinues(const LogReader& reader, const PredecessorRecord& head);
  void SwitchFullMemTables(uint64_t log_number);
  uint64_t SyncedBytes(uint64_t number) const;
  Status CheckNoFamilyIsAhead(uint64_t stopped_log, const Status& damage) const;
  // A record has shown that nothing is missing before it.
  void NoteContinuation() {
    continuity_ = Continuity::kNotNeeded;
    early_end_.reset();
  }
  // No record has: of the log that ended early, if there is one.
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
  // One more than the last one replayed; the MANIFEST may know of later ones.
  std::optional<SequenceNumber> next_replayed_;
  uint64_t oldest_ = 0;     // logs below are not needed
  std::vector<Log> logs_;   // ascending
  uint64_t separated_ = 0;  // the log that the memtables belong to; 0: none since the Run began
  uint64_t first_ = 0;      // logs below were read to their ends: a later one has a record
  // Of the logs read so far: up to the end of the last record.
  std::map<uint64_t, uint64_t> good_bytes_;
  Continuity continuity_ = Continuity::kNotNeeded;
  // The first log that ended early (kNextLogOrStop), while no record of a later one continues it.
  // A log of RocksDB that was written over is not cut: it seems to end early in most cases.
  struct EarlyEnd {
    uint64_t number = 0;
    Status status;
  };
  std::optional<EarlyEnd> early_end_;
  bool dropped_rest_ = false;
  // A log ended early: recovered records must reach tables before a new one is logged.
  bool stopped_early_ = false;
  bool applied_records_ = false;
  // A memtable holds a part of a log. Flushed alone, it would leave the log to be replayed over it.
  bool switched_full_ = false;
};

}  // namespace ashlar
