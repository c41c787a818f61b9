#include "lsm/lsm_db.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "ashlar/listener.h"
#include "ashlar/options_util.h"
#include "base/assert.h"
#include "base/compression.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/file_checksum.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "iterate/error_iterator.h"
#include "key/write_batch_internal.h"
#include "lsm/family_clip.h"
#include "lsm/family_import.h"
#include "lsm/file_ingestion.h"
#include "lsm/key_overlap.h"
#include "lsm/properties.h"
#include "lsm/recovery.h"
#include "lsm/resolve_options.h"
#include "lsm/storage_survey.h"
#include "lsm/tree_inputs.h"
#include "lsm/wal_files.h"
#include "lsm/wal_follower.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {
constexpr size_t kRecordOverheadBytes = 24;  // header, type, lengths of a batch with one record

void FailMultiGet(size_t num_keys, PinnableSlice* values, Status* statuses) {
  for (size_t i = 0; i < num_keys; ++i) {
    values[i].Reset();
    statuses[i] = Status::MemoryLimit();
  }
}

Status CheckTargetLevel(const CompactRangeOptions& options, int levels) {
  if (!options.change_level || options.target_level < levels) return Status::OK();
  return Status::InvalidArgument(
      StrCat("target level ", options.target_level, ": the last one is ", levels - 1));
}

BackgroundWork::DeadlineNanos DeadlineOf(const WaitForCompactOptions& options, uint64_t now_nanos) {
  if (options.timeout.count() == 0) return std::nullopt;
  constexpr uint64_t kNanosPerMicro = 1000;
  const auto micros = static_cast<uint64_t>(std::max<int64_t>(options.timeout.count(), 0));
  return now_nanos + std::min(micros, (UINT64_MAX - now_nanos) / kNanosPerMicro) * kNanosPerMicro;
}

// The memory of a handle, allocated before its family is created, because a program can neither
// reach a family without a handle nor create it again.
class HandleMemory {
 public:
  HandleMemory() : memory_(::operator new(sizeof(FamilyHandle))) {}
  ~HandleMemory() { ::operator delete(memory_); }
  HandleMemory(const HandleMemory&) = delete;
  HandleMemory& operator=(const HandleMemory&) = delete;

  // The caller owns the handle. Call once.
  FamilyHandle* Make(LsmCore* core, std::shared_ptr<ColumnFamily> family) noexcept {
    ASHLAR_ASSERT(memory_ != nullptr);  // Requires
    return new (std::exchange(memory_, nullptr)) FamilyHandle(core, std::move(family));
  }

 private:
  void* memory_;
};
}  // namespace

FamilyHandle::FamilyHandle(LsmCore* core, std::shared_ptr<ColumnFamily> family)
    : core_(core), family_(std::move(family)) {
  core->state->live_handles.fetch_add(1, std::memory_order_relaxed);
}

FamilyHandle::~FamilyHandle() {
  NotifyAll(core_->state->options.listeners, &EventListener::OnColumnFamilyHandleDeletionStarted,
            this);
  family_.reset();
  if (core_->state->IsInForkedChild()) return;  // I1
  core_->state->epochs.Reclaim();
  core_->background.files().DeleteObsoleteFilesIfAny();
  const int64_t before = core_->state->live_handles.fetch_sub(1, std::memory_order_release);
  ASHLAR_ASSERT(before > 0);  // a live handle keeps the core (IsInUse)
}

