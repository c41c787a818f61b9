#include "lsm/log_replay.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ashlar/wal_filter.h"
#include "ashlar/write_batch.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "key/write_batch_internal.h"
#include "lsm/wal_files.h"

namespace ashlar {

namespace {

constexpr uint64_t kNoEnd = UINT64_MAX;

bool BeginsTransaction(ValueType type) {
  return type == ValueType::kBeginPrepare || type == ValueType::kBeginPersistedPrepare ||
         type == ValueType::kBeginUnprepare;
}

// The end of the bytes that may be lost when a log is not read further. In a recycled log, the
// bytes of an older log follow.
uint64_t LossEnd(const LogReader& reader) {
  return reader.outcome() == LogReader::Outcome::kTornTail ? reader.torn_end() : kNoEnd;
}

// One more than the offset of the last byte after `from` that is not zero; `from` if there is none.
Result<uint64_t> FindContentsEnd(vfs::FileSystem* fs, const std::string& name, uint64_t from) {
  constexpr size_t kPieceBytes = size_t{1} << 16;
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(fs->NewSequentialFile(name, vfs::FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file->Skip(from));
  const auto scratch = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  uint64_t end = from;
  for (uint64_t offset = from;;) {
    Slice piece;
    ASHLAR_RETURN_IF_ERROR(file->Read(kPieceBytes, &piece, scratch.get()));
    if (piece.empty()) return end;
    const auto last =
        std::find_if(std::make_reverse_iterator(piece.end()),
                     std::make_reverse_iterator(piece.begin()), [](char c) { return c != 0; });
    const auto used_bytes = static_cast<uint64_t>(last.base() - piece.begin());
    if (used_bytes > 0) end = offset + used_bytes;
    offset += piece.size();
  }
}

}  // namespace

std::string LogReplay::LogName(uint64_t number) const {
  return WalFileName(state_->wal_directory, number);
}

// ---- Finding the logs.

Status LogReplay::FindLogs(const Input& input) {
  input_ = input;
  oldest_ = input.recorded->MinLogNumberToRecover();
  ASHLAR_ASSERT(follows_ || logs_.empty());  // I1: a recovery reads the logs once
  std::vector<uint64_t> numbers;
  std::vector<uint64_t> unneeded;
  ASHLAR_RETURN_IF_ERROR(CheckNothingTakenBack());
  ASHLAR_RETURN_IF_ERROR(ListLogs(&numbers, &unneeded));
  if (state_->lock != nullptr && !WentBack())
    ASHLAR_RETURN_IF_ERROR(CheckNothingIsPrepared(unneeded));
  ASHLAR_RETURN_IF_ERROR(TakeNewLogs(numbers));
  input.report->logs = std::move(numbers);
  ASHLAR_RETURN_IF_ERROR(CheckSyncedLogsAreThere());
  return state_->read_only() ? OpenLogs() : Status::OK();
}

Status LogReplay::ListLogs(std::vector<uint64_t>* numbers, std::vector<uint64_t>* unneeded) {
  const uint64_t oldest_kept = input_.recorded->min_log_number_to_keep;  // 0: not recorded
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(state_->file_system->GetChildren(state_->wal_directory, &names));
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type = FileType::kTempFile;
    const bool parsed = ParseFileName(name, &number, &type);
    const bool is_log = parsed ? type == FileType::kWalFile : name.ends_with(".log");
    if (!is_log) continue;
    if (!parsed || !state_->versions->MayBelong(number)) {
      input_.report->warnings.push_back(StrCat(state_->wal_directory, "/", name,
                                               " is not a log of this database, which has never "
                                               "reached such a number; the file is left alone"));
      continue;
    }
    state_->versions->MarkFileNumberUsed(number);
    if (number >= oldest_) {
      numbers->push_back(number);
    } else if (oldest_kept > 0 && number >= oldest_kept) {
      unneeded->push_back(number);
    }
  }
  std::sort(numbers->begin(), numbers->end());
  // A listing may return a name twice if files are created and deleted meanwhile.
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  return Status::OK();
}

// Damage in such a log is ignored, because none of its records is replayed.
Status LogReplay::CheckNothingIsPrepared(const std::vector<uint64_t>& unneeded) const {
  for (const uint64_t number : unneeded) {
    const std::string name = LogName(number);
    std::unique_ptr<vfs::SequentialFile> file;
    uint64_t bytes = 0;
    ASHLAR_RETURN_IF_ERROR(state_->file_system->NewSequentialFile(name, vfs::FileOptions(), &file));
    ASHLAR_RETURN_IF_ERROR(state_->file_system->GetFileSize(name, &bytes));
    LogReader reader(std::move(file), name, number, bytes);
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch)) {
      for (BatchReader batch(record); batch.Next();) {
        if (!BeginsTransaction(batch.record().type)) continue;
        return Status::NotSupported(
            name, StrCat("two-phase commit: the record at offset ", reader.record_offset(),
                         " has a transaction that was prepared; commit or roll back all prepared "
                         "transactions with RocksDB, and flush the database"));
      }
    }
    if (reader.outcome() == LogReader::Outcome::kIoError) return reader.status();
  }
  return Status::OK();
}

