// WalFilter: a class of the program that is asked about each batch which an open reads from the
// logs (DBOptions::wal_filter).
//
//   ColumnFamilyLogNumberMap    once, before the first batch
//   LogRecordFound              once for each batch, in the order of their sequences
//
// An open for reading asks too; a secondary does not. What a filter leaves out is gone once the
// open has flushed the rest, as without avoid_flush_during_recovery it does.
//
// Thread safety: called by the thread that opens the database. Lifetime: the program owns it; it
// outlives the database.
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
    kStopReplay = 2,           // neither this batch nor any after it, of later logs either
    kCorruptedRecord = 3,      // as if it were damaged: wal_recovery_mode says what follows
    kWalProcessingOptionMax = 4,
  };

  static const char* Type() { return "WalFilter"; }
  // In the LOG and in errors.
  const char* Name() const override = 0;

  // cf_lognumber_map: for each family, by its id, the oldest log that has unflushed writes of it:
  // its part of a batch from an older log is not applied. cf_name_id_map: the ids of their names.
  virtual void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
                                        const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {
  }

  // batch: as it is in the log. With *batch_changed, *new_batch is applied in its place: it takes
  // the same sequences, so it may not have more entries (NotSupported: the open fails).
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
