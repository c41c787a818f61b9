#include "repair/log_survey.h"

#include <memory>
#include <utility>

#include "ashlar/write_batch.h"
#include "base/format.h"
#include "key/write_batch_internal.h"
#include "wal/log_reader.h"

namespace ashlar {

namespace {

Status VisitRecord(const Slice& record, const LogVisitor& visit, LogSurvey* log) {
  if (record.size() < WriteBatchInternal::kHeaderBytes)
    return Status::Corruption("shorter than a batch's header");
  const WriteBatch batch(record.ToString());
  if (batch.Count() > 0) {
    ASHLAR_RETURN_IF_ERROR(WriteBatchInternal::CheckApplicable(&batch));
  } else if (const std::optional<PredecessorRecord> head = DecodePredecessorRecord(record);
             head.has_value()) {
    log->predecessor = head;
  }
  SequenceNumber sequence = WriteBatchInternal::Sequence(record);
  if (sequence > kSequenceNumberMaxAtOpen || batch.Count() > kSequenceNumberMaxAtOpen - sequence) {
    return Status::Corruption(StrCat("the sequence ", sequence,
                                     " is above the highest that is allowed, ",
                                     kSequenceNumberMaxAtOpen));
  }
  BatchReader reader(record);
  while (reader.Next()) {
    if (reader.record().counted) ASHLAR_RETURN_IF_ERROR(visit(reader.record(), sequence++));
  }
  return reader.status();
}

}  // namespace

Result<LogSurvey> ReadLog(vfs::FileSystem* file_system, const std::string& path, FileNumber number,
                          const LogVisitor& visit) {
  LogSurvey log{.number = number, .damage = {}};
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(path, vfs::FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file_system->GetFileSize(path, &log.file_bytes));
  LogReader reader(std::move(file), path, number, log.file_bytes);
  Slice record;
  std::string scratch;
  // The offset at which unreadable bytes begin.
  constexpr uint64_t kNothingLost = UINT64_MAX;
  uint64_t lost_from = kNothingLost;
  while (true) {
    while (reader.ReadRecord(&record, &scratch)) {
      if (lost_from != kNothingLost) log.lost_bytes += reader.record_offset() - lost_from;
      lost_from = kNothingLost;
      const Status visited = VisitRecord(record, visit, &log);
      // The checksum is right, so no disk has damaged the batch.
      if (!visited.ok())
        return visited.WithContext(
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

Result<LogSurvey> SurveyLog(vfs::FileSystem* file_system, const std::string& path,
                            FileNumber number) {
  std::map<ColumnFamilyId, std::vector<LoggedWrite>> writes;
  const auto note = [&writes](const BatchRecord& record, SequenceNumber sequence) {
    writes[record.column_family_id].push_back(LoggedWrite::Of(record, sequence));
    return Status::OK();
  };
  ASHLAR_ASSIGN_OR_RETURN(LogSurvey log, ReadLog(file_system, path, number, note));
  log.writes = std::move(writes);
  return log;
}

}  // namespace ashlar