Status LogReplay::TakeNewLogs(const std::vector<uint64_t>& numbers) {
  std::erase_if(logs_, [this](const Log& log) { return log.number < oldest_; });
  good_bytes_.erase(good_bytes_.begin(), good_bytes_.lower_bound(oldest_));
  for (const Log& log : logs_) {
    if (log.number >= first_ && !std::binary_search(numbers.begin(), numbers.end(), log.number))
      return Status::PathNotFound(LogName(log.number), "the log is missing");
  }
  const uint64_t newest = logs_.empty() ? 0 : logs_.back().number;
  for (const uint64_t number : numbers) {
    if (number > newest) {
      ASHLAR_ASSERT(logs_.empty() || logs_.back().number < number);  // I1
      logs_.push_back({.number = number});
      continue;
    }
    const auto known =
        std::lower_bound(logs_.begin(), logs_.end(), number,
                         [](const Log& log, uint64_t wanted) { return log.number < wanted; });
    if (known == logs_.end() || known->number != number)
      return Status::TryAgain(LogName(number), "the log was not there before");
  }
  return Status::OK();
}

Status LogReplay::CheckSyncedLogsAreThere() const {
  for (const auto& [number, synced_bytes] : input_.recorded->recorded_logs) {
    if (!WentBack() && number >= oldest_ && synced_bytes.has_value() &&
        !std::binary_search(input_.report->logs.begin(), input_.report->logs.end(), number)) {
      return Status::Corruption(LogName(number),
                                "the log is on record as synced, and missing; if it is in another "
                                "directory, set DBOptions::wal_dir to that");
    }
  }
  return Status::OK();
}

// The edit that releases a log follows all of its writes, and its sequence is at least theirs.
Status LogReplay::CheckNothingTakenBack() const {
  if (first_ >= oldest_ || sequence_ <= input_.recorded->last_sequence) return Status::OK();
  return Status::TryAgain(
      LogName(first_),
      StrCat("the log was released, and a write with the sequence ", sequence_,
             " was read from it; that of the MANIFEST is ", input_.recorded->last_sequence));
}

Status LogReplay::OpenLogs() {
  for (auto log = logs_.rbegin(); log != logs_.rend(); ++log) {
    if (log->number < first_) continue;
    const Status opened = OpenLog(&*log);
    if (opened.IsPathNotFound() || opened.IsTryAgain()) return opened;
    // Other errors, such as too many open files, are reported when the log is replayed.
    if (!opened.ok()) log->file.reset();
  }
  return Status::OK();
}

Status LogReplay::OpenLog(Log* log) const {
  const std::string name = LogName(log->number);
  ASHLAR_RETURN_IF_ERROR(
      state_->file_system->NewSequentialFile(name, vfs::FileOptions(), &log->file));
  ASHLAR_RETURN_IF_ERROR(state_->file_system->GetFileSize(name, &log->bytes));
  if (log->bytes >= good_bytes(log->number)) return Status::OK();
  return Status::TryAgain(name, StrCat("the log was cut back by its writer, to ", log->bytes,
                                       " of ", good_bytes(log->number), " bytes that were read"));
}

// ---- Replaying them.