Status FamilyHandle::GetDescriptor(ColumnFamilyDescriptor* desc) try {
  MutexLock lock(core_->state->mutex());
  *desc = ColumnFamilyDescriptor(family_->name(), family_->options());
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Opening and closing.

LsmDB::LsmDB(std::unique_ptr<LsmCore> core, std::unique_ptr<PrimaryFollower> follower)
    : core_(std::move(core)),
      state_(core_->state.get()),
      background_(core_->background),
      commit_(core_->commit),
      reader_(core_->reader),
      option_changes_(core_.get()),
      life_cycle_(core_.get(), &option_changes_, std::move(follower)) {
  state_->db = this;
}

// I1. The steps of a close would wait for threads and locks that the child does not have.
void LsmDB::Abandon() noexcept {
  life_cycle_.Abandon();
  static_cast<void>(default_handle_.release());  // NOLINT(bugprone-unused-return-value)
  static_cast<void>(core_.release());            // NOLINT(bugprone-unused-return-value)
}

LsmDB::~LsmDB() {
  if (state_->IsInForkedChild()) {
    Abandon();
    return;
  }
  if (const Status closed = life_cycle_.CloseFiles(); !closed.ok()) {
    IgnoreBadAlloc([&] {
      LogWarning(*state_,
                 StrCat("the database was deleted, and closing it failed: ", closed.ToString()));
    });
  }
  default_handle_.reset();
  if (core_->IsInUse()) {
    IgnoreBadAlloc([this] {
      LogWarning(*state_,
                 "the database was deleted before its last handle, iterator or pinned value; what "
                 "it needs stays in memory until they are gone");
    });
    KeepUntilUnused(std::move(core_));
  }
  core_.reset();
  ReapUnused();
}

Result<std::unique_ptr<LsmDB>> LsmDB::Open(OpenArgs args,
                                           std::vector<ColumnFamilyHandle*>* handles) {
  const std::vector<ColumnFamilyDescriptor> families = args.families;
  if (!args.read_only) ASHLAR_RETURN_IF_ERROR(BackgroundWork::StartThreads(args.options));
  ASHLAR_ASSIGN_OR_RETURN(RecoveredDatabase recovered, RecoverDatabase(std::move(args)));
  ReapUnused();
  std::unique_ptr<PrimaryFollower> follower;
  if (recovered.state->is_secondary()) {
    follower =
        std::make_unique<PrimaryFollower>(recovered.state.get(), std::move(recovered.replay));
  }
  auto db = std::make_unique<LsmDB>(std::make_unique<LsmCore>(std::move(recovered.state)),
                                    std::move(follower));
  // Made before any job begins, because listeners may read.
  std::unique_ptr<ColumnFamilyHandle> default_handle = db->NewHandle(kDefaultColumnFamilyName);
  ASHLAR_ASSERT(default_handle != nullptr);  // every database has it, and it is never dropped
  db->default_handle_.reset(static_cast<FamilyHandle*>(default_handle.release()));
  if (!db->state_->read_only()) {
    if (const Status started = db->life_cycle_.StartWriting(families); !started.ok()) {
      LogWarning(*db->state_, StrCat("the open failed: ", started.ToString()));
      return started;
    }
  }
  std::vector<std::unique_ptr<ColumnFamilyHandle>> made;
  for (const ColumnFamilyDescriptor& family : families) made.push_back(db->NewHandle(family.name));
  // The recovery has opened each family, or StartWriting has created it.
  ASHLAR_ASSERT(
      std::none_of(made.begin(), made.end(), [](const auto& handle) { return handle == nullptr; }));
  if (handles != nullptr) {
    handles->clear();
    handles->reserve(made.size());
    for (std::unique_ptr<ColumnFamilyHandle>& handle : made) handles->push_back(handle.release());
  }
  return db;
}

Status LsmDB::Close() try {
  if (state_->IsInForkedChild())
    return Status::Aborted(state_->directory,
                           "the process that has opened the database has to close it");
  return life_cycle_.Close();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::Resume() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return life_cycle_.Resume();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::TryCatchUpWithPrimary() try {
  return life_cycle_.CatchUp();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::PromoteToPrimary() try {
  return life_cycle_.Promote();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CheckWritable() const {
  if (state_->read_only()) [[unlikely]]
    return RefusalOfWrites();
  return Status::OK();
}

Status LsmDB::RefusalOfWrites() const {
  return Status::NotSupported(state_->is_secondary()
                                  ? "the database was opened as a secondary: only its primary "
                                    "writes it"
                                  : "the database was opened read-only");
}

// ---- Column families.

std::unique_ptr<ColumnFamilyHandle> LsmDB::NewHandle(const std::string& name) {
  MutexLock lock(state_->mutex());
  const ColumnFamilyState* const recorded = state_->versions->Published().FindFamily(Slice(name));
  if (recorded == nullptr) return nullptr;
  const std::shared_ptr<ColumnFamily>& family = state_->Families().Shared(recorded->id);
  return family == nullptr ? nullptr : std::make_unique<FamilyHandle>(core_.get(), family);
}

Status LsmDB::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                 ColumnFamilyHandle** handle) try {
  *handle = nullptr;
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  HandleMemory memory;
  ASHLAR_ASSIGN_OR_RETURN(const auto family, option_changes_.CreateFamily(options, name));
  *handle = memory.Make(core_.get(), family);
  return option_changes_.RecordFamilyOptions();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles) try {
  handles->clear();
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  handles->reserve(column_families.size());
  Status status;
  for (const ColumnFamilyDescriptor& family : column_families) {
    HandleMemory memory;
    const auto created = option_changes_.CreateFamily(family.options, family.name);
    status = created.status();
    if (!status.ok()) break;
    handles->push_back(memory.Make(core_.get(), *created));
  }
  const Status recorded = option_changes_.RecordFamilyOptions();
  return status.ok() ? recorded : status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions& options, const std::string& name,
    const ImportColumnFamilyOptions& import_options,
    const std::vector<const ExportImportFilesMetaData*>& metadatas,
    ColumnFamilyHandle** handle) try {
  *handle = nullptr;
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const FamilyImport::Request request{.options = options,
                                      .name = name,
                                      .move_files = import_options.move_files,
                                      .metadata = metadatas};
  HandleMemory memory;
  ASHLAR_ASSIGN_OR_RETURN(const auto family,
                          FamilyImport(core_.get(), &option_changes_, request).Run());
  *handle = memory.Make(core_.get(), family);
  return option_changes_.RecordFamilyOptions();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  Status status;
  for (ColumnFamilyHandle* handle : column_families) {
    status = option_changes_.DropFamily(SharedFamily(handle));
    if (!status.ok()) break;
  }
  background_.outbox().Notify();
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  const Status recorded = option_changes_.RecordFamilyOptions();
  return status.ok() ? recorded : status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) {
  if (column_family == default_handle_.get())
    return Status::InvalidArgument("the handle of DefaultColumnFamily() belongs to the database");
  delete column_family;
  return Status::OK();
}

// ---- Writing.

Status LsmDB::Write(const WriteOptions& options, WriteBatch* updates) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return commit_.Write(options, updates);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CommitOne(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        WriteBatch* batch, const Status& built) {
  if (!built.ok()) return built;
  return commit_.WriteEntry(options, Family(column_family), batch);
}

Status LsmDB::CheckWritableEntry(ColumnFamilyHandle* column_family, const Slice& key,
                                 const Slice& value) const {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const ColumnFamily* const family = Family(column_family);
  ASHLAR_RETURN_IF_ERROR(family->CheckNotDropped());
  return family->CheckEntry(key, value);
}

Status LsmDB::Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  const Slice& value) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, value));
  WriteBatch batch(key.size() + value.size() + kRecordOverheadBytes);
  return CommitOne(options, column_family, &batch, batch.Put(column_family, key, value));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, Slice()));
  WriteBatch batch(key.size() + kRecordOverheadBytes);
  return CommitOne(options, column_family, &batch, batch.Delete(column_family, key));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, Slice()));
  WriteBatch batch(key.size() + kRecordOverheadBytes);
  return CommitOne(options, column_family, &batch, batch.SingleDelete(column_family, key));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& begin_key, const Slice& end_key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const ColumnFamily* const family = Family(column_family);
  ASHLAR_RETURN_IF_ERROR(family->CheckNotDropped());
  ASHLAR_RETURN_IF_ERROR(family->CheckRange(begin_key, end_key));
  WriteBatch batch(begin_key.size() + end_key.size() + kRecordOverheadBytes);
  return CommitOne(options, column_family, &batch,
                   batch.DeleteRange(column_family, begin_key, end_key));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                    const Slice& key, const Slice& value) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, value));
  WriteBatch batch(key.size() + value.size() + kRecordOverheadBytes);
  ASHLAR_RETURN_IF_ERROR(batch.Merge(column_family, key, value));
  return commit_.Write(options, &batch);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::FlushWAL(bool sync) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return sync ? commit_.SyncLog() : commit_.FlushLog();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SyncWAL() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return commit_.SyncLog();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::LockWAL() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return commit_.LockWrites();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::UnlockWAL() {
  return commit_.UnlockWrites() ? Status::OK() : Status::Aborted("No LockWAL() in effect");
}

