#include "lsm/lsm_db.h"

#include <algorithm>
#include <utility>

#include "ashlar/options_util.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "config/validate.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "key/write_batch_internal.h"
#include "lsm/options_file.h"
#include "lsm/properties.h"
#include "lsm/recovery.h"
#include "lsm/resolve_options.h"
#include "observe/event_line.h"
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
}  // namespace

FamilyHandle::FamilyHandle(LsmCore* core, std::shared_ptr<ColumnFamily> family)
    : core_(core), family_(std::move(family)) {
  core->state->live_handles.fetch_add(1, std::memory_order_relaxed);
}

FamilyHandle::~FamilyHandle() {
  NotifyAll(core_->state->options.listeners, &EventListener::OnColumnFamilyHandleDeletionStarted,
            this);
  family_.reset();
  core_->state->epochs.Reclaim();
  core_->background.files().DeleteObsoleteFilesIfAny();
  core_->state->live_handles.fetch_sub(1, std::memory_order_relaxed);
}

Status FamilyHandle::GetDescriptor(ColumnFamilyDescriptor* desc) try {
  MutexLock lock(core_->state->mutex());
  *desc = ColumnFamilyDescriptor(family_->name(), family_->options());
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Opening and closing.

LsmDB::LsmDB(std::unique_ptr<LsmCore> core)
    : core_(std::move(core)),
      state_(core_->state.get()),
      background_(core_->background),
      commit_(core_->commit),
      reader_(core_->reader) {
  state_->db = this;
}

LsmDB::~LsmDB() {
  static_cast<void>(CloseFiles().ok());
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
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<DatabaseState> state, RecoverDatabase(std::move(args)));
  ReapUnused();
  auto db = std::make_unique<LsmDB>(std::make_unique<LsmCore>(std::move(state)));
  if (!db->state_->read_only) {
    if (const Status started = db->StartWriting(families); !started.ok()) {
      LogWarning(*db->state_, StrCat("the open failed: ", started.ToString()));
      return started;
    }
  }
  std::vector<std::unique_ptr<ColumnFamilyHandle>> made;
  for (const ColumnFamilyDescriptor& family : families) made.push_back(db->NewHandle(family.name));
  ASHLAR_ASSERT(
      std::none_of(made.begin(), made.end(), [](const auto& handle) { return handle == nullptr; }));
  std::unique_ptr<ColumnFamilyHandle> default_handle = db->NewHandle(kDefaultColumnFamilyName);
  db->default_handle_.reset(static_cast<FamilyHandle*>(default_handle.release()));
  if (handles != nullptr) {
    handles->clear();
    handles->reserve(made.size());
    for (std::unique_ptr<ColumnFamilyHandle>& handle : made) handles->push_back(handle.release());
  }
  return db;
}

