#include "lsm/option_changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "config/options_file.h"
#include "config/validate.h"
#include "lsm/options_file.h"
#include "lsm/recovery.h"
#include "lsm/resolve_options.h"

namespace ashlar {

namespace {

constexpr size_t kFamiliesRecordedAtOnce = 32;
constexpr uint64_t kChangesPerFile = 4;  // a quarter of the families
// The file has a few kilobytes for each family. If families are created and dropped one by one, a
// few hundred kilobytes per second are written.
constexpr uint64_t kPauseMicrosPerFamily = 10000;
constexpr uint64_t kPauseMicrosMax = 60000000;

// The new options of a family after those of the database have changed.
struct FamilyOptions {
  std::shared_ptr<ColumnFamily> family;
  ColumnFamilyOptions options;
  CompactionConfig compaction;
};

Status CheckNamesAny(const std::unordered_map<std::string, std::string>& new_options) {
  return new_options.empty() ? Status::InvalidArgument("empty input", "no option is named")
                             : Status::OK();
}

}  // namespace

OptionChanges::OptionChanges(LsmCore* core)
    : state_(core->state.get()), background_(core->background), commit_(core->commit) {}

// ---- Options.

Status OptionChanges::SetOptions(const std::shared_ptr<ColumnFamily>& family,
                                 const std::unordered_map<std::string, std::string>& new_options) {
  ASHLAR_RETURN_IF_ERROR(CheckNamesAny(new_options));
  {
    MutexLock changing(options_file_mutex_);
    ColumnFamilyOptions changed;
    std::vector<UnsupportedOption> recorded;
    {
      MutexLock lock(state_->mutex());
      changed = family->options();
      recorded = state_->unsupported_options;
    }
    const std::shared_ptr<const SliceTransform> extractor = changed.prefix_extractor;
    ASHLAR_RETURN_IF_ERROR(ChangeMutableOptions(new_options, &changed));
    // An equal transform stays the same object, because tables and iterators compare pointers.
    const bool both = extractor != nullptr && changed.prefix_extractor != nullptr;
    if (both && extractor->GetId() == changed.prefix_extractor->GetId())
      changed.prefix_extractor = extractor;
    ASHLAR_RETURN_IF_ERROR(
        ValidateOptions(state_->options, {ColumnFamilyDescriptor(family->name(), changed)}));
    FillDefaults(&changed);
    const std::vector<UnsupportedOption> unset =
        SelectUnset(recorded, state_->options, {ColumnFamilyDescriptor(family->name(), changed)});
    MutexLock lock(state_->mutex());
    CompactionConfig compaction = ResolveCompactionConfig(changed, state_->current_options,
                                                          state_->default_delayed_write_rate);
    family->SetOptions(&changed, std::move(compaction));
    // Once the program has set an object, the recorded one is forgotten, even if it is reset later.
    std::erase_if(state_->unsupported_options, [&](const UnsupportedOption& option) {
      return option.column_family == family->name() &&
             std::find(unset.begin(), unset.end(), option) == unset.end();
    });
    background_.ViewChanged(family);
  }
  commit_.CheckRoomAgain();
  state_->epochs.Reclaim();
  background_.outbox().Notify();
  return WriteOptionsFile();
}

Status OptionChanges::SetDBOptions(
    const std::unordered_map<std::string, std::string>& new_options) {
  ASHLAR_RETURN_IF_ERROR(CheckNamesAny(new_options));
  {
    MutexLock changing(options_file_mutex_);
    DBOptions changed;
    {
      MutexLock lock(state_->mutex());
      changed = state_->current_options;
    }
    ASHLAR_RETURN_IF_ERROR(ChangeMutableOptions(new_options, &changed));
    ASHLAR_RETURN_IF_ERROR(ValidateOptions(changed, {}));
    ASHLAR_RETURN_IF_ERROR(BackgroundWork::StartThreads(changed));
    InstallDBOptions(changed);
    state_->open_tables.SetLimit(ResolveOpenTablesMax(changed));
  }
  background_.outbox().Notify();
  commit_.CheckRoomAgain();
  return WriteOptionsFile();
}

void OptionChanges::InstallDBOptions(const DBOptions& changed) {
  DBOptions stored = changed;
  std::vector<FamilyOptions> families;
  MutexLock installers(state_->manifest_mutex());  // I5
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    families.push_back({.family = family,
                        .options = family->options(),
                        .compaction = ResolveCompactionConfig(family->options(), changed,
                                                              state_->default_delayed_write_rate)});
  }
  // Nothing below throws.
  state_->log_bytes_max.store(changed.max_total_wal_size, std::memory_order_relaxed);
  state_->logs.SetWriteBackBytes(changed.wal_bytes_per_sync);
  state_->versions->SetManifestBytesMax(changed.max_manifest_file_size);
  state_->current_options = std::move(stored);
  background_.SetOptions(changed);
  for (FamilyOptions& of : families) {
    of.family->SetOptions(&of.options, std::move(of.compaction));
    background_.ViewChanged(of.family);
  }
}