// ---- Logs.

Status LsmDB::GetUpdatesSince(SequenceNumber seq_number,
                              std::unique_ptr<TransactionLogIterator>* iter,
                              const TransactionLogIterator::ReadOptions& /*read_options*/) try {
  iter->reset();
  if (seq_number > state_->PublishedSequence())
    return Status::NotFound("Requested sequence not yet written in the db");
  *iter = std::make_unique<WalFollower>(state_, seq_number);
  return (*iter)->status();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetSortedWalFiles(VectorWalPtr& files) try {
  return GetSortedWals(*state_, &files);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) try {
  return GetCurrentWal(*state_, current_wal_file);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Reading.

Status LsmDB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  PinnableSlice* value) try {
  return reader_.Get(options, Family(column_family), key, value);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                               const Slice& key, PinnableSlice* merge_operands,
                               GetMergeOperandsOptions* get_merge_operands_options,
                               int* number_of_operands) try {
  if (merge_operands == nullptr || get_merge_operands_options == nullptr ||
      number_of_operands == nullptr)
    return Status::InvalidArgument("GetMergeOperands: a pointer is null");
  if (get_merge_operands_options->expected_max_number_of_operands <= 0)
    return Status::InvalidArgument(
        "GetMergeOperandsOptions::expected_max_number_of_operands must be positive");
  *number_of_operands = 0;
  return reader_.GetMergeOperands(options, Family(column_family), key, *get_merge_operands_options,
                                  merge_operands, number_of_operands);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void LsmDB::MultiGet(const ReadOptions& options, size_t num_keys,
                     ColumnFamilyHandle** column_families, const Slice* keys, PinnableSlice* values,
                     Status* statuses, bool /*sorted_input*/) try {
  std::vector<ColumnFamily*> families(num_keys);
  for (size_t i = 0; i < num_keys; ++i) families[i] = Family(column_families[i]);
  reader_.MultiGet(
      options,
      {.families = families, .keys = {keys, num_keys}, .values = values, .statuses = statuses});
} catch (const std::bad_alloc&) {
  FailMultiGet(num_keys, values, statuses);
}

void LsmDB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                     const Slice* keys, PinnableSlice* values, Status* statuses,
                     bool /*sorted_input*/) try {
  const std::vector<ColumnFamily*> families(num_keys, Family(column_family));
  reader_.MultiGet(
      options,
      {.families = families, .keys = {keys, num_keys}, .values = values, .statuses = statuses});
} catch (const std::bad_alloc&) {
  FailMultiGet(num_keys, values, statuses);
}

bool LsmDB::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, std::string* value, bool* value_found) try {
  PinnableSlice found;
  const Reader::ExistsAnswer answer =
      reader_.KeyMayExist(options, Family(column_family), key, &found);
  if (value_found != nullptr) *value_found = answer.decided;
  if (answer.decided && value != nullptr) value->assign(found.data(), found.size());
  return answer.may_exist;
} catch (const std::bad_alloc&) {
  if (value_found != nullptr) *value_found = false;
  return true;
}

