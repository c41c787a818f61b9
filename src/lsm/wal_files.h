// The logs of an open database on disk: live ones in the directory of logs, and old ones in its
// folder archive (wal_archive.h). For readers of the log: GetSortedWalFiles and
// TransactionLogIterator.
//
// I1: the folder of live logs is listed before the archive, and a log that is found in both counts
//     as archived: one that moves meanwhile is found.
// I2: of the current log only the bytes up to LogProgress::good_bytes are read. Records that are
//     not committed, and the cut end of a failed log, are never seen.
// I3: a log whose number is above that of the current one is not listed: its first record may not
//     be there yet.
//
// Thread safety: any thread. A log may be moved or deleted at any time; it is then missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/transaction_log.h"
#include "base/result.h"
#include "lsm/database_state.h"
#include "wal/log_reader.h"

namespace ashlar {

struct WalLocation {
  uint64_t number = 0;
  bool archived = false;
};

// By number, each once.
Result<std::vector<WalLocation>> ListWalFiles(const DatabaseState& state);

// True for the error of a file or a folder that does not exist.
inline bool IsMissing(const Status& status) {
  return status.IsNotFound() || status.IsPathNotFound();
}

struct OpenWal {
  std::unique_ptr<LogReader> reader;
  // Null: this database does not write the log.
  std::shared_ptr<const LogProgress> progress;
  // The database is a secondary, and its primary may write the log.
  bool grows = false;
  uint64_t bytes = 0;
  bool archived = false;
};
// Looks in both places. IsMissing: it is in neither.
Result<OpenWal> OpenWalFile(const DatabaseState& state, uint64_t number);
// The reader continues after the last record that it read, in the log's present bytes. A log that
// its writer has cut back to less than that changes nothing. IsMissing: as above.
Status ContinueWalFile(const DatabaseState& state, uint64_t number, OpenWal* wal);

// The sequence in the first record. Nothing: there is none that can be read.
std::optional<SequenceNumber> ReadStartSequence(LogReader* reader);

Status GetSortedWals(const DatabaseState& state, VectorWalPtr* files);
Status GetCurrentWal(const DatabaseState& state, std::unique_ptr<WalFile>* file);

// The number of a log's name, without or with a directory. Nothing: it is another file.
std::optional<uint64_t> ParseWalName(std::string_view path);

}  // namespace ashlar