Status LsmDB::StartWriting(const std::vector<ColumnFamilyDescriptor>& families) {
  const bool must_flush = state_->recovery.must_flush;
  // Tables that the MANIFEST dropped while it was replayed; most went long ago. DeleteOrphans finds
  // those that are left.
  state_->obsolete_files.Take();
  // Logs that stay beside the new one: a sync of the new one has to mean that they are durable,
  // too.
  if (!must_flush) ASHLAR_RETURN_IF_ERROR(state_->logs.SyncAdopted());
  const LogSet::NewLog log{.number = state_->versions->NewFileNumber(),
                           .next_sequence = state_->PublishedSequence() + 1,
                           .directory_handle = state_->wal_directory_handle.get()};
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&] { return state_->logs.StartNewLog(log); }));
  std::vector<std::shared_ptr<ColumnFamily>> live;
  {
    MutexLock lock(state_->mutex());
    live = state_->LiveFamilies();
    for (const std::shared_ptr<ColumnFamily>& family : live)
      family->AdvanceEmptyMemTable(state_->logs.current_number());
  }
  ASHLAR_RETURN_IF_ERROR(EnsureIdentity(state_));
  if (must_flush) {
    // No job of the pool takes one of the memtables before they go to tables together.
    background_.HoldJobs();
    Status flushed = commit_.SwitchMemTables(live, FlushReason::kOthers);
    if (flushed.ok())
      flushed = background_.flushes().RunTogether(live, TableFileCreationReason::kRecovery);
    background_.ReleaseJobs();
    ASHLAR_RETURN_IF_ERROR(flushed);
  }
  ASHLAR_RETURN_IF_ERROR(background_.installer().RecordLogNumbers());
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  uint64_t oldest_log = 0;
  {
    MutexLock lock(state_->mutex());
    oldest_log = background_.files().OldestRecordedLog();
  }
  DeleteOrphans(state_, oldest_log);
  for (const ColumnFamilyDescriptor& family : families) {
    if (state_->versions->FindFamily(Slice(family.name)) != nullptr) continue;
    ASHLAR_RETURN_IF_ERROR(CreateFamily(family.options, family.name));
  }
  ASHLAR_RETURN_IF_ERROR(WriteOptionsFile());
  EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "recovery_finished")
      .Add("bytes_not_replayed", state_->recovery.BytesNotReplayed())
      .Add("damaged_wal_files", state_->recovery.DamagedLogs())
      .Add("status", "OK");
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    background_.ViewChanged(family);
  return Status::OK();
}

Status LsmDB::CheckNothingIsHeld() {
  {
    MutexLock lock(state_->mutex());
    if (state_->snapshots.size() > 0)
      return Status::Aborted("snapshots are still held; release them before Close");
  }
  return core_->CheckNothingIsRead();
}

Status LsmDB::Close() try {
  {
    MutexLock lock(state_->mutex());
    if (state_->closed) return state_->close_status;
  }
  // Jobs hold tables and blocks, too.
  background_.Pause();
  const Status held = CheckNothingIsHeld();
  background_.Continue();
  ASHLAR_RETURN_IF_ERROR(held);
  return CloseFiles();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CloseFiles() {
  {
    MutexLock lock(state_->mutex());
    if (state_->closed) return state_->close_status;
  }
  Status status;
  // Every step runs, whatever became of the ones before it; the first error is reported.
  const auto attempt = [&status](const auto& step) {
    const Status done = CatchBadAlloc(step);
    if (status.ok()) status = done;
  };
  if (!state_->read_only) {
    attempt([this] { return FlushUnloggedWrites(); });
    background_.Stop();
    attempt([this] {
      background_.outbox().Notify();
      return Status::OK();
    });
    state_->latch.Set(Status::ShutdownInProgress("the database is closed"),
                      BackgroundErrorReason::kFlush);
    attempt([this] { return CloseLogs(); });
    attempt([this] {
      background_.files().DeleteObsoleteFiles();
      return Status::OK();
    });
    background_.files().Stop();
    {
      MutexLock changing(options_file_mutex_);
      options_file_closed_ = true;
    }
    MutexLock installers(state_->manifest_mutex());
    attempt([this] { return state_->versions->Close(); });
    state_->lock.reset();
  }
  if (state_->logger != nullptr) state_->logger->Flush();
  MutexLock lock(state_->mutex());
  state_->closed = true;
  state_->close_status = status;
  return status;
}

Status LsmDB::FlushUnloggedWrites() {
  if (GetDBOptions().avoid_flush_during_shutdown || !HasUnloggedWrites() || state_->latch.IsSet())
    return Status::OK();
  // What the program paused would be waited for forever: nobody can continue it once the database
  // is closed.
  while (background_.Continue()) {
  }
  return FlushAll(FlushOptions(), FlushReason::kShutDown);
}

Status LsmDB::CloseLogs() {
  std::vector<LogSet::LiveLog> logs;
  const Status closed = commit_.RunExclusive([&] {
    const Status logs_synced = state_->logs.Close();
    logs = state_->logs.LiveLogs();
    return logs_synced;
  });
  // Also after an open that failed before it synced the logs that it found.
  std::erase_if(logs, [](const LogSet::LiveLog& log) { return !log.synced; });
  const Status recorded = background_.installer().RecordSyncedLogs(logs);
  return closed.ok() ? recorded : closed;
}

bool LsmDB::HasUnloggedWrites() {
  if (!state_->unlogged_writes.load(std::memory_order_relaxed)) return false;
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    if (!family->ActiveLocked()->IsEmpty() || !family->immutable().empty()) return true;
  }
  return false;
}