Iterator* LsmDB::NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) try {
  std::unique_ptr<Iterator> iterator;
  const Status status = reader_.NewIterator(options, SharedFamily(column_family), &iterator);
  return status.ok() ? iterator.release() : MakeErrorIterator(status).release();
} catch (const std::bad_alloc&) {
  return MakeErrorIterator(Status::MemoryLimit()).release();
}

Status LsmDB::NewIterators(const ReadOptions& options,
                           const std::vector<ColumnFamilyHandle*>& column_families,
                           std::vector<Iterator*>* iterators) try {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  for (ColumnFamilyHandle* handle : column_families) families.push_back(SharedFamily(handle));
  std::vector<std::unique_ptr<Iterator>> made;
  ASHLAR_RETURN_IF_ERROR(reader_.NewIterators(options, families, &made));
  iterators->clear();
  iterators->reserve(made.size());
  for (std::unique_ptr<Iterator>& iterator : made) iterators->push_back(iterator.release());
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

const Snapshot* LsmDB::GetSnapshot() try {
  // The primary is not aware of a secondary's snapshots, and drops versions that they would need.
  if (state_->is_secondary()) return nullptr;
  const auto unix_seconds = static_cast<int64_t>(state_->clock->NowUnixMicros() / 1000000);
  MutexLock lock(state_->mutex());
  while (state_->snapshots_wait) state_->WaitForChange();
  return state_->snapshots.Acquire(state_->PublishedSequence(), unix_seconds);
} catch (const std::bad_alloc&) {
  return nullptr;
}

void LsmDB::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  MutexLock lock(state_->mutex());
  state_->snapshots.Release(static_cast<const SnapshotImpl*>(snapshot));
  background_.SnapshotReleased();
}

// ---- Background work.