Status LogReplay::Run() {
  sequence_ = std::max(sequence_, input_.recorded->last_sequence);
  NoteContinuation();
  separated_ = 0;
  if (follows_) SeparateMemTables(0);
  if (filter_ != nullptr) NotifyFilterOfFamilies();
  for (Log& log : logs_) {
    if (log.number < first_) continue;
    if (WentBack()) {
      stopped_early_ = true;
      AddLoss({.number = log.number,
               .reason = StrCat(LogName(log.number),
                                ": the log does not continue the state of the tables "
                                "(best_efforts_recovery)")},
              kNoEnd);
    } else if (dropped_rest_) {
      AddLoss({.number = log.number,
               .reason = StrCat(LogName(log.number), ": the log before it ends early")},
              kNoEnd);
    } else {
      ASHLAR_RETURN_IF_ERROR(ReplayLog(&log));
      ASHLAR_RETURN_IF_ERROR(CheckNotWrittenOver(log));
    }
  }
  ASHLAR_RETURN_IF_ERROR(CheckEarlyEnd());
  for (Log& log : logs_) {
    if (log.number < first_) log.reader.reset();
  }
  if (dropped_rest_ && !input_.report->DamagedLogs().empty()) input_.report->NoTornTails();
  const bool may_stay = state_->options.avoid_flush_during_recovery && !switched_full_;
  input_.report->must_flush = stopped_early_ || (applied_records_ && !may_stay);
  ASHLAR_ASSERT(sequence_ >= input_.recorded->last_sequence);  // I3 of database_state.h
  return Status::OK();
}

void LogReplay::AddLoss(RecoveryReport::Loss loss, uint64_t end_max) {
  const Result<uint64_t> contents_end =
      FindContentsEnd(state_->file_system, LogName(loss.number), loss.offset);
  const uint64_t end = contents_end.ok() ? std::min(*contents_end, end_max) : loss.offset;
  // Another process may have deleted the log of a read-only database.
  if (contents_end.ok() && end <= loss.offset) return;
  loss.bytes = end - loss.offset;
  input_.report->losses.push_back(std::move(loss));
}

void LogReplay::SeparateMemTables(uint64_t log_number) {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : input_.families->families) {
    const ColumnFamilyState* const recorded = input_.recorded->FindFamily(family->id());
    ASHLAR_ASSERT(recorded != nullptr);  // the families are recorded ones
    const uint64_t needed = std::max(recorded->log_number, log_number);
    if (family->active_log_number() >= needed) continue;
    if (family->ActiveLocked()->IsEmpty()) {
      family->AdvanceEmptyMemTable(needed);
    } else {
      family->SwitchMemTable(family->PrepareSwitch(), needed);
    }
    ASHLAR_ASSERT(family->active_log_number() == needed);  // I2
  }
}

Status LogReplay::BeginReading(Log* log) const {
  if (log->file == nullptr) ASHLAR_RETURN_IF_ERROR(OpenLog(log));
  if (log->reader != nullptr)
    return log->reader->ContinueAt(good_bytes(log->number), std::move(log->file), log->bytes);
  log->reader = std::make_unique<LogReader>(std::move(log->file), LogName(log->number), log->number,
                                            log->bytes);
  return Status::OK();
}