Status LsmDB::Resume() try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const Status begun = state_->latch.BeginResume();
  if (begun.IsNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(begun);
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = state_->latch.status();
  // Whatever fails in between, the resume ends.
  const Status status = state_->latch.FinishResume(CatchBadAlloc([this] { return TryToResume(); }));
  info.new_bg_error = status;
  IgnoreBadAlloc([&] {
    if (status.ok()) LogInfo(*state_, "resumed: the database is writable again");
    NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryEnd, info);
  });
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    background_.ViewChanged(family);
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// What the failed log holds is not known: a new one takes over, and everything that was
// acknowledged goes to tables in one edit over all families, so that no part of the old one is
// ever read again. No family comes or goes meanwhile, for the error is latched.
Status LsmDB::TryToResume() {
  bool automatic = false;
  NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryBegin, state_->latch.reason(),
            state_->latch.status(), &automatic);
  std::vector<std::shared_ptr<ColumnFamily>> families;
  background_.HoldJobs();
  Status status = commit_.RunExclusive([&]() -> Status {
    {
      MutexLock lock(state_->mutex());
      // Close takes the lead to close the logs: a log that is created before is closed with them,
      // and none is created afterwards.
      if (state_->closing.load(std::memory_order_relaxed))
        return Status::ShutdownInProgress("the database is being closed");
      families = state_->LiveFamilies();
    }
    return commit_.LeaderSwitchMemTables(families, FlushReason::kErrorRecovery);
  });
  if (status.ok()) {
    status = CatchBadAlloc([&] {
      return background_.flushes().RunTogether(families, TableFileCreationReason::kFlush);
    });
  }
  background_.ReleaseJobs();
  return status;
}

Status LsmDB::CheckWritable() const {
  if (state_->read_only) return Status::NotSupported("the database was opened read-only");
  return Status::OK();
}

// ---- Column families.

std::unique_ptr<ColumnFamilyHandle> LsmDB::NewHandle(const std::string& name) {
  MutexLock lock(state_->mutex());
  for (std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    if (family->name() == name)
      return std::make_unique<FamilyHandle>(core_.get(), std::move(family));
  }
  return nullptr;
}

Status LsmDB::CreateFamily(const ColumnFamilyOptions& options, const std::string& name) {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  ColumnFamilyOptions filled = options;
  ASHLAR_RETURN_IF_ERROR(ValidateOptions(state_->options, {ColumnFamilyDescriptor(name, filled)}));
  FillDefaults(&filled);
  // Exclusive: the family appears between two groups of writes, and its log number is that of the
  // log that later writes go to.
  return commit_.RunExclusive([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
    MutexLock installers(state_->manifest_mutex());
    const ColumnFamilySpec spec{.name = name,
                                .comparator = KeyComparator(filled.comparator),
                                .levels = static_cast<Level>(filled.num_levels)};
    ASHLAR_ASSIGN_OR_RETURN(
        std::unique_ptr<PendingInstall> install,
        state_->versions->PrepareAddFamily(spec, state_->logs.current_number()));
    const PendingInstall::Change& added = install->changes().front();
    std::unique_ptr<FamilyTable> families;
    {
      MutexLock lock(state_->mutex());
      families = FamiliesWith(*state_, MakeColumnFamily(state_, *added.family, added.version,
                                                        filled, state_->logs.current_number()));
    }
    const Status installed = background_.installer().Publish({.install = std::move(install)}, [&] {
      kDatabaseMutex.AssertHeld();
      state_->SetFamilies(std::move(families));
    });
    if (!installed.ok())
      background_.LatchError(BackgroundErrorReason::kManifestWrite, "creation of a column family",
                             installed);
    return installed;
  });
}