Status LsmDB::Flush(const FlushOptions& options,
                    const std::vector<ColumnFamilyHandle*>& column_families) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (options.force_atomic_flush)
    return Status::NotSupported(
        "FlushOptions::force_atomic_flush is not implemented; leave it off");
  std::vector<std::shared_ptr<ColumnFamily>> families;
  for (ColumnFamilyHandle* handle : column_families) families.push_back(SharedFamily(handle));
  // A family may be named twice, but switches its memtable only once.
  std::set<const ColumnFamily*> named;
  std::erase_if(families, [&](const auto& family) { return !named.insert(family.get()).second; });
  ASHLAR_RETURN_IF_ERROR(core_->FlushFamilies(options, families, FlushReason::kManualFlush));
  if (!options.wait) return Status::OK();
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    // The memtables of a dropped family are not flushed any more.
    if (!(family->immutable().empty() && family->ActiveLocked()->IsEmpty()))
      ASHLAR_RETURN_IF_ERROR(family->CheckNotDropped());
  }
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                           const Slice* begin, const Slice* end) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (options.target_path_id != 0)
    return Status::NotSupported(
        StrCat("CompactRangeOptions::target_path_id=", options.target_path_id,
               ": tables are in the database's directory only; leave it at 0"));
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  ASHLAR_RETURN_IF_ERROR(CheckTargetLevel(options, NumberLevels(column_family)));
  if (options.change_level) {
    MutexLock lock(state_->mutex());
    if (family->options().compaction_style == kCompactionStyleFIFO) {
      return Status::NotSupported(
          "CompactRangeOptions::change_level: with FIFO compaction all tables are on level 0");
    }
  }
  ASHLAR_RETURN_IF_ERROR(background_.manual_compactions().CheckEnabled());
  if (begin == nullptr || end == nullptr ||
      HasUnflushedKey(*family->PinView().get(), family->comparator(),
                      {.smallest = *begin, .largest = *end})) {
    FlushOptions flush;
    flush.allow_write_stall = options.allow_write_stall;
    ASHLAR_RETURN_IF_ERROR(
        core_->FlushFamilies(flush, {&family, 1}, FlushReason::kManualCompaction));
  }
  return background_.manual_compactions().CompactRange(options, family, begin, end);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* column_family,
                           const std::vector<std::string>& input_file_names, int output_level,
                           int output_path_id, std::vector<std::string>* output_file_names,
                           CompactionJobInfo* compaction_job_info) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (output_level < 0)
    return Status::InvalidArgument(
        StrCat("the output level ", output_level, " is negative; give 0 or more"));
  if (output_path_id > 0) {
    return Status::InvalidArgument(
        StrCat("output_path_id ", output_path_id,
               ": tables are in the database's directory only; leave it at -1"));
  }
  FilesRequest request{.files = {},
                       .output_level = static_cast<Level>(output_level),
                       .compression = options.compression,
                       .output_file_bytes_max = options.output_file_size_limit,
                       .may_move = options.allow_trivial_move};
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  if (options.compression != kDisableCompressionOption) {
    CompressionParameters parameters;
    {
      MutexLock lock(state_->mutex());
      parameters = ResolveCompressionParameters(family->options(), false);
    }
    ASHLAR_RETURN_IF_ERROR(ValidateCompression(options.compression, parameters));
  }
  for (const std::string& name : input_file_names) {
    FileType type = FileType::kTableFile;
    uint64_t number = 0;
    if (!ParseFileName(BaseName(name), &number, &type) || type != FileType::kTableFile)
      return Status::InvalidArgument(name, "is not the name of a table, such as 000012.sst");
    request.files.push_back(number);
  }
  CompactionJobInfo info;
  ASHLAR_RETURN_IF_ERROR(
      background_.manual_compactions().CompactFiles(options, family, request, &info));
  if (output_file_names != nullptr) *output_file_names = info.output_files;
  if (compaction_job_info != nullptr) *compaction_job_info = std::move(info);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                                  const Slice* end) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  MutexLock lock(state_->mutex());
  ASHLAR_RETURN_IF_ERROR(family->CheckNotDropped());
  MarkForCompaction(MakeTreeView(*state_, *family), {.smallest = begin, .largest = end});
  background_.ViewChanged(family);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::PromoteL0(ColumnFamilyHandle* column_family, int target_level) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (target_level < 1)
    return Status::InvalidArgument(
        StrCat("the target level ", target_level, " is not below level 0; give 1 or more"));
  return background_.manual_compactions().MoveLevel0(SharedFamily(column_family),
                                                     static_cast<Level>(target_level));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void LsmDB::DisableManualCompaction() { background_.manual_compactions().Disable(); }