Status LogReplay::ReplayLog(Log* log) {
  const uint64_t number = log->number;
  ASHLAR_ASSERT(number >= first_);  // I1
  ASHLAR_RETURN_IF_ERROR(BeginReading(log));
  LogReader& reader = *log->reader;
  MemTableInserter inserter(
      MemTableInserter::Args{.families = input_.families, .replaying = true, .log_number = number});
  Slice record;
  std::string scratch;
  int corrupt_reads = 0;
  // The loss in progress. Skipped damage begins it, and the next record ends it.
  std::optional<RecoveryReport::Loss> skipped;
  for (;;) {
    while (reader.ReadRecord(&record, &scratch)) {
      if (skipped.has_value()) {
        ASHLAR_ASSERT(reader.record_offset() >= skipped->offset);  // I1 of log_reader.h
        skipped->bytes = reader.record_offset() - skipped->offset;
        input_.report->losses.push_back(*std::exchange(skipped, std::nullopt));
      }
      ASHLAR_RETURN_IF_ERROR(ReplayRecord(reader, record, &inserter));
      if (dropped_rest_) return Status::OK();
      first_ = number;
      if (inserter.TakeFoundFull()) SwitchFullMemTables(number);
    }
    ASHLAR_ASSERT(reader.last_good_offset() <= log->bytes);  // I4
    good_bytes_[number] = reader.last_good_offset();
    if (MayGrow(*log)) {
      ASHLAR_ASSIGN_OR_RETURN(const bool is_torn, IsLastRecordTorn(log, &corrupt_reads));
      if (is_torn) {
        if (skipped.has_value()) AddLoss(*std::move(skipped), LossEnd(reader));
        return Status::OK();
      }
      if (reader.outcome() == LogReader::Outcome::kReading) continue;
    }
    const LogStop stop{.mode = mode_,
                       .outcome = reader.outcome(),
                       .last_good_offset = reader.last_good_offset(),
                       .synced_bytes = SyncedBytes(number)};
    const LogStopAction action = DecideAtLogStop(stop);
    if (action == LogStopAction::kFail) return LogStopFailure(reader, stop);
    if (reader.outcome() != LogReader::Outcome::kEnd) {
      stopped_early_ = true;
      if (!skipped.has_value()) {
        skipped =
            RecoveryReport::Loss{.number = number,
                                 .offset = reader.last_good_offset(),
                                 .is_torn_tail = reader.outcome() == LogReader::Outcome::kTornTail,
                                 .reason = reader.status().getState()};
      }
    }
    if (action == LogStopAction::kSkipDamage) {
      reader.SkipDamage();
      continue;
    }
    if (skipped.has_value()) AddLoss(*std::move(skipped), LossEnd(reader));
    continuity_ = ContinuityAfter(action, continuity_);
    if (action == LogStopAction::kNextLogOrStop && !early_end_.has_value())
      early_end_ = EarlyEnd{.number = number, .status = reader.status()};
    return Status::OK();
  }
}

Status LogReplay::CheckNotWrittenOver(const Log& log) const {
  const std::vector<RecoveryReport::Loss>& losses = input_.report->losses;
  const bool has_loss = !losses.empty() && losses.back().number == log.number;
  const bool is_whole = !has_loss && good_bytes(log.number) == log.bytes;
  if (!state_->read_only() || is_whole) return Status::OK();
  // In this order, so that a log that moves meanwhile is found. Archived logs are not overwritten.
  for (const std::string& directory :
       {state_->wal_directory, ArchiveDirectory(state_->wal_directory)}) {
    const Status there = state_->file_system->FileExists(WalFileName(directory, log.number));
    if (!IsMissing(there)) return there;
  }
  return Status::TryAgain(LogName(log.number), "the log was released while it was read");
}

Status LogReplay::ReadAgain(Log* log) const {
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(
      state_->file_system->NewSequentialFile(LogName(log->number), vfs::FileOptions(), &file));
  return log->reader->ContinueAt(good_bytes(log->number), std::move(file), log->bytes);
}

bool LogReplay::MayGrow(const Log& log) const {
  const LogReader::Outcome outcome = log.reader->outcome();
  return follows_ && log.number == logs_.back().number &&
         good_bytes(log.number) >= SyncedBytes(log.number) &&  // otherwise it was complete once
         outcome != LogReader::Outcome::kUnsupported && outcome != LogReader::Outcome::kIoError;
}

Result<bool> LogReplay::IsLastRecordTorn(Log* log, int* corrupt_reads) const {
  LogReader& reader = *log->reader;
  if (reader.outcome() != LogReader::Outcome::kCorruption) return true;
  // Damage with nothing after it may be a record that is being copied into a mapped log.
  if (++*corrupt_reads == 2) {
    Slice record;
    std::string scratch;
    reader.SkipDamage();
    if (!reader.ReadRecord(&record, &scratch)) return true;
  }
  if (*corrupt_reads <= 2) ASHLAR_RETURN_IF_ERROR(ReadAgain(log));
  return false;
}

