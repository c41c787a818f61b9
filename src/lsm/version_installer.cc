#include "lsm/version_installer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {
constexpr auto kNothingElse = [] {};
}  // namespace

Status VersionInstaller::Install(std::vector<VersionEdit> edits, WhenPublished when_published) {
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(const Prepared prepared,
                          Prepare(std::move(edits), [](std::span<VersionEdit>) {}));
  return Publish(prepared, when_published);
}

Result<VersionInstaller::Prepared> VersionInstaller::Prepare(std::vector<VersionEdit> edits,
                                                             Complete complete) {
  ASHLAR_ASSERT(!edits.empty());           // an install has an edit
  ASHLAR_ASSERT(state_->lock != nullptr);  // I2 of life_cycle.h
  const NewFilesGuard untaken(state_->versions.get(), &edits);
  Prepared prepared;
  prepared.changed.reserve(edits.size());
  // Not under the database mutex, because a sync of the logs may be in progress.
  std::vector<LogSet::LiveLog> synced_logs;
  if (state_->options.track_and_verify_wals_in_manifest)
    synced_logs = state_->logs.SyncedClosedLogs();
  {
    MutexLock lock(state_->mutex());
    complete(edits);
    CompleteEdits(&edits, synced_logs);
    PrepareViews(edits, &prepared);
  }
  ASHLAR_ASSIGN_OR_RETURN(prepared.install, state_->versions->Prepare(std::move(edits)));
  return prepared;
}

void VersionInstaller::CompleteEdits(std::vector<VersionEdit>* edits,
                                     std::span<const LogSet::LiveLog> synced_logs) const {
  const SequenceNumber published = state_->PublishedSequence();
  ASHLAR_ASSERT(published >=
                state_->versions->Published().last_sequence);  // I3 of database_state.h
  // The edits of an ingestion have the sequences that become published with them.
  for (VersionEdit& edit : *edits)
    edit.last_sequence = std::max(published, edit.last_sequence.value_or(0));
  const bool records_logs = std::any_of(edits->begin(), edits->end(), [](const VersionEdit& edit) {
    return edit.log_number.has_value();
  });
  if (!records_logs) return;
  // I3. Families without data do not record that they need no old log.
  const uint64_t oldest = files_->OldestNeededLog(*edits);
  edits->back().min_log_number_to_keep = oldest;
  // Deletions and additions are in separate edits, because readers take nothing else from such an
  // edit.
  const RecordedLogs& recorded = state_->versions->Published().recorded_logs;
  if (!recorded.empty() && recorded.begin()->first < oldest)
    edits->emplace_back().log_deletion = oldest;
  VersionEdit additions = LogAdditions(synced_logs, oldest, recorded);
  if (additions.RecordsLogs()) edits->push_back(std::move(additions));
}

VersionEdit VersionInstaller::LogAdditions(std::span<const LogSet::LiveLog> logs, uint64_t oldest,
                                           const RecordedLogs& recorded) const {
  VersionEdit edit;
  for (const LogSet::LiveLog& log : logs) {
    const auto on_record = recorded.find(log.number);
    const bool is_known = on_record != recorded.end() && on_record->second == log.bytes;
    if (!log.synced || log.is_empty || log.number < oldest || is_known) continue;
    edit.log_additions.push_back({.number = log.number,
                                  .synced_bytes = log.bytes,
                                  .is_tracked = state_->options.track_and_verify_wals_in_manifest});
  }
  return edit;
}

void VersionInstaller::PrepareViews(std::span<const VersionEdit> edits, Prepared* prepared) const {
  std::unordered_set<const ColumnFamily*> changed;
  for (const VersionEdit& edit : edits) {
    // A flush removes memtables even if it keeps none of their entries.
    const bool changes_files = !edit.new_files().empty() || !edit.deleted_files().empty();
    if (!changes_files && !edit.log_number.has_value()) continue;
    const std::shared_ptr<ColumnFamily>& family = state_->Families().Shared(edit.column_family);
    if (family == nullptr) continue;
    const bool is_first = changed.insert(family.get()).second;
    ASHLAR_ASSERT(is_first);  // one edit of a family changes its view
    family->PrepareView();
    prepared->changed.push_back(family);
  }
}

Status VersionInstaller::Publish(const Prepared& prepared, WhenPublished when_published) {
  ASHLAR_ASSERT(prepared.install != nullptr);  // Prepare
  ASHLAR_ASSERT(state_->lock != nullptr);      // I2 of life_cycle.h
  if (Status written = state_->versions->Write(prepared.install.get()); !written.ok()) {
    if (state_->versions->IsUncertain()) SkipSequences(*prepared.install);
    return written;
  }
  Swap(prepared, when_published);
  for (const FileNumber replaced : state_->versions->TakeReplacedManifests()) {
    IgnoreBadAlloc(
        [&] { state_->obsolete_files.AddOther(DescriptorFileName(state_->directory, replaced)); });
  }
  state_->epochs.Reclaim();
  return Status::OK();
}

void VersionInstaller::SkipSequences(const PendingInstall& install) noexcept {
  const SequenceNumber failed = install.LastSequence();
  MutexLock lock(state_->mutex());
  if (failed > state_->PublishedSequence())
    state_->published_sequence.store(failed, std::memory_order_release);  // no view has an entry
}

// I1: nothing is allocated from here on.
void VersionInstaller::Swap(const Prepared& prepared, WhenPublished when_published) noexcept {
  std::vector<Version*> replaced;
  {
    MutexLock lock(state_->mutex());
    for (const PendingInstall::Change& change : prepared.install->changes()) {
      ColumnFamily* const family = state_->Families().Find(change.family->id);
      if (change.version != nullptr && family != nullptr) family->SetVersion(change.version);
    }
    replaced = state_->versions->Publish(prepared.install.get());
    when_published();
    for (const std::shared_ptr<ColumnFamily>& family : prepared.changed)
      family->InstallPreparedView();  // I2
    const SequenceNumber recorded = state_->versions->Published().last_sequence;
    if (recorded > state_->PublishedSequence())
      state_->published_sequence.store(recorded, std::memory_order_release);  // I4
    for (const std::shared_ptr<ColumnFamily>& family : prepared.changed)
      observer_->ViewChanged(family);
    if constexpr (kDebugChecks) state_->CheckInvariants();
    state_->NotifyChange();
  }
  for (Version* version : replaced) version->Unref();
}

Status VersionInstaller::RecordOwner() {
  std::vector<VersionEdit> edits(1);
  return Install(std::move(edits), kNothingElse);
}

Status VersionInstaller::RecordLogNumbers() {
  std::vector<VersionEdit> edits;
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      VersionEdit& edit = edits.emplace_back();
      edit.column_family = family->id();
      edit.log_number = family->OldestLogNumber();
      ASHLAR_ASSERT(*edit.log_number <= state_->logs.current_number());  // I3 of column_family.h
    }
  }
  return Install(std::move(edits), kNothingElse);
}

Status VersionInstaller::RecordSyncedLogs(std::span<const LogSet::LiveLog> logs) {
  std::vector<VersionEdit> edits;
  edits.push_back(LogAdditions(logs, /*oldest=*/0, /*recorded=*/{}));
  if (!edits[0].RecordsLogs()) return Status::OK();
  return Install(std::move(edits), kNothingElse);
}

}  // namespace ashlar