// ---- Families.

Result<std::shared_ptr<ColumnFamily>> OptionChanges::CreateFamily(
    const ColumnFamilyOptions& options, const std::string& name) {
  ASHLAR_ASSIGN_OR_RETURN(const ColumnFamilyOptions completed, CompleteNewOptions(options, name));
  // Exclusive, so that the family appears between two groups of writes, and its log number is that
  // of the log of later writes.
  std::shared_ptr<ColumnFamily> added;
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&] {
    return LeaderChangeFamilies("creation of a column family", [&](bool* install_failed) {
      return AddFamily(completed, name, &added, install_failed);
    });
  }));
  return added;
}

Status OptionChanges::LeaderChangeFamilies(std::string_view during, FamilyChange change) {
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  bool install_failed = false;
  const Status changed = change(&install_failed);
  ASHLAR_ASSERT(!install_failed || !changed.ok());  // the error of the install
  if (install_failed) {
    background_.LatchError(BackgroundErrorReason::kManifestWrite, during, changed);
  }
  return changed;
}

Status OptionChanges::AddFamily(const ColumnFamilyOptions& completed, const std::string& name,
                                std::shared_ptr<ColumnFamily>* added, bool* install_failed) {
  ASHLAR_RETURN_IF_ERROR(commit_.LeaderPrepareLogForFamily());
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(NewFamily prepared, PrepareFamily(completed, name, nullptr));
  *added = prepared.family;
  return PublishFamily(std::move(prepared), install_failed);
}

Result<ColumnFamilyOptions> OptionChanges::CompleteNewOptions(const ColumnFamilyOptions& options,
                                                              const std::string& name) const {
  if (name.empty())
    return Status::InvalidArgument("the name of a column family must not be the empty string");
  ColumnFamilyOptions completed = options;
  ASHLAR_RETURN_IF_ERROR(
      ValidateOptions(state_->options, {ColumnFamilyDescriptor(name, completed)}));
  FillDefaults(&completed);
  return completed;
}

Result<OptionChanges::NewFamily> OptionChanges::PrepareFamily(const ColumnFamilyOptions& completed,
                                                              const std::string& name,
                                                              VersionEdit* tables) {
  NewFamily prepared;
  const ColumnFamilySpec spec{.name = name,
                              .comparator = KeyComparator(completed.comparator),
                              .levels = static_cast<Level>(completed.num_levels)};
  const uint64_t log_number = state_->logs.current_number();
  ASHLAR_ASSIGN_OR_RETURN(prepared.install,
                          state_->versions->PrepareAddFamily(spec, log_number, tables));
  const PendingInstall::Change& added = prepared.install->changes().front();
  ASHLAR_ASSERT(state_->Families().Find(added.family->id) == nullptr);  // I1 of FamilyTable
  MutexLock lock(state_->mutex());
  prepared.family = MakeColumnFamily(state_, *added.family, added.version, completed, log_number);
  prepared.families = std::make_unique<FamilyTable>(state_->Families());
  prepared.families->Add(prepared.family);
  ASHLAR_ASSERT(prepared.families->Find(added.family->id) != nullptr);  // FamilyTable::Add
  return prepared;
}

Status OptionChanges::PublishFamily(NewFamily prepared, bool* install_failed) {
  const bool has_tables = prepared.install->changes().front().version->NumFiles() > 0;
  const Status installed =
      background_.installer().Publish({.install = std::move(prepared.install)}, [&] {
        kDatabaseMutex.AssertHeld();
        state_->SetFamilies(std::move(prepared.families));
        ++unrecorded_changes_;
        if (has_tables) background_.ViewChanged(prepared.family);
      });
  *install_failed = !installed.ok();
  return installed;
}

Status OptionChanges::DropFamily(const std::shared_ptr<ColumnFamily>& family) {
  if (family->id() == 0)
    return Status::InvalidArgument("the default column family cannot be dropped");
  return commit_.RunExclusive([&] {
    return LeaderChangeFamilies("drop of a column family", [&](bool* install_failed) {
      return RemoveFamily(family, install_failed);
    });
  });
}