void LsmDB::EnableManualCompaction() { background_.manual_compactions().Enable(); }

void LsmDB::AbortAllCompactions() { background_.AbortCompactions(); }

void LsmDB::ResumeAllCompactions() { background_.ResumeCompactions(); }

Status LsmDB::DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangePtr* ranges,
                                  size_t n, bool include_end) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  std::vector<UserKeyRange> deleted;
  for (size_t i = 0; i < n; ++i) {
    const RangePtr& range = ranges[i];
    if (range.start != nullptr && range.limit != nullptr &&
        family->comparator().Compare(*range.start, *range.limit) > 0)
      return Status::InvalidArgument("a range ends before it begins");
    deleted.push_back({.smallest = range.start, .largest = range.limit});
  }
  size_t dropped = 0;
  ASHLAR_RETURN_IF_ERROR(
      background_.manual_compactions().DeleteFiles(family, deleted, include_end, &dropped));
  LogInfo(*state_, StrCat("[", NameForDisplay(family->name()), "] DeleteFilesInRanges: ", n,
                          " ranges, ", dropped, " tables were dropped"));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return ClipFamily(core_.get(), column_family, SharedFamily(column_family), begin_key, end_key);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DeleteFile(const std::string& name) try {
  constexpr std::string_view kArchive = "archive/";
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  std::string_view file = name;
  if (file.starts_with('/')) file.remove_prefix(1);
  const bool archived = file.starts_with(kArchive);
  if (archived) file.remove_prefix(kArchive.size());
  uint64_t number = 0;
  FileType type = kTempFile;
  if (!ParseFileName(file, &number, &type) || (type != kTableFile && type != kWalFile) ||
      (archived && type != kWalFile))
    return Status::InvalidArgument(name,
                                   "is not the name of a table or of an archived log, such as "
                                   "000012.sst or archive/000009.log");
  if (archived) return background_.files().DeleteArchivedLog(number);
  if (type == kWalFile)
    return Status::NotSupported(name, "only archived logs can be deleted (\"archive/...\")");
  bool dropped = false;
  ASHLAR_RETURN_IF_ERROR(background_.manual_compactions().DeleteFile(number, &dropped));
  LogInfo(*state_, StrCat("DeleteFile: ", name, dropped ? "" : " is being compacted, and stays"));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::WaitForCompact(const WaitForCompactOptions& options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const BackgroundWork::DeadlineNanos deadline = DeadlineOf(options, state_->clock->NowNanos());
  if (options.flush) {
    std::vector<std::shared_ptr<ColumnFamily>> families;
    {
      MutexLock lock(state_->mutex());
      families = state_->LiveFamilies();
    }
    // The two waits below replace those of the flush, because they have a deadline.
    FlushOptions flush;
    flush.allow_write_stall = true;
    flush.wait = false;
    ASHLAR_RETURN_IF_ERROR(background_.WaitUntilSwitchIsFree(families, deadline));
    ASHLAR_RETURN_IF_ERROR(core_->FlushFamilies(flush, families, FlushReason::kManualFlush));
  }
  ASHLAR_RETURN_IF_ERROR(background_.WaitForIdle(options.abort_on_pause, deadline));
  return options.close_db ? Close() : Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::PauseBackgroundWork() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  background_.Pause();
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::ContinueBackgroundWork() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return background_.Continue() ? Status::OK()
                                : Status::InvalidArgument("background work is not paused");
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void LsmDB::CancelAllBackgroundWork(bool wait) {
  if (!state_->read_only()) life_cycle_.Cancel(wait);
}

Status LsmDB::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& column_families) try {
  for (ColumnFamilyHandle* handle : column_families)
    ASHLAR_RETURN_IF_ERROR(SetOptions(handle, {{"disable_auto_compactions", "false"}}));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DisableFileDeletions() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  background_.files().Disable();
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::EnableFileDeletions() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (!background_.files().Enable())
    return Status::InvalidArgument("file deletions are not disabled");
  background_.files().DeleteObsoleteFiles();
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Options.

Status LsmDB::SetOptions(ColumnFamilyHandle* column_family,
                         const std::unordered_map<std::string, std::string>& new_options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return option_changes_.SetOptions(SharedFamily(column_family), new_options);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  return option_changes_.SetDBOptions(new_options);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Options LsmDB::GetOptions(ColumnFamilyHandle* column_family) const {
  MutexLock lock(state_->mutex());
  return Options(state_->current_options, Family(column_family)->options());
}

DBOptions LsmDB::GetDBOptions() const {
  MutexLock lock(state_->mutex());
  return state_->current_options;
}

// ---- Properties, files.

bool LsmDB::GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                        std::string* value) try {
  return PropertyReader(state_, &background_).Text(SharedFamily(column_family), property, value);
} catch (const std::bad_alloc&) {
  return false;
}

bool LsmDB::GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::map<std::string, std::string>* value) try {
  return PropertyReader(state_, &background_).Map(SharedFamily(column_family), property, value);
} catch (const std::bad_alloc&) {
  return false;
}

bool LsmDB::GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           uint64_t* value) try {
  return PropertyReader(state_, &background_).Number(SharedFamily(column_family), property, value);
} catch (const std::bad_alloc&) {
  return false;
}

