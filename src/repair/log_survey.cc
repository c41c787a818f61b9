#include "repair/log_survey.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/format.h"
#include "key/write_batch_internal.h"
#include "wal/log_reader.h"

namespace ashlar {

namespace {

Status CountRecord(const Slice& record, LogSurvey* log) {
  ++log->records;
  if (record.size() < WriteBatchInternal::kHeaderBytes)
    return Status::Corruption("shorter than a batch's header");
  SequenceNumber sequence = WriteBatchInternal::Sequence(record);
  BatchReader batch(record);
  while (batch.Next()) {
    if (!batch.record().counted) continue;
    SequenceNumber& last = log->last_sequences[batch.record().column_family_id];
    last = std::max(last, sequence++);
  }
  return batch.status();
}

}  // namespace

Result<LogSurvey> SurveyLog(vfs::FileSystem* file_system, const std::string& path,
                            uint64_t number) {
  LogSurvey log{.number = number, .damage = {}, .last_sequences = {}};
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(path, vfs::FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file_system->GetFileSize(path, &log.file_bytes));
  LogReader reader(std::move(file), path, number, log.file_bytes);
  Slice record;
  std::string scratch;
  // Where the bytes that cannot be read begin.
  constexpr uint64_t kNothingLost = UINT64_MAX;
  uint64_t lost_from = kNothingLost;
  while (true) {
    while (reader.ReadRecord(&record, &scratch)) {
      if (lost_from != kNothingLost) log.lost_bytes += reader.record_offset() - lost_from;
      lost_from = kNothingLost;
      const Status counted = CountRecord(record, &log);
      // Its checksum is right, so no disk has damaged it.
      if (!counted.ok())
        return counted.WithContext(
            StrCat(path, ": batch of the record at offset ", reader.record_offset()));
    }
    if (reader.outcome() == LogReader::Outcome::kEnd) break;
    const bool torn = reader.outcome() == LogReader::Outcome::kTornTail;
    if (!torn && reader.outcome() != LogReader::Outcome::kCorruption) return reader.status();
    if (log.damage.ok()) {
      log.damage = reader.status();
      log.is_torn_tail = torn;
    }
    if (lost_from == kNothingLost) lost_from = reader.last_good_offset();
    if (torn) break;
    reader.SkipDamage();
  }
  log.good_bytes = reader.last_good_offset();
  if (lost_from != kNothingLost) {
    const bool torn = reader.outcome() == LogReader::Outcome::kTornTail;
    log.lost_bytes += (torn ? reader.torn_end() : log.file_bytes) - lost_from;
  }
  return log;
}

}  // namespace ashlar
