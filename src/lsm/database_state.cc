#include "lsm/database_state.h"

#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/result.h"
#include "lsm/resolve_options.h"
#include "platform/memory.h"

namespace ashlar {

namespace {
constexpr uint64_t kLogPreallocateBytes = uint64_t{4} << 20;
// Fresh blocks come in huge pages, whose first touch costs some 10 ns per entry. That does not
// justify keeping the memory of a full memtable idle.
constexpr size_t kIdleArenaBytesMax = ArenaBlockPool::kBlockBytesMax;
// The log's own buffer collects the records of a group, so each append is one write, which reports
// the disk's error to that group. A store into a mapping costs a fraction of a write, but a disk
// fault then ends the process or is lost, so it is only used on request. After a crash zeros follow
// the last record of a mapped log, which recovery sees as a torn tail. kPointInTimeRecovery accepts
// any torn tail, and the other modes cannot tell it from a loss. Spare logs already have their
// space, so they are not mapped, and no log is mapped if they are in use.
vfs::FileOptions LogFileOptions(const DBOptions& options) {
  const bool point_in_time = options.wal_recovery_mode == WALRecoveryMode::kPointInTimeRecovery;
  const bool mapped = options.allow_mmap_writes && options.allow_fallocate && point_in_time &&
                      !options.manual_wal_flush && ResolveSpareLogsMax(options) == 0;
  return {.use_mmap_writes = mapped,
          .keeps_zero_tail = mapped,
          .unbuffered_appends = true,
          .preallocate_bytes = options.allow_fallocate ? kLogPreallocateBytes : 0,
          .exclusive_create = true};
}

}  // namespace

DatabaseState::DatabaseState(const DBOptions& db_options, std::string directory_path)
    : options(db_options),
      directory(std::move(directory_path)),
      wal_directory(db_options.wal_dir.empty() ? directory : db_options.wal_dir),
      env(db_options.env),
      file_system(env->EngineFiles().get()),
      clock(env->clock()),
      executor(env->executor()),
      recorder(db_options.statistics.get()),
      default_delayed_write_rate(ResolveDefaultDelayedWriteRate(db_options)),
      memory(db_options.write_buffer_manager.get(), &room_check_wanted),
      arena_blocks(ArenaBlockPool::Options{.free_bytes_max = kIdleArenaBytesMax,
                                           .map = &MapPages,
                                           .unmap = &UnmapPages,
                                           .memory = &memory}),
      logs({.file_system = file_system,
            .directory = wal_directory,
            .file_options = LogFileOptions(db_options),
            .compression = db_options.wal_compression,
            .spares_max = ResolveSpareLogsMax(db_options)}),
      open_tables(&epochs, ResolveOpenTablesMax(db_options)),
      log_bytes_max(db_options.max_total_wal_size),
      current_options(db_options) {
  logs.SetWriteBackBytes(db_options.wal_bytes_per_sync);
}

DatabaseState::~DatabaseState() {
  delete family_table.exchange(nullptr);
  DrainEpochs();
}

void DatabaseState::SetFamilies(std::unique_ptr<FamilyTable> families) {
  const FamilyTable* const replaced = family_table.load(std::memory_order_relaxed);
  families->number = replaced == nullptr ? 1 : replaced->number + 1;  // I3 of FamilyTable
  families->CheckInvariants();
  FamilyTable* const old = family_table.exchange(families.release(), std::memory_order_acq_rel);
  if (old != nullptr) epochs.RetireUnderLock(old, 0);
}

std::vector<std::shared_ptr<ColumnFamily>> DatabaseState::LiveFamilies() const {
  return Families().families;
}

Status DatabaseState::CheckNotClosing() const {
  return closing.load(std::memory_order_relaxed)
             ? Status::ShutdownInProgress("the database is being closed")
             : Status::OK();
}

Status DatabaseState::CheckRunsJobs() const {
  ASHLAR_RETURN_IF_ERROR(CheckNotClosing());
  if (RunsJobs()) return Status::OK();
  return Status::ShutdownInProgress(
      "background work has ended: CancelAllBackgroundWork was called, or the database is closed");
}

void DatabaseState::WaitForChange() {
  const uint64_t seen = changes;
  mutex().Unlock();
  const bool ran = executor->RunJobWhileWaiting();
  mutex().Lock();
  if (!ran && changes == seen) changed.Wait(mutex());
}

void DatabaseState::WaitForMemory(uint64_t seen) {
  mutex().Unlock();
  if (!executor->RunJobWhileWaiting()) memory.budget()->WaitForWake(seen);
  mutex().Lock();
}

RecoveryReport DatabaseState::CopyRecoveryReport() const {
  MutexLock held(mutex());
  return recovery;
}

void DatabaseState::CheckInvariants() const {
  const FamilyTable& table = Families();
  table.CheckInvariants();
  for (const std::shared_ptr<ColumnFamily>& family : table.families) {
    family->CheckInvariants();
    const ColumnFamilyState* const recorded = versions->Published().FindFamily(family->id());
    ASHLAR_ASSERT(recorded != nullptr);                                // I1
    ASHLAR_ASSERT(recorded->current == family->version());             // I1
    ASHLAR_ASSERT(recorded->log_number <= family->OldestLogNumber());  // I2
  }
  snapshots.CheckInvariants();
  ASHLAR_ASSERT(snapshots.newest_sequence() <= PublishedSequence());          // I3
  ASHLAR_ASSERT(versions->Published().last_sequence <= PublishedSequence());  // I3
  ASHLAR_ASSERT(background_paused >= 0);                                      // I4
  ASHLAR_ASSERT(!writes_files() || lock != nullptr);  // LOCK is held until Close
  write_controller.CheckInvariants();
  if (memory.budget() != nullptr) memory.budget()->CheckInvariants();
}

void DatabaseState::DrainEpochs() {
  constexpr int kLinksOfTheChain = 4;  // family, view, memtable or table, its blocks
  for (int i = 0; i < kLinksOfTheChain; ++i) epochs.Synchronize();
}

Status DeleteObsoleteFile(const DatabaseState& state, const std::string& path) {
  const bool has_pace = state.space.Paces(path);
  Status deleted = has_pace ? state.space.Delete(path) : state.file_system->DeleteFile(path);
  if (deleted.ok() && !has_pace) state.recorder.Tick(FILES_DELETED_IMMEDIATELY);
  if (!deleted.ok())
    LogWarning(state, StrCat("an obsolete file could not be deleted: ", deleted.ToString()));
  return deleted;
}

void LogInfo(const DatabaseState& state, const std::string& message) {
  if (state.logger != nullptr && state.logger->GetInfoLogLevel() <= INFO_LEVEL)
    state.logger->Log(INFO_LEVEL, message);
}

void LogWarning(const DatabaseState& state, const std::string& message) {
  if (state.logger != nullptr && state.logger->GetInfoLogLevel() <= WARN_LEVEL)
    state.logger->Log(WARN_LEVEL, message);
}

}  // namespace ashlar
