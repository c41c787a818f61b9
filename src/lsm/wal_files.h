// The logs of an open database on disk: live ones in the directory of logs, and old ones in its
// folder archive (wal_archive.h). For readers of the log: GetSortedWalFiles and
// TransactionLogIterator.
//
// I1: the folder of live logs is listed before the archive, so that a log that moves meanwhile is
//     found. A log that is found in both counts as archived.
// I2: of the current log only the bytes up to LogProgress::good_bytes are read. Records that are
//     not committed, and the cut end of a failed log, are never seen.
// I3: a log with a higher number than the current one is not listed, because its first record may
//     not be there yet.
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

// Returns the logs by number, each once.
Result<std::vector<WalLocation>> ListWalFiles(const DatabaseState& state);

// True for the error of a file or a folder that does not exist.
inline bool IsMissing(const Status& status) {
  return status.IsNotFound() || status.IsPathNotFound();
}

struct OpenWal {
  std::unique_ptr<LogReader> reader;
  // Null if this database does not write the log.
  std::shared_ptr<const LogProgress> progress;
  // The database is a secondary, and its primary may write the log.
  bool grows = false;
  uint64_t bytes = 0;
  bool archived = false;
};
// Looks in both places. Returns an IsMissing error if the log is in neither.
Result<OpenWal> OpenWalFile(const DatabaseState& state, uint64_t number);
// Continues the reader after the last record that it read, up to the log's present length. Does
// nothing if the writer has truncated the log to less than that. IsMissing: as above.
Status ContinueWalFile(const DatabaseState& state, uint64_t number, OpenWal* wal);

// The sequence in the first record, or std::nullopt if no record can be read.
std::optional<SequenceNumber> ReadStartSequence(LogReader* reader);

Status GetSortedWals(const DatabaseState& state, VectorWalPtr* files);
Status GetCurrentWal(const DatabaseState& state, std::unique_ptr<WalFile>* file);

// The number in a log's name, with or without a directory, or std::nullopt for another file.
std::optional<uint64_t> ParseWalName(std::string_view path);

}  // namespace ashlar
