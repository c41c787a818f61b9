// FlushedWrites: decides which writes of the logs the tables of a family already hold. Pure.
//
//   log    --SurveyLog-----> LoggedWrite --Note, Holds--> FlushedWrites
//   table  --TableSurveyor-> KeyVersion  --Args-------------^
//
// The tables hold a write if they have its key in a version that is at least as new. An operand
// counts only for operands: it contains no value. Without such a version the write was not flushed,
// or a compaction has dropped it or its sequence since, or it was lost with a table. The log
// numbers of a sound MANIFEST say which logs were flushed. Without them the order of flushes does:
// memtables become tables in their order, so a write that is older than one that the tables have
// was flushed too. A family that has lost nothing holds all flushed writes.
//
// I1: a write that is not held is newer than every version of its key in the tables, except
//     operands (HasNewer), and as far as these have their sequences.
// I2: a write that was not flushed is held only if a newer version of its key was flushed.
// I3: of a family that has lost parts of its tables, flushed writes come back. Not an operand that
//     may be in a value with the sequence 0, unless the logs have the key from a value or deletion
//     on: it would count twice. No value or deletion between such a value and a newer operand: the
//     value may have operands after it. And no range deletion: it would hide such values.
// I4: the versions grow with the logs, and not with the tables (LoggedKeys::TakeVersion).
// Keys are compared by a hash of their bytes. If a comparator calls different bytes equal, a write
// is not held by versions of its key with others; repair_plan.h puts it into its order.
// Rejected: to compare with the largest sequence of the tables. Sequences of ingested files are in
// the outputs of compactions too, and may be newer than writes that were not flushed.
// Thread safety: const after the last Note.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "key/write_batch_internal.h"
#include "manifest/version_edit.h"

namespace ashlar {

struct LoggedWrite {
  enum class Kind : uint8_t { kPoint, kMerge, kRange };

  SequenceNumber sequence = 0;
  uint64_t key_hash = 0;
  Kind kind = Kind::kPoint;

  static LoggedWrite Of(const BatchRecord& record, SequenceNumber sequence);
};

// A version of a key in a table. Ordered by key and sequence.
struct KeyVersion {
  // Of every range tombstone: their keys change where tables are cut.
  static constexpr uint64_t kRangeHash = 0;

  uint64_t key_hash = 0;
  SequenceNumber sequence = 0;
  bool is_operand = false;

  auto operator<=>(const KeyVersion&) const = default;
};

// The keys that the logs have of one family, and their sequences.
class LoggedKeys {
 public:
  void Add(const LoggedWrite& write);
  // Adds a version to those of one table if it may show that a write is held: the newest version
  // and the newest value of a key of the logs, and versions that may be these writes. Call for all
  // versions of a key together, newest first.
  void TakeVersion(const KeyVersion& version, std::vector<KeyVersion>* versions) const;

 private:
  std::unordered_set<uint64_t> hashes_;
  SequenceNumber smallest_ = kSequenceNumberMax;
  SequenceNumber largest_ = 0;
};

using LoggedKeysByFamily = std::map<ColumnFamilyId, LoggedKeys>;

class FlushedWrites {
 public:
  struct Args {
    // Of all tables of the family, of keys that the logs have.
    std::vector<KeyVersion> versions = {};
    FileNumber log_number = 0;  // older logs were flushed, by the MANIFEST
    bool knows_logs = true;     // and no others: the MANIFEST is sound
    bool is_lossy = false;      // a part of its tables is missing or not readable
  };
  FlushedWrites() = default;
  explicit FlushedWrites(Args args);

  // Call for every write of the family in the logs, before Holds.
  void Note(const LoggedWrite& write);
  // `log` has the write.
  bool Holds(FileNumber log, const LoggedWrite& write) const;
  // Whether the tables have a newer version of the write's key.
  bool HasNewer(const LoggedWrite& write) const;

 private:
  // Whether the tables have a version of the write's key and sequence.
  bool HasVersion(const LoggedWrite& write) const;
  bool WasFlushed(FileNumber log, const LoggedWrite& write) const {
    return log < args_.log_number || write.sequence <= flushed_sequence_;
  }

  Args args_;                            // with the versions ascending
  std::vector<KeyVersion> values_;       // the versions that are no operands
  SequenceNumber flushed_sequence_ = 0;  // writes up to it were flushed
  // The oldest value or deletion of a key in the logs.
  std::unordered_map<uint64_t, SequenceNumber> bases_;
};

}  // namespace ashlar
