// WalFollower: the TransactionLogIterator of an open database (ashlar/transaction_log.h is its
// contract).
//
//   ListWalFiles --> the newest log that begins at or before the wanted sequence --> its records
//     ^                 |  the log is closed and read to its end
//     +-- next log <----+
//
// Which records are the history of the database:
//
// I1: a record is returned after all of it is published: a write that waits for its log, or that is
//     not yet in the memtables, is never seen.
// I2: of the current log only good bytes are read (I2 of wal_files.h): never past the cut of a log
//     that failed.
// I3: a record whose sequence is not below that with which a later log begins is not returned: the
//     database went on from there without it, after a failure or after a recovery that left the end
//     of the log out. One with log data alone takes no sequence, so it may have that number.
// I4: between two calls of GetBatch no batch is missing and none comes twice; a gap ends the
//     iteration. So does a sequence that comes again: the writer took a returned batch back.
// I5: a log that a primary may still write is left, and its end judged, only after a read that
//     began when a later log had a record: the last bytes may be half of a write.
//
// The published sequence is loaded before `closed`: sequences are given out anew only in a log that
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
  // Stands at the first batch that ends at `from` or later.
  WalFollower(DatabaseState* state, SequenceNumber from);
  ~WalFollower() override;

  bool Valid() const override { return valid_; }
  void Next() override;
  Status status() const override { return status_; }
  BatchResult GetBatch() override;

 private:
  enum class Step : uint8_t { kBatch, kAgain, kWait };

  // To the next batch, or to the end of the published ones.
  Status Advance();
  // Opens the first log. False: there is none.
  Result<bool> OpenFirst();
  // Leaves a closed log that is read to its end. False: no other follows it yet.
  Result<bool> OpenNext();
  Status Open(uint64_t number);
  // Lists the logs again, from the first one that is read on, and finds out where the new ones
  // begin.
  Status RefreshLogs();
  // I3. Called for closed logs.
  Status FindLimit(SequenceNumber published);
  bool IsClosed() const;
  bool ReadRecord();
  // I5. Opens the log again, and reads records that a primary has written since. False: none.
  Result<bool> ReadWhatIsNew();
  // The reader has stopped. may_grow: this need not be the end of the log.
  Status CheckOutcome(bool may_grow, SequenceNumber published);
  // After damage: whether a batch that is published and not returned yet is in the log, or was.
  bool LacksABatch(SequenceNumber published) const;
  // The log has lost its name, because it was deleted or is reused as another one.
  bool IsGone() const;
  Status GapError() const;
  // The step that the record means for a reader that may see everything up to `published`.
  Result<Step> Judge(SequenceNumber published);
  // Asserts I1, I3 and I4 after a step.
  void CheckInvariants() const;

  DatabaseState* const state_;
  const SequenceNumber from_;

  // The logs from the first one that is read on, and the sequences with which they begin, if they
  // have a record.
  std::map<uint64_t, std::optional<SequenceNumber>> logs_;
  OpenWal wal_;                          // the log that is being read; reader null: none yet
  uint64_t number_ = 0;                  // its number
  std::optional<SequenceNumber> limit_;  // I3; nothing: not known, because no log follows
  // The state for which limit_ was last looked up: the published sequence, and the installs of a
  // secondary, after which the same sequence may be that of another write. A secondary publishes
  // only records that its files already have.
  std::optional<std::pair<SequenceNumber, uint64_t>> looked_at_;
  Status damage_;  // that ended an earlier log

  bool has_record_ = false;  // a record was read and is not judged yet, or is not published
  Slice record_;
  std::string scratch_;

  std::optional<SequenceNumber> next_;  // I4; nothing: no batch was returned
  bool valid_ = false;
  SequenceNumber sequence_ = 0;
  std::unique_ptr<WriteBatch> batch_;
  Status status_;
};

}  // namespace ashlar
