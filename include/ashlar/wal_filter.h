// WalFilter: a class of the program that decides about each batch that an open reads from the logs
// (DBOptions::wal_filter).
//
//   ColumnFamilyLogNumberMap    once, before the first batch
//   LogRecordFound              once for each batch, in the order of their sequences
//
// A read-only open calls it, too, and starts again with ColumnFamilyLogNumberMap if it has to read
// the logs once more: after a change by another process, after damage, and after a decision other
// than to apply a batch or to ignore it. A secondary does not call it. Batches that a filter drops
// are lost once the open has flushed the rest, unless avoid_flush_during_recovery is set.
//
// Thread safety: called by the thread that opens the database. Lifetime: the program owns it. It
// must outlive the database.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/write_batch.h"

namespace ashlar {

class ASHLAR_API WalFilter : public Customizable {
 public:
  enum class WalProcessingOption {
    kContinueProcessing = 0,
    kIgnoreCurrentRecord = 1,  // the batch is not applied
    kStopReplay = 2,           // neither this batch nor any later one is applied, in any log
    kCorruptedRecord = 3,      // the batch counts as damaged: wal_recovery_mode says what follows
    kWalProcessingOptionMax = 4,
  };

  static const char* Type() { return "WalFilter"; }
  // Appears in the LOG and in errors.
  const char* Name() const override = 0;

  // cf_lognumber_map: family id to the oldest log with unflushed writes of the family. A family's
  // part of a batch from an older log is not applied. cf_name_id_map: family name to id.
  virtual void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
                                        const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {
  }

  // batch: the batch in the log. If *batch_changed is set, *new_batch is applied in its place. It
  // takes the same sequences, so it must not have more entries (otherwise the open returns
  // NotSupported).
  virtual WalProcessingOption LogRecordFound(unsigned long long /*log_number*/,
                                             const std::string& /*log_file_name*/,
                                             const WriteBatch& batch, WriteBatch* new_batch,
                                             bool* batch_changed) {
    return LogRecord(batch, new_batch, batch_changed);
  }

  // The same without the log, for filters that do not need it.
  virtual WalProcessingOption LogRecord(const WriteBatch& /*batch*/, WriteBatch* /*new_batch*/,
                                        bool* /*batch_changed*/) const {
    return WalProcessingOption::kContinueProcessing;
  }
};

}  // namespace ashlar