Status LsmDB::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                 ColumnFamilyHandle** handle) try {
  *handle = nullptr;
  ASHLAR_RETURN_IF_ERROR(CreateFamily(options, name));
  *handle = NewHandle(name).release();
  return RecordFamilyOptions();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles) try {
  handles->clear();
  Status status;
  for (const ColumnFamilyDescriptor& family : column_families) {
    status = CreateFamily(family.options, family.name);
    if (!status.ok()) break;
    handles->push_back(NewHandle(family.name).release());
  }
  const Status recorded = RecordFamilyOptions();
  return status.ok() ? recorded : status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DropFamily(const std::shared_ptr<ColumnFamily>& family) {
  if (family->id() == 0)
    return Status::InvalidArgument("the default column family cannot be dropped");
  return commit_.RunExclusive([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
    MutexLock installers(state_->manifest_mutex());
    ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PendingInstall> install,
                            state_->versions->PrepareDropFamily(family->id()));
    // The table cannot change before the install: that takes the manifest mutex.
    std::unique_ptr<FamilyTable> families;
    {
      MutexLock lock(state_->mutex());
      families = std::make_unique<FamilyTable>(state_->Families());
    }
    families->Remove(family->id());
    const Status installed = background_.installer().Publish({.install = std::move(install)}, [&] {
      kDatabaseMutex.AssertHeld();
      state_->SetFamilies(std::move(families));
      family->MarkDropped();
      std::erase_if(state_->unsupported_options, [&family](const UnsupportedOption& option) {
        return option.column_family == family->name();
      });
      background_.ViewChanged(family);
    });
    if (!installed.ok())
      background_.LatchError(BackgroundErrorReason::kManifestWrite, "drop of a column family",
                             installed);
    return installed;
  });
}

Status LsmDB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  Status status;
  for (ColumnFamilyHandle* handle : column_families) {
    status = DropFamily(SharedFamily(handle));
    if (!status.ok()) break;
  }
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  const Status recorded = RecordFamilyOptions();
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

Status LsmDB::CommitOne(const WriteOptions& options, WriteBatch* batch, const Status& built) {
  ASHLAR_RETURN_IF_ERROR(built);
  return commit_.WriteTrusted(options, batch);
}

Status LsmDB::CheckWritableEntry(ColumnFamilyHandle* column_family, const Slice& key,
                                 const Slice& value) const {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  const ColumnFamily* const family = Family(column_family);
  if (family->dropped()) return Status::ColumnFamilyDropped(family->name());
  return family->CheckEntry(key, value);
}

Status LsmDB::Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  const Slice& value) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, value));
  WriteBatch batch(key.size() + value.size() + kRecordOverheadBytes);
  return CommitOne(options, &batch, batch.Put(column_family, key, value));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, Slice()));
  WriteBatch batch(key.size() + kRecordOverheadBytes);
  return CommitOne(options, &batch, batch.Delete(column_family, key));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritableEntry(column_family, key, Slice()));
  WriteBatch batch(key.size() + kRecordOverheadBytes);
  return CommitOne(options, &batch, batch.SingleDelete(column_family, key));
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& begin_key, const Slice& end_key) try {
  WriteBatch batch;
  ASHLAR_RETURN_IF_ERROR(batch.DeleteRange(column_family, begin_key, end_key));
  return Write(options, &batch);
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

// ---- Reading.

Status LsmDB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  PinnableSlice* value) try {
  return reader_.Get(options, Family(column_family), key, value);
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
  return status.ok() ? iterator.release() : NewErrorIterator(status);
} catch (const std::bad_alloc&) {
  Iterator* failed = nullptr;
  static_cast<void>(CatchBadAlloc([&] {
                      failed = NewErrorIterator(Status::MemoryLimit());
                      return Status::OK();
                    }).ok());
  return failed;
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
  const auto unix_seconds = static_cast<int64_t>(state_->clock->NowUnixMicros() / 1000000);
  MutexLock lock(state_->mutex());
  return state_->snapshots.Acquire(state_->PublishedSequence(), unix_seconds);
} catch (const std::bad_alloc&) {
  return nullptr;
}