Status LogReplay::ReplayRecord(const LogReader& reader, const Slice& record,
                               MemTableInserter* inserter) {
  const auto context = [&](const Status& status) {
    return status.WithContext(
        StrCat(reader.file_name(), ": batch of the record at offset ", reader.record_offset()));
  };
  if (record.size() < WriteBatchInternal::kHeaderBytes)
    return context(Status::Corruption("shorter than a batch's header"));
  const SequenceNumber first = WriteBatchInternal::Sequence(record);
  if (DecodeFixed32(record.data() + sizeof(SequenceNumber)) == 0) {
    if (const std::optional<PredecessorRecord> head = DecodePredecessorRecord(record);
        head.has_value())
      return CheckContinues(reader, *head);
  }
  switch (DecideAtRecord(continuity_, first, next_replayed_.value_or(sequence_ + 1))) {
    case RecordAction::kApply: NoteContinuation(); break;
    case RecordAction::kDropRest:
      dropped_rest_ = true;
      AddLoss({.number = reader.log_number(),
               .offset = reader.record_offset(),
               .reason = StrCat(reader.file_name(), ": records before the one at offset ",
                                reader.record_offset(), " are missing")},
              kNoEnd);
      return Status::OK();
    case RecordAction::kFail: return context(Status::Corruption("records before it are missing"));
  }
  std::optional<WriteBatch> batch(record.ToString());
  const uint32_t count = batch->Count();
  if (first > kSequenceNumberMaxAtOpen || count > kSequenceNumberMaxAtOpen - first) {
    return context(
        Status::Corruption(StrCat("the sequence ", first, " is above the highest that is allowed, ",
                                  kSequenceNumberMaxAtOpen)));
  }
  if (count > 0) ASHLAR_RETURN_IF_ERROR(CheckIsNew(reader, first));
  if (const Status checked = WriteBatchInternal::CheckApplicable(&*batch); !checked.ok())
    return context(checked);
  if (filter_ != nullptr) {
    if (const Status asked = AskFilter(reader, &batch); !asked.ok()) return context(asked);
    if (dropped_rest_) return Status::OK();
  }
  // Only once there is a record, because an empty log does not show that earlier logs are complete.
  if (follows_ && separated_ != reader.log_number()) {
    SeparateMemTables(reader.log_number());
    separated_ = reader.log_number();
  }
  bool has_applied = false;
  if (batch.has_value()) {
    if (const Status applied = inserter->Apply(batch->Data(), first, &has_applied); !applied.ok())
      return context(applied);
  }
  next_replayed_ = first + count;
  if (count > 0) sequence_ = std::max(sequence_, first + count - 1);
  applied_records_ |= count > 0;
  return Status::OK();
}

// The writer took back the write that had the sequence, or its MANIFEST was ahead of the log
// (manual_wal_flush).
Status LogReplay::CheckIsNew(const LogReader& reader, SequenceNumber first) const {
  if (!input_.shown.has_value() || first > *input_.shown) return Status::OK();
  return Status::TryAgain(
      reader.file_name(),
      StrCat("the record at offset ", reader.record_offset(), " has the sequence ", first, ", and ",
             *input_.shown, " was shown before"));
}

void LogReplay::NotifyFilterOfFamilies() const {
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> ids;
  for (const auto& [id, family] : input_.recorded->families) {
    log_numbers.emplace(id, family->log_number);
    ids.emplace(family->name, id);
  }
  filter_->ColumnFamilyLogNumberMap(log_numbers, ids);
}

Status LogReplay::AskFilter(const LogReader& reader, std::optional<WriteBatch>* batch) {
  using Decision = WalFilter::WalProcessingOption;
  WriteBatch replacement;
  bool is_changed = false;
  const Decision decision = filter_->LogRecordFound(reader.log_number(), reader.file_name(),
                                                    **batch, &replacement, &is_changed);
  switch (decision) {
    case Decision::kContinueProcessing: break;
    case Decision::kIgnoreCurrentRecord: batch->reset(); return Status::OK();
    case Decision::kStopReplay:
      dropped_rest_ = true;
      stopped_early_ = true;
      AddLoss({.number = reader.log_number(),
               .offset = reader.record_offset(),
               .reason = StrCat(reader.file_name(), ": WalFilter ", filter_->Name(),
                                " ended the replay at offset ", reader.record_offset())},
              kNoEnd);
      return Status::OK();
    case Decision::kCorruptedRecord: batch->reset(); return StopAtRefusedRecord(reader);
    default:
      return Status::InvalidArgument(StrCat("WalFilter ", filter_->Name(), " decided ",
                                            static_cast<int>(decision), ", which has no meaning"));
  }
  if (!is_changed) return Status::OK();
  if (replacement.Count() > (*batch)->Count()) {
    return Status::NotSupported(StrCat("WalFilter ", filter_->Name(), " made a batch of ",
                                       replacement.Count(), " entries of one of ",
                                       (*batch)->Count(),
                                       "; the sequences of later batches leave no room"));
  }
  WriteBatchInternal::SetSequence(&replacement, WriteBatchInternal::Sequence((*batch)->Data()));
  *batch = std::move(replacement);
  return WriteBatchInternal::CheckApplicable(&**batch);
}