bool LsmDB::GetAggregatedIntProperty(const Slice& property, uint64_t* value) try {
  return PropertyReader(state_, &background_).Sum(property, value);
} catch (const std::bad_alloc&) {
  return false;
}

Status LsmDB::ResetStats() {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    family->totals.Reset();
  state_->lost_errors.store(0, std::memory_order_relaxed);
  return Status::OK();
}

Status LsmDB::GetApproximateSizes(const SizeApproximationOptions& options,
                                  ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                  uint64_t* sizes) try {
  if (!options.include_memtables && !options.include_files && !options.include_blob_files)
    return Status::InvalidArgument("include memtables, files, blob files, or several of them");
  const ColumnFamily* const family = Family(column_family);
  const ViewOfCall view(&background_, *family);
  for (int i = 0; i < n; ++i) {
    sizes[i] = 0;
    if (options.include_files) {
      ASHLAR_ASSIGN_OR_RETURN(
          const uint64_t bytes,
          view->version->ApproximateBytes(ranges[i].start, ranges[i].limit, family->tables()));
      sizes[i] += bytes;
    }
    if (!options.include_memtables) continue;
    sizes[i] += view->active->ApproximateRange(ranges[i].start, ranges[i].limit).data_bytes;
    for (const MemTableRef& table : view->immutable)
      sizes[i] += table->ApproximateRange(ranges[i].start, ranges[i].limit).data_bytes;
  }
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void LsmDB::GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                        uint64_t* count, uint64_t* size) {
  const ViewOfCall view(&background_, *Family(column_family));
  *count = 0;
  *size = 0;
  const auto add = [&](const MemTable& table) {
    const MemTable::RangeEstimate estimate = table.ApproximateRange(range.start, range.limit);
    *count += estimate.entries;
    *size += estimate.data_bytes;
  };
  add(*view->active);
  for (const MemTableRef& table : view->immutable) add(*table);
}

int LsmDB::NumberLevels(ColumnFamilyHandle* column_family) {
  const EpochGuard guard(state_->epochs);
  return static_cast<int>(Family(column_family)->view()->version->levels());
}

void LsmDB::GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) {
  PropertyReader(state_, &background_).LiveFiles(metadata);
}

void LsmDB::GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                    ColumnFamilyMetaData* metadata) {
  PropertyReader(state_, &background_).FamilyMetaData(SharedFamily(column_family), metadata);
}

void LsmDB::GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) {
  metadata->clear();
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    families = state_->LiveFamilies();
  }
  const PropertyReader reader(state_, &background_);
  for (const std::shared_ptr<ColumnFamily>& family : families)
    reader.FamilyMetaData(family, &metadata->emplace_back());
}