void LsmDB::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  MutexLock lock(state_->mutex());
  state_->snapshots.Release(static_cast<const SnapshotImpl*>(snapshot));
}

// ---- Background work.

Status LsmDB::Flush(const FlushOptions& options,
                    const std::vector<ColumnFamilyHandle*>& column_families) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  std::vector<std::shared_ptr<ColumnFamily>> families;
  for (ColumnFamilyHandle* handle : column_families) families.push_back(SharedFamily(handle));
  return FlushFamilies(options, families, FlushReason::kManualFlush);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::FlushFamilies(const FlushOptions& options,
                            std::span<const std::shared_ptr<ColumnFamily>> families,
                            FlushReason reason) {
  ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
  if (!options.allow_write_stall)
    ASHLAR_RETURN_IF_ERROR(background_.WaitUntilSwitchIsFree(families));
  bool any = false;
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : families)
      any |= !family->ActiveLocked()->IsEmpty();
  }
  if (any) ASHLAR_RETURN_IF_ERROR(commit_.SwitchMemTables(families, reason));
  if (!options.wait) {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      family->flush_wanted = !family->immutable().empty();
      background_.ViewChanged(family);
    }
    return Status::OK();
  }
  return background_.WaitForFlush(families);
}

Status LsmDB::FlushAll(const FlushOptions& options, FlushReason reason) {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    families = state_->LiveFamilies();
  }
  return FlushFamilies(options, families, reason);
}

Status LsmDB::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                           const Slice* begin, const Slice* end) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (options.target_path_id != 0)
    return Status::NotSupported(
        "CompactRangeOptions::target_path_id: tables live in the database's directory only");
  if (options.change_level)
    return Status::NotSupported(
        "CompactRangeOptions::change_level is not implemented; leave it false");
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  FlushOptions flush;
  flush.allow_write_stall = options.allow_write_stall;
  ASHLAR_RETURN_IF_ERROR(FlushFamilies(flush, {&family, 1}, FlushReason::kManualCompaction));
  return background_.manual_compactions().CompactRange(options, family, begin, end);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::WaitForCompact(const WaitForCompactOptions& options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  if (options.flush) ASHLAR_RETURN_IF_ERROR(FlushAll(FlushOptions(), FlushReason::kManualFlush));
  ASHLAR_RETURN_IF_ERROR(background_.WaitForIdle(options));
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
  const std::shared_ptr<ColumnFamily>& family = SharedFamily(column_family);
  {
    MutexLock changing(options_file_mutex_);
    ColumnFamilyOptions changed;
    {
      MutexLock lock(state_->mutex());
      changed = family->options();
    }
    const std::shared_ptr<const SliceTransform> extractor = changed.prefix_extractor;
    ASHLAR_RETURN_IF_ERROR(ChangeMutableOptions(new_options, &changed));
    // The same transform stays the same object, by which tables and iterators know it.
    const bool both = extractor != nullptr && changed.prefix_extractor != nullptr;
    if (both && extractor->GetId() == changed.prefix_extractor->GetId())
      changed.prefix_extractor = extractor;
    ASHLAR_RETURN_IF_ERROR(
        ValidateOptions(state_->options, {ColumnFamilyDescriptor(family->name(), changed)}));
    FillDefaults(&changed);
    MutexLock lock(state_->mutex());
    family->SetOptions(changed, ResolveLeveledConfig(changed, state_->options));
    background_.ViewChanged(family);
  }
  state_->epochs.Reclaim();
  return WriteOptionsFile();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) try {
  ASHLAR_RETURN_IF_ERROR(CheckWritable());
  {
    MutexLock changing(options_file_mutex_);
    DBOptions changed = GetDBOptions();
    ASHLAR_RETURN_IF_ERROR(ChangeMutableOptions(new_options, &changed));
    ASHLAR_RETURN_IF_ERROR(ValidateOptions(changed, {}));
    state_->open_tables.SetLimit(ResolveOpenTablesMax(changed));
    state_->log_bytes_max.store(changed.max_total_wal_size, std::memory_order_relaxed);
    background_.StartThreads(changed);
    MutexLock lock(state_->mutex());
    state_->current_options = changed;
    background_.SetOptions(changed);
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      family->SetOptions(family->options(), ResolveLeveledConfig(family->options(), changed));
      background_.ViewChanged(family);
    }
  }
  return WriteOptionsFile();
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