Status OptionChanges::RemoveFamily(const std::shared_ptr<ColumnFamily>& family,
                                   bool* install_failed) {
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PendingInstall> install,
                          state_->versions->PrepareDropFamily(family->id()));
  // The table cannot change before the install, because a change takes the manifest mutex.
  std::unique_ptr<FamilyTable> families;
  {
    MutexLock lock(state_->mutex());
    families = std::make_unique<FamilyTable>(state_->Families());
  }
  families->Remove(family->id());
  ASHLAR_ASSERT(families->Find(family->id()) == nullptr);  // I1 of FamilyTable
  const Status installed = background_.installer().Publish({.install = std::move(install)}, [&] {
    kDatabaseMutex.AssertHeld();
    state_->SetFamilies(std::move(families));
    ++unrecorded_changes_;
    family->MarkDropped();
    std::erase_if(state_->unsupported_options, [&family](const UnsupportedOption& option) {
      return option.column_family == family->name();
    });
    background_.ViewChanged(family);
  });
  *install_failed = !installed.ok();
  return installed;
}

// ---- The file.

Status OptionChanges::RecordFamilyOptions() {
  {
    MutexLock lock(state_->mutex());
    if (MayRecordLater() && RecordLater()) return Status::OK();
  }
  return WriteOptionsFile();
}

bool OptionChanges::MayRecordLater() const {
  return state_->RunsJobs() && !state_->options.fail_if_options_file_error &&
         state_->Families().families.size() > kFamiliesRecordedAtOnce &&
         unrecorded_changes_ < recorded_families_ / kChangesPerFile;  // I4
}

bool OptionChanges::RecordLater() {
  if (is_queued_) return true;
  ASHLAR_ASSERT(recorded_families_ / kChangesPerFile > unrecorded_changes_);  // I4
  const uint64_t pause_micros =
      std::min(recorded_families_ * kPauseMicrosPerFamily, kPauseMicrosMax);
  is_queued_ = state_->executor->ScheduleAfter(pause_micros, Executor::Priority::kHigh,
                                               [pauses = pauses_, this] {
                                                 MutexLock ending(pauses->mutex);
                                                 if (!pauses->stopped) EndPause();  // I3
                                               });
  return is_queued_;
}

// If the job cannot be allocated, the next change or Close records the families. After a cancel no
// job begins, and LifeCycle::Cancel has recorded them.
void OptionChanges::EndPause() {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(is_queued_);  // one pause or job at a time
  is_queued_ = false;
  IgnoreBadAlloc([this] {
    kDatabaseMutex.AssertHeld();
    is_queued_ = background_.RunSoon(Executor::Priority::kHigh, [this] {
      {
        MutexLock locked(state_->mutex());
        ASHLAR_ASSERT(is_queued_);  // this job is queued
        is_queued_ = false;
      }
      // RecordPending has logged its error.
      static_cast<void>(RecordPending().ok());
    });
  });
}

Status OptionChanges::RecordPending() {
  {
    MutexLock lock(state_->mutex());
    if (unrecorded_changes_ == 0) return Status::OK();
  }
  return WriteOptionsFile();
}

Status OptionChanges::WriteOptionsFile() {
  Status written = WriteNewestOptions();
  // Called without the mutex, because listeners are notified of deleted tables and may set options.
  background_.files().DeleteObsoleteFiles();
  return written;
}

Status OptionChanges::WriteNewestOptions() {
  MutexLock changing(options_file_mutex_);
  if (options_file_closed_) return Status::ShutdownInProgress("the database is closed");
  ASHLAR_ASSERT(state_->lock != nullptr);  // I3
  std::vector<ColumnFamilyDescriptor> families;
  uint64_t changes = 0;
  // The change that the file records has already been made. So a failed allocation is an error of
  // the file like any other.
  const Status written = CatchBadAlloc([&] {
    {
      MutexLock lock(state_->mutex());
      for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies())
        families.emplace_back(family->name(), family->options());
      changes = unrecorded_changes_;
    }
    ASHLAR_ASSERT(!families.empty() && families.front().name == kDefaultColumnFamilyName);  // id 0
    return WriteNewOptionsFile(state_, families);
  });
  if (written.ok()) {
    MutexLock lock(state_->mutex());
    recorded_families_ = families.size();
    ASHLAR_ASSERT(unrecorded_changes_ >= changes);  // I4: files are written one by one
    unrecorded_changes_ -= changes;
    return written;
  }
  IgnoreBadAlloc([&] {
    LogWarning(*state_, StrCat("the OPTIONS file could not be written: ", written.ToString()));
  });
  return state_->options.fail_if_options_file_error ? written : Status::OK();
}

void OptionChanges::Stop() {
  {
    MutexLock changing(options_file_mutex_);
    options_file_closed_ = true;
  }
  MutexLock lock(pauses_->mutex);
  pauses_->stopped = true;
}

}  // namespace ashlar