Status LsmDB::GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                       TablePropertiesCollection* props) try {
  return PropertyReader(state_, &background_).TablesOf(SharedFamily(column_family), props);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetPropertiesOfTablesByLevel(
    ColumnFamilyHandle* column_family,
    std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) try {
  return PropertyReader(state_, &background_)
      .TablesByLevel(SharedFamily(column_family), props_by_level);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                           size_t n, TablePropertiesCollection* props) try {
  return PropertyReader(state_, &background_)
      .TablesInRanges(SharedFamily(column_family), {range, n}, props);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                           bool flush_memtable) try {
  files.clear();
  const bool reads_only = state_->read_only();
  if (!reads_only) ASHLAR_RETURN_IF_ERROR(option_changes_.RecordPending());
  if (flush_memtable && !reads_only)
    ASHLAR_RETURN_IF_ERROR(core_->FlushAll(FlushOptions(), FlushReason::kGetLiveFiles));
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(const ShownManifest manifest, FindShownManifest(*state_, reads_only));
  for (const FileNumber number : state_->versions->LiveTables())
    files.push_back("/" + std::string(BaseName(TableFileName("", number))));
  files.emplace_back("/CURRENT");
  files.push_back("/" + std::string(BaseName(DescriptorFileName("", manifest.number))));
  *manifest_file_size = manifest.bytes;
  std::string options_file;
  const Status found = GetLatestOptionsFileName(state_->directory, GetEnv(), &options_file);
  if (found.ok()) files.push_back("/" + options_file);
  return found.IsNotFound() && !found.IsPathNotFound() ? Status::OK() : found;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                      std::vector<LiveFileStorageInfo>* files) try {
  files->clear();
  if (!state_->read_only()) ASHLAR_RETURN_IF_ERROR(option_changes_.RecordPending());
  ASHLAR_ASSIGN_OR_RETURN(*files, StorageSurvey(core_.get(), options).Run());
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetDbIdentity(std::string& identity) const try {
  MutexLock lock(state_->mutex());  // a promotion may set it
  identity = state_->versions->database_id();
  return identity.empty() ? Status::NotFound(IdentityFileName(state_->directory),
                                             "neither it nor the MANIFEST has the identity")
                          : Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetDbSessionId(std::string& session_id) const try {
  session_id = state_->session_id;
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::ForEachTable(FunctionRef<Status(ColumnFamily&, FileMetaData*)> visit) {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    families = state_->LiveFamilies();
  }
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    const ViewOfCall view(&background_, *family);
    for (Level level = 0; level < view->version->levels(); ++level) {
      for (FileMetaData* file : view->version->files(level))
        ASHLAR_RETURN_IF_ERROR(visit(*family, file));
    }
  }
  return Status::OK();
}

Status LsmDB::VerifyChecksum(const ReadOptions& /*options*/) try {
  return ForEachTable(
      [](ColumnFamily& family, FileMetaData* file) { return family.tables()->Verify(file); });
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::VerifyFileChecksums(const ReadOptions& /*options*/) try {
  FileChecksumGenFactory* const factory = state_->options.file_checksum_gen_factory.get();
  if (factory == nullptr) {
    return Status::InvalidArgument(
        "file_checksum_gen_factory is null; open the database with the factory of its checksums");
  }
  return ForEachTable([&](ColumnFamily& /*family*/, FileMetaData* file) -> Status {
    if (file->checksum.empty()) return Status::OK();
    const std::string path = TableFileName(state_->directory, file->number);
    ASHLAR_ASSIGN_OR_RETURN(
        const FileChecksum found,
        ComputeFileChecksum(state_->file_system, path, factory, file->checksum_function));
    state_->recorder.Tick(VERIFY_CHECKSUM_READ_BYTES, file->file_bytes);
    return CheckIsRecorded(path, found.value, file->checksum);
  });
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) try {
  if (checksum_list == nullptr) return Status::InvalidArgument("the list is null");
  checksum_list->reset();
  return ForEachTable([&](ColumnFamily& /*family*/, FileMetaData* file) {
    return checksum_list->InsertOneFileChecksum(file->number, file->checksum,
                                                file->checksum_function);
  });
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Files from outside.

Status LsmDB::IngestExternalFile(ColumnFamilyHandle* column_family,
                                 const std::vector<std::string>& external_files,
                                 const IngestExternalFileOptions& options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const FileIngestion::Request request{
      .family = SharedFamily(column_family), .paths = external_files, .options = options};
  return FileIngestion(core_.get(), {&request, 1}).Run();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  std::vector<FileIngestion::Request> requests;
  requests.reserve(args.size());
  for (const IngestExternalFileArg& arg : args) {
    requests.push_back({.family = SharedFamily(arg.column_family),
                        .paths = arg.external_files,
                        .options = arg.options,
                        .checksums = arg.files_checksums,
                        .checksum_functions = arg.files_checksum_func_names});
  }
  return FileIngestion(core_.get(), requests).Run();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void LsmDB::ReportLostError(const Slice& call, const Status& error) {
  if (error.ok()) return;
  state_->lost_errors.fetch_add(1, std::memory_order_relaxed);
  IgnoreBadAlloc([&] {
    LogWarning(*state_, StrCat(std::string_view(call.data(), call.size()),
                               " has no place for its error: ", error.ToString()));
  });
}

}  // namespace ashlar
