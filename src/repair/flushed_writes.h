// FlushedWrites: decides which writes of the logs the tables of a family already hold. Pure.
//
//   log    --SurveyLog-----> LoggedWrite --Note, Holds--> FlushedWrites
//   table  --TableSurveyor-> KeyVersion  --Args-------------^
//
// The tables hold a write if they have a version of its key that is at least as new. An operand
// counts only for operands, because it contains no value. Without such a version, the write was not
// flushed, a compaction has dropped it or its sequence, or it was lost with a table. The log
// numbers of a sound MANIFEST tell which logs were flushed. Without them the order of flushes tells
// it, because memtables are flushed in order: a write that is older than one in the tables was
// flushed, too. A family that has lost nothing holds all flushed writes.
//
// I1: a write that is not held is newer than every version of its key in the tables, except for
//     operands (HasNewer) and for versions whose sequences were dropped.
// I2: a write that was not flushed is held only if a newer version of its key was flushed.
// I3: if a family has lost parts of its tables, flushed writes are restored, except for an operand
//     that may be in a value with the sequence 0 (it would count twice), unless the logs have the
//     key from a value or deletion on; a value or deletion between such a value and a newer operand
//     (the value may include later operands); and a range deletion (it would hide such values).
// I4: the number of versions grows with the logs, not with the tables (LoggedKeys::TakeVersion).
// Keys are compared by a hash of their bytes. If a comparator calls different bytes equal, versions
// with other bytes do not hold a write of the key; repair_plan.h orders such a write.
// Rejected: comparing with the largest sequence of the tables. Sequences of ingested files are also
// in the outputs of compactions, and may be newer than writes that were not flushed.
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
  // For every range tombstone, because their keys change where tables are cut.
  static constexpr uint64_t kRangeHash = 0;

  uint64_t key_hash = 0;
  SequenceNumber sequence = 0;
  bool is_operand = false;

  auto operator<=>(const KeyVersion&) const = default;
};

// The keys of one family in the logs, and the range of their sequences.
class LoggedKeys {
 public:
  void Add(const LoggedWrite& write);
  // Appends a version of a table if it may show that a write is held: the newest version and the
  // newest value of a key of the logs, and versions that may be these writes. Requires that all
  // versions of a key are passed together, newest first.
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
    // The versions that all tables of the family have of keys in the logs.
    std::vector<KeyVersion> versions = {};
    FileNumber log_number = 0;  // the MANIFEST says that older logs were flushed
    bool knows_logs = true;     // no other log was flushed: the MANIFEST is sound
    bool is_lossy = false;      // parts of its tables are missing or unreadable
  };
  FlushedWrites() = default;
  explicit FlushedWrites(Args args);

  // Requires: called for every logged write of the family before Holds.
  void Note(const LoggedWrite& write);
  // Requires: `log` has the write.
  bool Holds(FileNumber log, const LoggedWrite& write) const;
  // Returns whether the tables have a newer version of the write's key.
  bool HasNewer(const LoggedWrite& write) const;

 private:
  // Returns whether the tables have a version of the write's key and sequence.
  bool HasVersion(const LoggedWrite& write) const;
  bool WasFlushed(FileNumber log, const LoggedWrite& write) const {
    return log < args_.log_number || write.sequence <= flushed_sequence_;
  }

  Args args_;                            // with the versions ascending
  std::vector<KeyVersion> values_;       // the versions that are not operands
  SequenceNumber flushed_sequence_ = 0;  // writes up to this one were flushed
  // The oldest value or deletion of a key in the logs.
  std::unordered_map<uint64_t, SequenceNumber> bases_;
};

}  // namespace ashlar