Status LogReplay::StopAtRefusedRecord(const LogReader& reader) {
  ASHLAR_ASSERT(reader.record_offset() < reader.last_good_offset());  // I2 of log_reader.h
  RecoveryReport::Loss loss{
      .number = reader.log_number(),
      .offset = reader.record_offset(),
      .bytes = reader.last_good_offset() - reader.record_offset(),
      .reason = StrCat(reader.file_name(), ": WalFilter ", filter_->Name(),
                       " takes the record at offset ", reader.record_offset(), " for damaged")};
  const Status damage = Status::Corruption(loss.reason);
  stopped_early_ = true;
  if (mode_ == WALRecoveryMode::kSkipAnyCorruptedRecords) {
    input_.report->losses.push_back(std::move(loss));
    return Status::OK();
  }
  if (mode_ != WALRecoveryMode::kPointInTimeRecovery) return damage;
  dropped_rest_ = true;
  AddLoss(std::move(loss), kNoEnd);
  return CheckNoFamilyIsAhead(reader.log_number(), damage);
}

Status LogReplay::CheckContinues(const LogReader& reader, const PredecessorRecord& head) {
  if (head.previous_number < oldest_ || mode_ == WALRecoveryMode::kSkipAnyCorruptedRecords)
    return Status::OK();
  const std::string previous = LogName(head.previous_number);
  const auto read = good_bytes_.find(head.previous_number);
  if (read == good_bytes_.end())
    return Status::Corruption(
        previous, StrCat("the log is missing, and ", reader.file_name(), " continues it"));
  if (follows_ && read->second > head.previous_bytes) {
    return Status::TryAgain(
        previous, StrCat("the log was cut back by its writer, to ", head.previous_bytes, " of ",
                         read->second, " bytes that were read"));
  }
  if (read->second >= head.previous_bytes) {
    NoteContinuation();
    return Status::OK();
  }
  const Status cut =
      Status::Corruption(previous, StrCat("the log ends at offset ", read->second, ", but ",
                                          head.previous_bytes, " bytes were written to it"));
  if (mode_ != WALRecoveryMode::kPointInTimeRecovery) return cut;
  dropped_rest_ = true;
  stopped_early_ = true;
  AddLoss({.number = reader.log_number(),
           .offset = reader.last_good_offset(),
           .reason = StrCat(reader.file_name(), ": ", cut.getState())},
          kNoEnd);
  return CheckNoFamilyIsAhead(head.previous_number, cut);
}

void LogReplay::SwitchFullMemTables(uint64_t log_number) {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : input_.families->families) {
    if (!family->IsFull()) continue;
    // The log number stays that of the first log, because nothing is installed before the end of
    // the replay.
    const uint64_t number = std::min(family->active_log_number(), log_number);
    family->SwitchMemTable(family->PrepareSwitch(), number);
    switched_full_ = true;
  }
}

uint64_t LogReplay::SyncedBytes(uint64_t number) const {
  const RecordedLogs& logs = input_.recorded->recorded_logs;
  const auto found = logs.find(number);
  return found == logs.end() ? 0 : found->second.value_or(0);
}

Status LogReplay::CheckNoFamilyIsAhead(uint64_t stopped_log, const Status& damage) const {
  for (const auto& [id, family] : input_.recorded->families) {
    if (FamilyIsAhead(family->log_number, family->current->NumFiles() > 0, stopped_log)) {
      return Status::Corruption(StrCat("column family ", NameForDisplay(family->name),
                                       " has tables that are newer than the damage in the log, "
                                       "so the families cannot be brought to one "
                                       "point in time"),
                                damage.getState());
    }
  }
  return Status::OK();
}

}  // namespace ashlar