// The file lists every family, so writing it for each of many new ones would take the square of
// their number.
Status LsmDB::RecordFamilyOptions() {
  constexpr size_t kFamiliesRecordedAtOnce = 32;
  {
    MutexLock lock(state_->mutex());
    if (options_job_queued_) return Status::OK();
    const bool many = state_->Families().families.size() > kFamiliesRecordedAtOnce;
    if (many && !state_->options.fail_if_options_file_error) {
      options_job_queued_ = background_.RunSoon([this] {
        {
          MutexLock locked(state_->mutex());
          options_job_queued_ = false;
        }
        // It has logged its error.
        static_cast<void>(WriteOptionsFile().ok());
      });
      if (options_job_queued_) return Status::OK();
    }
  }
  return WriteOptionsFile();
}

Status LsmDB::WriteOptionsFile() {
  MutexLock changing(options_file_mutex_);
  if (options_file_closed_) return Status::ShutdownInProgress("the database is closed");
  std::vector<ColumnFamilyDescriptor> families;
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies())
      families.emplace_back(family->name(), family->options());
  }
  const Status written = WriteNewOptionsFile(state_, families);
  background_.files().DeleteObsoleteFiles();
  if (written.ok()) return written;
  LogWarning(*state_, StrCat("the OPTIONS file could not be written: ", written.ToString()));
  return state_->options.fail_if_options_file_error ? written : Status::OK();
}

// ---- What is there.

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

Status LsmDB::GetApproximateSizes(const SizeApproximationOptions& options,
                                  ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                  uint64_t* sizes) try {
  if (!options.include_memtables && !options.include_files)
    return Status::InvalidArgument("include memtables, files, or both");
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

Status LsmDB::GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                       TablePropertiesCollection* props) try {
  return PropertyReader(state_, &background_).TablesOf(SharedFamily(column_family), props);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                           bool flush_memtable) try {
  if (flush_memtable && !state_->read_only)
    ASHLAR_RETURN_IF_ERROR(FlushAll(FlushOptions(), FlushReason::kGetLiveFiles));
  MutexLock installers(state_->manifest_mutex());
  files.clear();
  for (const FileNumber number : state_->versions->LiveTables())
    files.push_back("/" + std::string(BaseName(TableFileName("", number))));
  files.emplace_back("/CURRENT");
  files.push_back(
      "/" + std::string(BaseName(DescriptorFileName("", state_->versions->manifest_number()))));
  *manifest_file_size = state_->versions->manifest_bytes();
  std::string options_file;
  const Status found = GetLatestOptionsFileName(state_->directory, GetEnv(), &options_file);
  if (found.ok()) files.push_back("/" + options_file);
  return found.IsNotFound() ? Status::OK() : found;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LsmDB::GetDbIdentity(std::string& identity) const try {
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

Status LsmDB::VerifyChecksum(const ReadOptions& /*options*/) try {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    families = state_->LiveFamilies();
  }
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    const ViewOfCall view(&background_, *family);
    for (Level level = 0; level < view->version->levels(); ++level) {
      for (FileMetaData* file : view->version->files(level))
        ASHLAR_RETURN_IF_ERROR(family->tables()->Verify(file));
    }
  }
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar
