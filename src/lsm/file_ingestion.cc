#include "lsm/file_ingestion.h"

#include <algorithm>
#include <utility>

#include "ashlar/listener.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "lsm/tree_inputs.h"
#include "memtable/memtable_cursor.h"
#include "observe/event_line.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {

// Whether the fragments have a part of the range.
bool HasPart(const FragmentedRanges& ranges, const KeyComparator& comparator,
             const FileBounds& bounds) {
  FragmentedRanges::Cursor at(&ranges);
  at.Seek(bounds.smallest);
  if (!at.Valid()) return false;
  const int r = comparator.Compare(at.begin(), bounds.largest);
  return r < 0 || (r == 0 && !bounds.excludes_largest);
}

// Whether the source has an entry in the range. An error counts as one.
bool HasEntry(InternalCursor* cursor, const KeyComparator& comparator, const FileBounds& bounds) {
  cursor->Seek(MakeInternalKey(bounds.smallest, kSequenceNumberMax, ValueType::kMax));
  if (!cursor->Valid()) return !cursor->status().ok();
  const int r = comparator.Compare(ExtractUserKey(cursor->key()), bounds.largest);
  return r < 0 || (r == 0 && !bounds.excludes_largest);
}

bool HasKey(const MemTable& table, const KeyComparator& comparator, const FileBounds& bounds) {
  if (table.IsEmpty()) return false;
  if (table.HasRangeDeletions()) {
    constexpr SequenceNumber kNewest[] = {kSequenceNumberMax};
    if (HasPart(table.Ranges(kNewest), comparator, bounds)) return true;
  }
  MemTableCursor cursor(&table, MemTableCursor::Hold::kBorrowed, nullptr);
  return HasEntry(&cursor, comparator, bounds);
}

bool HasKey(FileMetaData* file, TableCache* tables, const KeyComparator& comparator,
            const FileBounds& bounds) {
  constexpr TableReadOptions kUncached{.fill_cache = false};
  const Result<TableRef> table = tables->Acquire(file, kUncached);
  if (!table.ok() || HasPart((*table)->ranges(), comparator, bounds)) return true;
  return HasEntry((*table)->NewCursor(kUncached).get(), comparator, bounds);
}

bool HasUnflushedWrites(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex) {
  return !family.immutable().empty() || !family.ActiveLocked()->IsEmpty();
}

IngestionRules RulesOf(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex) {
  const Version& version = *family.version();
  IngestionRules rules;
  rules.last_level = version.levels() - 1;
  rules.base_level = family.policy().BaseLevel(MakeTreeSizes(version));
  rules.only_level0 = family.options().compaction_style == kCompactionStyleFIFO;
  rules.fills_levels_only = family.options().compaction_style == kCompactionStyleUniversal;
  return rules;
}

// With the sequence of all entries in the place of theirs.
std::string WithSequence(const std::string& bound, SequenceNumber sequence) {
  if (ExtractTag(bound) == kRangeEndTag) return bound;
  return MakeInternalKey(ExtractUserKey(bound), sequence, ExtractType(bound));
}

}  // namespace

FileIngestion::FileIngestion(LsmCore* core, std::span<const Request> requests)
    : core_(core), state_(core->state.get()), requests_(requests) {}

Status FileIngestion::Run() {
  ASHLAR_RETURN_IF_ERROR(CheckRequests());
  ASHLAR_RETURN_IF_ERROR(core_->background.BeginFileCall());
  const uint64_t start_nanos = state_->clock->NowNanos();
  Status status = CatchBadAlloc([this] { return Prepare(); });
  const uint64_t prepared_nanos = state_->clock->NowNanos();
  if (status.ok()) status = CatchBadAlloc([this] { return Install(); });
  const uint64_t ended_nanos = state_->clock->NowNanos();
  state_->recorder.Record(INGEST_EXTERNAL_FILE_PREPARE_TIME, (prepared_nanos - start_nanos) / 1000);
  state_->recorder.Record(INGEST_EXTERNAL_FILE_RUN_TIME, (ended_nanos - prepared_nanos) / 1000);
  RemoveTaken();
  if (status.ok()) IgnoreBadAlloc([this] { Finish(); });
  core_->background.files().DeleteObsoleteFiles();
  core_->background.outbox().Notify();
  core_->background.EndFileCall();
  return status;
}

// ---- Outside of the turn.

Status FileIngestion::CheckRequests() const {
  if (requests_.empty()) return Status::InvalidArgument("no column family is named");
  for (size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    const IngestExternalFileOptions& options = request.options;
    const std::string& name = request.family->name();
    if (request.paths.empty())
      return Status::InvalidArgument(name, "no file is named for the column family");
    for (size_t j = 0; j < i; ++j) {
      if (requests_[j].family == request.family)
        return Status::InvalidArgument(name, "the column family is named twice");
    }
    if (options.move_files && options.link_files)
      return Status::InvalidArgument("move_files and link_files exclude each other");
    if (options.ingest_behind)
      return Status::NotSupported("IngestExternalFileOptions::ingest_behind is not implemented");
    if (options.write_global_seqno) {
      return Status::NotSupported(
          "IngestExternalFileOptions::write_global_seqno is not implemented; the MANIFEST records "
          "the number");
    }
  }
  return Status::OK();
}

Status FileIngestion::Prepare() {
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  families_.reserve(requests_.size());
  for (const Request& request : requests_) {
    Family& family = families_.emplace_back(Family{.request = &request, .options = {}});
    MutexLock lock(state_->mutex());
    if (request.family->dropped()) return Status::ColumnFamilyDropped(request.family->name());
    family.options = request.family->options();
  }
  // All are looked at before the first is taken.
  for (Family& family : families_) ASHLAR_RETURN_IF_ERROR(PrepareFamily(&family));
  for (Family& family : families_) {
    for (File& file : family.files) ASHLAR_RETURN_IF_ERROR(TakeFile(*family.request, &file));
  }
  ASHLAR_RETURN_IF_ERROR(state_->directory_handle->Sync());  // I7
  for (Family& family : families_) {
    for (File& file : family.files) LookForKeys(family, &file);
  }
  return Status::OK();
}

Status FileIngestion::PrepareFamily(Family* family) {
  const IngestExternalFileOptions& options = family->request->options;
  const ExternalFileArgs args{.state = state_,
                              .family = family->family().get(),
                              .options = family->options,
                              .verify_blocks = options.verify_checksums_before_ingest,
                              .may_be_of_database = options.allow_db_generated_files,
                              .any_family = options.allow_db_generated_files};
  family->files.reserve(family->request->paths.size());
  for (const std::string& path : family->request->paths) {
    ASHLAR_ASSIGN_OR_RETURN(ExternalFile external, InspectExternalFile(args, path));
    family->files.push_back({.external = std::move(external)});
  }
  return Status::OK();
}

Status FileIngestion::TakeFile(const Request& request, File* file) {
  file->number = state_->versions->NewFileNumber();
  file->path = TableFileName(state_->directory, file->number);
  file->taken = true;
  if (request.options.move_files || request.options.link_files) {
    const Status linked = LinkFile(state_->file_system, file->external.path, file->path);
    file->linked = linked.ok();
    if (linked.ok()) return linked;
    // The link may exist although a call failed, and a copy must not be written into it.
    const Status removed = state_->file_system->DeleteFile(file->path);
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
    if (!request.options.failed_move_fall_back_to_copy)
      return linked.WithContext(file->external.path);
  }
  ASHLAR_RETURN_IF_ERROR(CopyToNewFile(state_->file_system, file->external.path, file->path));
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(state_->file_system->GetFileSize(file->path, &bytes));
  if (bytes == file->external.file_bytes) return Status::OK();
  return Status::Corruption(file->external.path,
                            StrCat("has ", bytes, " bytes now, and had ", file->external.file_bytes,
                                   ": it was changed meanwhile"));
}

