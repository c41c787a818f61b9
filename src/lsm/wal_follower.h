// WalFollower: the TransactionLogIterator of an open database (ashlar/transaction_log.h is its
// contract).
//
//   ListWalFiles --> the newest log that begins at or before the wanted sequence --> its records
//     ^                 |  the log is closed and read to its end
//     +-- next log <----+
//
// Which records are the history of the database:
//
// I1: a record is returned only after all of it is published. A write that waits for its log, or
//     that is not yet in the memtables, is never seen.
// I2: only good bytes of the current log are read (I2 of wal_files.h), so never those past the cut
//     of a failed log.
// I3: a record whose sequence is not below the first sequence of a later log is not returned. The
//     database continued from there without it, after a failure or a recovery that left out the end
//     of the log. One with log data alone takes no sequence, so it may have that number.
// I4: between two calls of GetBatch no batch is missing and none is repeated. A gap ends the
//     iteration. So does a repeated sequence, because the writer has taken back a returned batch.
// I5: a log that a primary may still write is left, and its end judged, only after a read that
//     began when a later log had a record. Before that, the last bytes may be half of a write.
//
// The published sequence is loaded before `closed`, because sequences are reused only in a log that
// continues a closed one. No log is kept for a follower.
// Thread safety: one thread at a time. Lifetime: the core of the database outlives it (it counts as
// an iterator).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/transaction_log.h"
#include "lsm/database_state.h"
#include "lsm/wal_files.h"

namespace ashlar {

class WalFollower final : public TransactionLogIterator {
 public:
  // Moves to the first batch that ends at `from` or later.
  WalFollower(DatabaseState* state, SequenceNumber from);
  ~WalFollower() override;

  bool Valid() const override { return valid_; }
  void Next() override;
  Status status() const override { return status_; }
  BatchResult GetBatch() override;

 private:
  enum class Step : uint8_t { kBatch, kAgain, kWait };

  // Moves to the next batch, or to the end of the published ones.
  Status Advance();
  // Opens the first log. Returns false if there is none.
  Result<bool> OpenFirst();
  // Leaves a closed log that was read to its end. Returns false if no other follows it yet.
  Result<bool> OpenNext();
  Status Open(uint64_t number);
  // Lists the logs again, from the first one that is read on, and finds the sequences with which
  // the new ones begin.
  Status RefreshLogs();
  // Sets limit_ if a later log has a record (I3). Requires: the log is closed.
  Status FindLimit(SequenceNumber published);
  bool IsClosed() const;
  bool ReadRecord();
  // I5. Reopens the log and reads a record that a primary has written since; false if none.
  Result<bool> ReadWhatIsNew();
  // Checks why the reader has stopped. may_grow: the log need not end here.
  Status CheckOutcome(bool may_grow, SequenceNumber published);
  // After damage: whether the log has, or had, a batch that is published and not returned yet.
  bool LacksABatch(SequenceNumber published) const;
  // The log has lost its name, because it was deleted or is reused as another one.
  bool IsGone() const;
  Status GapError() const;
  // Decides what the record means for a reader that may see everything up to `published`.
  Result<Step> Judge(SequenceNumber published);
  // Asserts I1, I3 and I4 after a step.
  void CheckInvariants() const;

  DatabaseState* const state_;
  const SequenceNumber from_;

  // The logs from the first one that is read on. The sequences are those with which they begin, if
  // they have a record.
  std::map<uint64_t, std::optional<SequenceNumber>> logs_;
  OpenWal wal_;                          // the log that is being read; reader null: none yet
  uint64_t number_ = 0;                  // its number
  std::optional<SequenceNumber> limit_;  // I3; std::nullopt: unknown, because no log follows
  // The state for which limit_ was last looked up: the published sequence and the number of
  // installs of a secondary, after which another write may have the same sequence. A secondary
  // publishes only records that its files already have.
  std::optional<std::pair<SequenceNumber, uint64_t>> looked_at_;
  Status damage_;  // that ended an earlier log

  bool has_record_ = false;  // a record was read and is not judged yet, or is not published
  Slice record_;
  std::string scratch_;

  std::optional<SequenceNumber> next_;  // I4; std::nullopt: no batch was returned
  bool valid_ = false;
  SequenceNumber sequence_ = 0;
  std::unique_ptr<WriteBatch> batch_;
  Status status_;
};

}  // namespace ashlar