// Whoever wrote the file need not have synced it.
Status FileIngestion::LinkFile(FileSystem* file_system, const std::string& from,
                               const std::string& to) {
  ASHLAR_RETURN_IF_ERROR(file_system->LinkFile(from, to));
  std::unique_ptr<WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->ReopenWritableFile(to, FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

void FileIngestion::LookForKeys(const Family& family, File* file) const {
  // Files with sequences of their own are kept apart from others by their ranges.
  if (family.request->options.allow_db_generated_files) return;
  const ViewRef view = family.family()->PinView();
  const Version& version = *view->version;
  const KeyComparator& comparator = family.family()->comparator();
  const FileBounds bounds = file->external.bounds();
  const UserKeyBounds range = bounds.range();
  for (Level level = 0; level < version.levels(); ++level) {
    for (FileMetaData* const other : version.files(level)) {
      if (other->EndsBefore(comparator, bounds.smallest)) continue;
      const int r = comparator.Compare(other->smallest_user_key(), *range.largest);
      if (r > 0 || (r == 0 && range.excludes_largest)) {
        if (IsSorted(level)) break;
        continue;
      }
      if (HasKey(other, family.family()->tables(), comparator, bounds)) return;
      file->without_keys.insert(other->number);
    }
  }
}

// ---- The turns.

Status FileIngestion::Install() {
  Families to_flush;
  ASHLAR_RETURN_IF_ERROR(
      core_->commit.RunExclusive([&] { return InstallInTurn(false, &to_flush); }));
  if (to_flush.empty()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(
      core_->FlushFamilies(FlushOptions(), to_flush, FlushReason::kExternalFileIngestion));
  to_flush.clear();
  return core_->commit.RunExclusive([&] { return InstallInTurn(true, &to_flush); });
}

Status FileIngestion::InstallInTurn(bool may_flush, Families* to_flush) {
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    ASHLAR_RETURN_IF_ERROR(TryToInstall(FindUnflushedKeys(), to_flush));
    if (to_flush->empty() || !may_flush) return Status::OK();
    // Ends: no write comes in between, so each family is flushed once.
    ASHLAR_RETURN_IF_ERROR(
        core_->commit.LeaderSwitchMemTables(*to_flush, FlushReason::kExternalFileIngestion));
    ASHLAR_RETURN_IF_ERROR(core_->background.WaitForFlush(*to_flush));
    to_flush->clear();
  }
}

std::vector<bool> FileIngestion::FindUnflushedKeys() const {
  std::vector<bool> found;
  for (const Family& family : families_) {
    const KeyComparator& comparator = family.family()->comparator();
    const ViewRef view = family.family()->PinView();
    found.push_back(std::any_of(family.files.begin(), family.files.end(), [&](const File& file) {
      const FileBounds bounds = file.external.bounds();
      return HasKey(*view->active, comparator, bounds) ||
             std::any_of(
                 view->immutable.begin(), view->immutable.end(),
                 [&](const MemTableRef& table) { return HasKey(*table, comparator, bounds); });
    }));
  }
  return found;
}

Status FileIngestion::TryToInstall(const std::vector<bool>& flush_needed, Families* to_flush) {
  MutexLock installers(state_->manifest_mutex());
  {
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(Plan(flush_needed, to_flush));
    if (!to_flush->empty()) return Status::OK();
    for (const Family& family : families_) family.family()->ingesting = true;  // I4
  }
  SequenceNumber last_sequence = state_->PublishedSequence();
  for (const Family& family : families_) {
    last_sequence = std::max(last_sequence, state_->PublishedSequence() + family.sequences);
    for (const File& file : family.files)
      last_sequence = std::max(last_sequence, file.external.largest_sequence);
  }
  const Status status = CatchBadAlloc([&]() -> Status {
    kManifestMutex.AssertHeld();
    if (last_sequence > kSequenceNumberMaxAtOpen)
      return Status::Corruption("the sequence numbers of the files are too large");
    return Publish(last_sequence, MakeEdits(last_sequence));
  });
  if (!status.ok()) EndPlanning();
  return status;
}

Status FileIngestion::Plan(const std::vector<bool>& flush_needed, Families* to_flush) {
  for (size_t i = 0; i < families_.size(); ++i) {
    Family& family = families_[i];
    if (family.family()->dropped()) return Status::ColumnFamilyDropped(family.family()->name());
    ASHLAR_RETURN_IF_ERROR(PlanFamily(&family));
    const bool to_level0 = std::any_of(family.files.begin(), family.files.end(),
                                       [](const File& file) { return file.level == 0; });
    const bool unflushed = HasUnflushedWrites(*family.family());
    if (!unflushed || (!flush_needed[i] && !to_level0)) continue;  // I2, I3
    if (!family.request->options.allow_blocking_flush) {
      return Status::InvalidArgument(
          family.family()->name(),
          "a memtable of the column family has to be flushed, and allow_blocking_flush is off");
    }
    to_flush->push_back(family.family());
  }
  return Status::OK();
}

Status FileIngestion::PlanFamily(Family* family) {
  const IngestExternalFileOptions& options = family->request->options;
  const TreeView view = MakeTreeView(*state_, *family->family());
  const IngestionRules rules = RulesOf(*family->family());
  const TreeFiles tree(view);
  const bool snapshot_held =
      options.snapshot_consistency && view.oldest_snapshot != kSequenceNumberMax;
  const SequenceNumber published = state_->PublishedSequence();
  std::vector<PlacedRange> placed;
  family->sequences = 0;
  for (File& file : family->files) {
    const FileBounds bounds = file.external.bounds();
    const IngestionPlace place = PlaceIngestedFile(
        view, rules, {.bounds = bounds, .without_keys = &file.without_keys}, placed);
    file.level = place.level;
    // I5: a batch is one sequence; files of a batch do not overlap.
    uint64_t batch = 1;
    SequenceNumber newest_below = 0;
    for (size_t i = 0; i < placed.size(); ++i) {
      if (!tree.Overlap(placed[i].bounds, bounds)) continue;
      const File& earlier = family->files[i];
      if (earlier.sequence > published) batch = std::max(batch, earlier.sequence - published + 1);
      if (earlier.level == 0)
        newest_below = std::max(newest_below, earlier.external.largest_sequence);
    }
    placed.push_back({.bounds = bounds, .level = file.level});
    if (options.fail_if_not_bottommost_level && file.level != rules.last_level) {
      return Status::TryAgain(
          file.external.path,
          StrCat("fits into level ", file.level, ", not into the last one, ", rules.last_level));
    }
    if (file.external.made_by_database) {
      file.sequence = 0;
      if (PlaceIngestedFile(view, rules, {.bounds = bounds}, {}).covers_older) {
        return Status::InvalidArgument(file.external.path,
                                       "is a database's table, and other data are in its range");
      }
      if (file.level == 0 && file.external.largest_sequence <= newest_below) {
        return Status::InvalidArgument(
            file.external.path,
            "is a database's table, and an earlier file of the call has newer entries in its "
            "range; name the files from old to new");
      }
      continue;
    }
    // Level 0 is ordered by sequences.
    const bool numbered = place.covers_older || file.level == 0 || snapshot_held;
    file.sequence = numbered ? published + batch : 0;
    if (!numbered) continue;
    if (!options.allow_global_seqno) {
      return Status::InvalidArgument(
          file.external.path,
          "needs a global sequence number, because other data may be at its keys, it goes to level "
          "0, or a snapshot is held; and allow_global_seqno is off");
    }
    if (!file.external.takes_global_sequence) {
      return Status::InvalidArgument(file.external.path,
                                     "needs a global sequence number, and has no place for one");
    }
    family->sequences = std::max(family->sequences, batch);
  }
  return Status::OK();
}

std::vector<VersionEdit> FileIngestion::MakeEdits(SequenceNumber last_sequence) const {
  const uint64_t now = state_->clock->NowUnixMicros() / 1000000;
  std::vector<VersionEdit> edits;
  edits.reserve(families_.size());
  for (const Family& family : families_) {
    VersionEdit& edit = edits.emplace_back();
    edit.column_family = family.family()->id();
    edit.last_sequence = last_sequence;
    edit.ReserveNewFiles(family.files.size());
    for (const File& file : family.files) {
      const ExternalFile& external = file.external;
      auto meta = std::make_unique<FileMetaData>();
      meta->number = file.number;
      meta->file_bytes = external.file_bytes;
      const bool numbered = !external.made_by_database;
      meta->smallest =
          numbered ? WithSequence(external.smallest, file.sequence) : external.smallest;
      meta->largest = numbered ? WithSequence(external.largest, file.sequence) : external.largest;
      meta->smallest_sequence = numbered ? file.sequence : external.smallest_sequence;
      meta->largest_sequence = numbered ? file.sequence : external.largest_sequence;
      meta->creation_unix_seconds = now;
      const uint64_t created = external.properties.creation_time;
      meta->oldest_ancestor_unix_seconds = created != 0 ? created : now;
      meta->LearnCounts(external.properties.num_entries, external.properties.num_deletions);
      meta->has_ranges =
          external.properties.num_range_deletions > 0 ? HasRanges::kYes : HasRanges::kUnknown;
      edit.AddFile(file.level, std::move(meta));
    }
  }
  return edits;
}

Status FileIngestion::Publish(SequenceNumber last_sequence, std::vector<VersionEdit> edits) {
  // From here on the tables belong to versions, or wait for deletion.
  for (Family& family : families_) {
    for (File& file : family.files) file.taken = false;
  }
  VersionInstaller& installer = core_->background.installer();
  ASHLAR_ASSIGN_OR_RETURN(const VersionInstaller::Prepared prepared,
                          installer.Prepare(std::move(edits), [](std::span<VersionEdit>) {}));
  const Status published = installer.Publish(prepared, [&] {
    kDatabaseMutex.AssertHeld();
    state_->published_sequence.store(last_sequence, std::memory_order_release);  // I6
    for (const Family& family : families_) {
      family.family()->NoteIngested(last_sequence);  // I8
      family.family()->ingesting = false;
    }
  });
  if (!published.ok()) {
    core_->background.LatchError(BackgroundErrorReason::kManifestWrite, "ingestion of files",
                                 published);
  }
  return published;
}

void FileIngestion::EndPlanning() {
  MutexLock lock(state_->mutex());
  for (const Family& family : families_) {
    family.family()->ingesting = false;
    core_->background.ViewChanged(family.family());
  }
  state_->NotifyChange();
}

// ---- After the turn.

void FileIngestion::RemoveTaken() noexcept {
  for (Family& family : families_) {
    for (File& file : family.files) {
      if (!file.taken) continue;
      // The next open removes the rest: no version names them.
      IgnoreBadAlloc([&] { static_cast<void>(state_->file_system->DeleteFile(file.path).ok()); });
    }
  }
}

void FileIngestion::Finish() {
  for (const Family& family : families_) {
    for (const File& file : family.files) {
      if (family.request->options.move_files) {
        const Status removed = state_->file_system->DeleteFile(file.external.path);
        if (!removed.ok() && !removed.IsPathNotFound()) {
          LogWarning(*state_, StrCat(file.external.path,
                                     " was ingested, and cannot be removed: ", removed.ToString()));
        }
      }
      Report(family, file);
    }
  }
}

void FileIngestion::Report(const Family& family, const File& file) const {
  EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "ingest_finished")
      .Add("cf_name", family.family()->name())
      .Add("external_file", file.external.path)
      .Add("file_number", file.number)
      .Add("level", file.level)
      .Add("global_seqno", file.sequence)
      .Add("file_size", file.external.file_bytes)
      .Add("linked", file.linked ? 1 : 0);
  const ExternalFileIngestionInfo info{.cf_name = family.family()->name(),
                                       .external_file_path = file.external.path,
                                       .internal_file_path = file.path,
                                       .global_seqno = file.sequence,
                                       .table_properties = file.external.properties};
  NotifyAll(state_->options.listeners, &EventListener::OnExternalFileIngested, state_->db, info);
}

}  // namespace ashlar
