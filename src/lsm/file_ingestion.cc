#include "lsm/file_ingestion.h"

#include <algorithm>
#include <utility>

#include "ashlar/listener.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "lsm/key_overlap.h"
#include "lsm/tree_inputs.h"
#include "observe/event_line.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {

constexpr char kNoPlace[] = "needs a global sequence number, and has no place for one";
constexpr uint64_t kReserveMax = uint64_t{1} << 40;

bool ReservesLastLevel(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex) {
  return CompactedLevels(family) < family.version()->levels();
}

bool Overlap(const KeyComparator& comparator, const FileBounds& a, const FileBounds& b) {
  const TreeView view{.comparator = comparator, .levels = {}, .running = {}};
  return TreeFiles(view).Overlap(a, b);
}

// Returns the bound with its sequence replaced by that of all entries.
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
  if (status.ok()) {
    const uint64_t prepared_nanos = state_->clock->NowNanos();
    state_->recorder.Record(INGEST_EXTERNAL_FILE_PREPARE_TIME,
                            (prepared_nanos - start_nanos) / 1000);
    status = CatchBadAlloc([this] { return InstallAsOftenAsNeeded(); });
    const uint64_t ended_nanos = state_->clock->NowNanos();
    state_->recorder.Record(INGEST_EXTERNAL_FILE_RUN_TIME, (ended_nanos - prepared_nanos) / 1000);
  }
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
  std::unordered_set<const ColumnFamily*> named;
  for (const Request& request : requests_) {
    if (!named.insert(request.family.get()).second) {
      return Status::InvalidArgument(NameForDisplay(request.family->name()),
                                     "the column family is named twice");
    }
    ASHLAR_RETURN_IF_ERROR(CheckRequest(request));
  }
  return Status::OK();
}

Status FileIngestion::CheckRequest(const Request& request) {
  const IngestExternalFileOptions& options = request.options;
  const std::string name = NameForDisplay(request.family->name());
  if (request.paths.empty())
    return Status::InvalidArgument(name, "no file is named for the column family");
  if (options.move_files && options.link_files)
    return Status::InvalidArgument("move_files and link_files exclude each other");
  if (options.allow_db_generated_files && (options.ingest_behind || options.write_global_seqno)) {
    return Status::InvalidArgument(
        "allow_db_generated_files excludes ingest_behind and write_global_seqno: the entries of "
        "such a table keep their sequence numbers");
  }
  const size_t checksums = request.checksums.size();
  if (checksums != request.checksum_functions.size() ||
      (checksums != 0 && checksums != request.paths.size())) {
    return Status::InvalidArgument(
        name, "give files_checksums and files_checksum_func_names for each file, or none of them");
  }
  if (std::count(request.checksum_functions.begin(), request.checksum_functions.end(), "") > 0)
    return Status::InvalidArgument(name, "one of files_checksum_func_names is empty");
  return Status::OK();
}

Status FileIngestion::Prepare() {
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  families_.reserve(requests_.size());
  for (const Request& request : requests_) {
    Family& family = families_.emplace_back(Family{.request = &request, .options = {}});
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(request.family->CheckNotDropped());
    family.options = request.family->options();
    if (request.options.ingest_behind && !ReservesLastLevel(*request.family)) {
      return Status::InvalidArgument(
          NameForDisplay(request.family->name()),
          "ingest_behind requires that the database is opened with allow_ingest_behind, with more "
          "than one level, and without FIFO compaction");
    }
  }
  // All files are inspected before the first one is taken.
  for (Family& family : families_) ASHLAR_RETURN_IF_ERROR(PrepareFamily(&family));
  ASHLAR_RETURN_IF_ERROR(TakeFiles());
  for (Family& family : families_) {
    for (File& file : family.files) LookForKeys(family, &file);
  }
  return Status::OK();
}

Status FileIngestion::PrepareFamily(Family* family) {
  const Request& request = *family->request;
  const IngestExternalFileOptions& options = request.options;
  ExternalFileArgs args{.state = state_,
                        .family = family->family().get(),
                        .options = family->options,
                        .verify_blocks = options.verify_checksums_before_ingest,
                        .verify_given_checksum = options.verify_file_checksum,
                        .may_be_of_database = options.allow_db_generated_files,
                        .any_family = options.allow_db_generated_files};
  family->files.reserve(request.paths.size());
  for (size_t i = 0; i < request.paths.size(); ++i) {
    FileChecksum given;
    if (!request.checksums.empty()) {
      given = {.value = request.checksums[i], .function = request.checksum_functions[i]};
      args.given_checksum = &given;
    }
    ASHLAR_ASSIGN_OR_RETURN(ExternalFile external, InspectExternalFile(args, request.paths[i]));
    if (family->WritesSequences() && external.properties.external_sst_file_global_seqno_offset == 0)
      return Status::InvalidArgument(external.path, kNoPlace);
    family->files.push_back({.external = std::move(external)});
  }
  family->files_overlap = FilesOverlap(*family);
  return Status::OK();
}

bool FileIngestion::FilesOverlap(const Family& family) {
  const KeyComparator& comparator = family.family()->comparator();
  std::vector<FileBounds> bounds;
  bounds.reserve(family.files.size());
  for (const File& file : family.files) bounds.push_back(file.external.bounds());
  std::sort(bounds.begin(), bounds.end(), [&](const FileBounds& a, const FileBounds& b) {
    return comparator.Compare(a.smallest, b.smallest) < 0;
  });
  return std::adjacent_find(bounds.begin(), bounds.end(),
                            [&](const FileBounds& a, const FileBounds& b) {
                              return Overlap(comparator, a, b);
                            }) != bounds.end();
}

Status FileIngestion::TakeFiles() {
  const uint64_t failures_before = state_->directory_handle->failures();
  for (Family& family : families_) {
    if (family.WritesSequences()) ChooseSequences(&family);
    for (File& file : family.files) ASHLAR_RETURN_IF_ERROR(TakeFile(*family.request, &file));
  }
  return state_->directory_handle->Sync(failures_before);  // I7
}

void FileIngestion::ChooseSequences(Family* family) const {
  const SequenceNumber after = state_->PublishedSequence() + reserve_;
  PlacedFiles numbered(family->family()->comparator());
  for (File& file : family->files) {
    const FileBounds bounds = file.external.bounds();
    file.sequence = NextSequence(numbered.Find(bounds), after);
    file.written_sequence = file.sequence;
    if (family->files_overlap) numbered.Add(bounds, 0, file.sequence);
  }
}

SequenceNumber FileIngestion::NextSequence(const PlacedFiles::Overlapping& before,
                                           SequenceNumber after) {
  return std::max(after, before.sequence) + 1;  // I5
}

Status FileIngestion::TakeFile(const Request& request, File* file) {
  TakenFile::Source source{.path = file->external.path,
                           .file_bytes = file->external.file_bytes,
                           .may_link = request.options.move_files || request.options.link_files,
                           .may_copy = request.options.failed_move_fall_back_to_copy,
                           .is_moved = request.options.move_files};
  if (file->written_sequence != 0) {
    source.patch.offset = file->external.properties.external_sst_file_global_seqno_offset;
    PutFixed64(&source.patch.bytes, file->written_sequence);
  }
  ASHLAR_RETURN_IF_ERROR(file->taken.Take(*state_, source));
  FileChecksumGenFactory* const factory = state_->options.file_checksum_gen_factory.get();
  if (file->written_sequence == 0 || factory == nullptr) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(
      file->external.checksum,
      ComputeFileChecksum(state_->file_system, file->taken.path(), factory, std::string()));
  return Status::OK();
}

void FileIngestion::LookForKeys(const Family& family, File* file) const {
  // Files that keep their own sequences are compared with other files only by their ranges.
  if (family.request->options.allow_db_generated_files) return;
  const ViewRef view = family.family()->PinView();
  const Version& version = *view->version;
  const KeyComparator& comparator = family.family()->comparator();
  const FileBounds bounds = file->external.bounds();
  const UserKeyBounds range = bounds.range();
  for (Level level = 0; level < version.levels(); ++level) {
    for (FileMetaData* const other :
         version.OverlappingFiles(level, {.smallest = range.smallest, .largest = range.largest})) {
      // More precise than OverlappingFiles, because the end of a range tombstone is not in a file.
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

Status FileIngestion::InstallAsOftenAsNeeded() {
  for (;;) {
    was_outrun_ = false;
    const Status status = Install();
    if (!was_outrun_) return status;
    reserve_ = std::min(reserve_ * 16, kReserveMax);
    RemoveTaken();
    ASHLAR_RETURN_IF_ERROR(TakeFiles());
  }
}

Status FileIngestion::Install() {
  Families to_flush;
  const auto turn = [&](bool may_flush) {
    return core_->commit.RunExclusiveWrite([&] { return InstallInTurn(may_flush, &to_flush); });
  };
  // Keeps the sync in the turn short, because writers wait for the turn (I7).
  ASHLAR_RETURN_IF_ERROR(core_->commit.SyncDuringWrites());
  ASHLAR_RETURN_IF_ERROR(turn(false));
  if (to_flush.empty()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(
      core_->FlushFamilies(FlushOptions(), to_flush, FlushReason::kExternalFileIngestion));
  to_flush.clear();
  ASHLAR_RETURN_IF_ERROR(turn(true));
  while (!to_flush.empty()) {  // a pause ended the turn; the memtables are switched
    ASHLAR_RETURN_IF_ERROR(
        core_->background.WaitForFlush(to_flush, BackgroundWork::FlushWait::kTables));
    to_flush.clear();
    ASHLAR_RETURN_IF_ERROR(turn(true));
  }
  return Status::OK();
}

Status FileIngestion::InstallInTurn(bool may_flush, Families* to_flush) {
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    ASHLAR_RETURN_IF_ERROR(core_->commit.LeaderSyncLog());  // I7
    const Status installed = TryToInstall(FindUnflushedKeys(), to_flush);
    // Latched here, because listeners must run without the manifest mutex.
    if (publish_failed_) {
      core_->background.LatchError(BackgroundErrorReason::kManifestWrite, "ingestion of files",
                                   installed);
    }
    ASHLAR_RETURN_IF_ERROR(installed);
    if (to_flush->empty() || !may_flush) return Status::OK();
    // The loop ends, because no write arrives in between and so each family is flushed once.
    ASHLAR_RETURN_IF_ERROR(
        core_->commit.LeaderSwitchMemTables(*to_flush, FlushReason::kExternalFileIngestion));
    const Status flushed = core_->background.LeaderWaitForFlush(*to_flush);
    if (flushed.IsBusy()) return Status::OK();  // writers do not wait for the end of a pause
    ASHLAR_RETURN_IF_ERROR(flushed);
    to_flush->clear();
  }
}

std::vector<bool> FileIngestion::FindUnflushedKeys() const {
  std::vector<bool> found;
  for (const Family& family : families_) {
    if (family.request->options.ingest_behind) {  // keys in memtables may stay above
      found.push_back(false);
      continue;
    }
    const KeyComparator& comparator = family.family()->comparator();
    const ViewRef view = family.family()->PinView();
    found.push_back(std::any_of(family.files.begin(), family.files.end(), [&](const File& file) {
      return HasUnflushedKey(*view.get(), comparator, file.external.bounds());
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
    for (const Family& family : families_) {
      ASHLAR_ASSERT(!family.family()->ingesting);  // one turn at a time
      family.family()->ingesting = true;           // I4
    }
    state_->snapshots_wait = HasEntriesForSnapshots();  // I11
  }
  SequenceNumber last_sequence = state_->PublishedSequence() + 1;  // I10
  for (const Family& family : families_) {
    last_sequence = std::max(last_sequence, family.last_sequence);
    for (const File& file : family.files)
      last_sequence = std::max(last_sequence, file.external.largest_sequence);
  }
  const Status status = CatchBadAlloc([&]() -> Status {
    kManifestMutex.AssertHeld();
    if (last_sequence > kSequenceNumberMaxAtOpen)
      return Status::Corruption(StrCat("the files need the sequence number ", last_sequence,
                                       ", above the highest that is allowed, ",
                                       kSequenceNumberMaxAtOpen));
    return Publish(last_sequence, MakeEdits(last_sequence));
  });
  if (!status.ok()) EndPlanning();
  return status;
}

Status FileIngestion::Plan(const std::vector<bool>& flush_needed, Families* to_flush) {
  for (size_t i = 0; i < families_.size(); ++i) {
    Family& family = families_[i];
    ASHLAR_RETURN_IF_ERROR(family.family()->CheckNotDropped());
    ASHLAR_RETURN_IF_ERROR(PlanFamily(&family));
    if (family.family()->OldestUnflushed() == kSequenceNumberMax) continue;
    const bool to_level0 = std::any_of(family.files.begin(), family.files.end(),
                                       [](const File& file) { return file.level == 0; });
    const bool waits = to_level0 && family.family()->policy().MergesWithinLevel0Only();
    if (!flush_needed[i] && !waits) continue;  // I2, I3
    if (!family.request->options.allow_blocking_flush) {
      return Status::InvalidArgument(
          NameForDisplay(family.family()->name()),
          "a memtable of the column family has to be flushed, and allow_blocking_flush is off; "
          "turn it on, or flush the column family first");
    }
    to_flush->push_back(family.family());
  }
  return Status::OK();
}

Status FileIngestion::PlanFamily(Family* family) {
  const ColumnFamily& of = *family->family();
  const IngestExternalFileOptions& options = family->request->options;
  Placing placing{.options = &options,
                  .view = MakeWholeTreeView(*state_, of),
                  .rules = of.policy().MakeIngestionRules(MakeTreeSizes(of)),
                  .placed = PlacedFiles(of.comparator())};
  const bool snapshot_held = placing.view.oldest_snapshot != kSequenceNumberMax;
  const bool others_wait = families_.size() > 1 && options.allow_global_seqno;  // I6
  placing.must_hide = options.snapshot_consistency && snapshot_held;
  placing.must_number = others_wait || placing.must_hide || ReservesLastLevel(of);  // I5
  placing.may_number = options.snapshot_consistency && options.allow_global_seqno;  // I1
  family->last_sequence = 0;
  for (File& file : family->files) {
    ASHLAR_RETURN_IF_ERROR(options.ingest_behind ? PlaceBehind(placing, &file)
                                                 : PlaceAbove(placing, *family, &file));
    if (family->files_overlap)
      placing.placed.Add(file.external.bounds(), file.level, file.sequence);
    family->last_sequence = std::max(family->last_sequence, file.sequence);
  }
  if constexpr (kDebugChecks) CheckPlan(placing, *family);
  return Status::OK();
}

void FileIngestion::CheckPlan(const Placing& placing, const Family& family) const {
  const bool behind = placing.options->ingest_behind;
  for (const File& file : family.files) {
    ASHLAR_ASSERT(file.level < placing.view.num_levels());  // the level exists
    ASHLAR_ASSERT(!behind || file.sequence == 0);           // below all existing data
    ASHLAR_ASSERT(file.sequence == 0 || file.sequence > state_->PublishedSequence());  // I1
    // Level 0 is ordered by sequences.
    ASHLAR_ASSERT(file.level > 0 || file.sequence > 0 || file.external.made_by_database);
    if (!family.files_overlap || file.external.made_by_database) continue;
    for (const File& earlier : family.files) {
      if (&earlier == &file) break;
      ASHLAR_ASSERT(
          earlier.sequence < file.sequence ||  // I5
          !Overlap(placing.view.comparator, earlier.external.bounds(), file.external.bounds()));
    }
  }
}

Status FileIngestion::PlaceBehind(const Placing& placing, File* file) const {
  const TreeView& view = placing.view;
  const FileBounds bounds = file->external.bounds();
  file->sequence = 0;
  file->level = view.num_levels() - 1;
  if (placing.placed.Find(bounds).any || !FitsBelow(view, file->level, bounds)) {
    return Status::InvalidArgument(
        file->external.path,
        "does not fit behind: other files that were ingested behind are in its range");
  }
  for (Level level = 0; level < file->level; ++level) {
    for (const FileMetaData* const other : view.files(level)) {
      if (other->smallest_sequence > 0 || !TreeFiles(view).Overlap(*other, bounds.range()))
        continue;
      return Status::InvalidArgument(
          file->external.path,
          StrCat("does not fit behind: table ", other->number, " of level ", level,
                 " may have entries with sequence number 0 in its range"));
    }
  }
  return Status::OK();
}

Status FileIngestion::PlaceAbove(const Placing& placing, const Family& family, File* file) {
  const IngestExternalFileOptions& options = *placing.options;
  const ExternalFile& external = file->external;
  const IngestedRange range{.bounds = external.bounds(), .without_keys = &file->without_keys};
  const PlacedFiles::Overlapping before = placing.placed.Find(range.bounds);
  std::vector<PlacedRange> earlier;
  if (before.any) earlier.push_back({.bounds = range.bounds, .level = before.level});
  IngestionPlace place = PlaceIngestedFile(placing.view, placing.rules, range, earlier);
  if (place.level == 0 && !options.allow_global_seqno && !external.made_by_database) {
    // Level 0 is ordered by sequences, so a file without a number takes any other level.
    IngestionRules any_level = placing.rules;
    any_level.base_level = 1;
    any_level.fills_levels_only = false;
    place = PlaceIngestedFile(placing.view, any_level, range, earlier);
  }
  file->level = place.level;
  ASHLAR_ASSERT(file->level <= placing.rules.last_level);  // not the reserved one
  if (options.fail_if_not_bottommost_level && file->level != placing.rules.last_level) {
    return Status::TryAgain(external.path,
                            StrCat("fits into level ", file->level, ", not into the last one, ",
                                   placing.rules.last_level,
                                   "; compact its range, or unset fail_if_not_bottommost_level"));
  }
  if (external.made_by_database) {
    file->sequence = 0;
    return CheckKeepsItsSequences(placing, family, *file);
  }
  const SequenceNumber published = state_->PublishedSequence();
  if (file->written_sequence != 0) {
    file->sequence = file->written_sequence;
    if (file->sequence > published) return Status::OK();
    was_outrun_ = true;  // I9
    return Status::TryAgain(external.path, "writers were faster than the copy of the file");
  }
  file->sequence = 0;
  // Level 0 is ordered by sequences.
  const bool numbered =
      placing.must_number || (placing.may_number && external.takes_global_sequence);
  if (!place.covers_older && file->level > 0 && !numbered) return Status::OK();
  if (!options.allow_global_seqno) {
    return Status::InvalidArgument(
        external.path,
        "needs a global sequence number, because other data may be at its keys, it goes to level "
        "0, or a snapshot is held; and allow_global_seqno is off");
  }
  if (!external.takes_global_sequence) return Status::InvalidArgument(external.path, kNoPlace);
  file->sequence = NextSequence(before, published);
  return Status::OK();
}

Status FileIngestion::CheckKeepsItsSequences(const Placing& placing, const Family& family,
                                             const File& file) const {
  const ExternalFile& external = file.external;
  if (PlaceIngestedFile(placing.view, placing.rules, {.bounds = external.bounds()}, {})
          .covers_older) {
    return Status::InvalidArgument(
        external.path,
        "is a database's table, and older data are in its range; delete them and "
        "compact the range first");
  }
  if (placing.must_hide && external.smallest_sequence <= state_->snapshots.newest_sequence()) {
    return Status::InvalidArgument(
        external.path,
        "is a database's table, and a snapshot that is held would see its entries; release the "
        "snapshot, or turn snapshot_consistency off");
  }
  for (const File& earlier : family.files) {
    if (&earlier == &file || !family.files_overlap) break;
    if (external.smallest_sequence <= earlier.external.largest_sequence &&
        Overlap(placing.view.comparator, earlier.external.bounds(), external.bounds())) {
      return Status::InvalidArgument(
          external.path,
          "is a database's table, and an earlier file of the call has newer entries in its range; "
          "name the files from old to new");
    }
  }
  return Status::OK();
}

bool FileIngestion::HasEntriesForSnapshots() const {
  const SequenceNumber published = state_->PublishedSequence();
  const auto would_be_seen = [published](const File& file) {
    const ExternalFile& external = file.external;
    return (external.made_by_database ? external.smallest_sequence : file.sequence) <= published;
  };
  return std::any_of(families_.begin(), families_.end(), [&](const Family& family) {
    const IngestExternalFileOptions& options = family.request->options;
    return options.snapshot_consistency && !options.ingest_behind &&
           std::any_of(family.files.begin(), family.files.end(), would_be_seen);
  });
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
      // TryToInstall took the largest of all.
      ASHLAR_ASSERT(file.sequence <= last_sequence && external.largest_sequence <= last_sequence);
      auto meta = std::make_unique<FileMetaData>();
      ASHLAR_ASSERT(file.taken.number() != 0);  // TakeFile
      meta->number = file.taken.number();
      meta->file_bytes = external.file_bytes;
      const bool numbered = !external.made_by_database;
      meta->smallest =
          numbered ? WithSequence(external.smallest, file.sequence) : external.smallest;
      meta->largest = numbered ? WithSequence(external.largest, file.sequence) : external.largest;
      meta->smallest_sequence = numbered ? file.sequence : external.smallest_sequence;
      meta->largest_sequence = numbered ? file.sequence : external.largest_sequence;
      meta->checksum = external.checksum.value;
      meta->checksum_function = external.checksum.function;
      meta->creation_unix_seconds = now;
      const uint64_t created = external.properties.creation_time;
      meta->oldest_ancestor_unix_seconds = created != 0 ? created : now;
      meta->LearnCounts(external.properties);
      meta->has_ranges =
          external.properties.num_range_deletions > 0 ? HasRanges::kYes : HasRanges::kUnknown;
      edit.AddFile(file.level, std::move(meta));
    }
  }
  return edits;
}

Status FileIngestion::Publish(SequenceNumber last_sequence, std::vector<VersionEdit> edits) {
  VersionInstaller& installer = core_->background.installer();
  ASHLAR_ASSIGN_OR_RETURN(const VersionInstaller::Prepared prepared,
                          installer.Prepare(std::move(edits), [](std::span<VersionEdit>) {}));
  ASHLAR_ASSERT(last_sequence > state_->PublishedSequence());  // I10
  // From here on the tables belong to versions, or wait for deletion.
  for (Family& family : families_) {
    for (File& file : family.files) file.taken.Keep();
  }
  const Status published = installer.Publish(prepared, [&] {
    kDatabaseMutex.AssertHeld();
    for (const Family& family : families_) {
      family.family()->NoteIngested(last_sequence);  // I8
      family.family()->ingesting = false;
    }
    state_->snapshots_wait = false;
  });
  publish_failed_ = !published.ok();
  return published;
}

void FileIngestion::EndPlanning() {
  MutexLock lock(state_->mutex());
  for (const Family& family : families_) {
    family.family()->ingesting = false;
    core_->background.ViewChanged(family.family());
  }
  state_->snapshots_wait = false;
  state_->NotifyChange();
}

// ---- After the turn.

void FileIngestion::RemoveTaken() noexcept {
  for (Family& family : families_) {
    for (File& file : family.files) file.taken.Remove(state_->file_system);
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
      .Add("file_number", file.taken.number())
      .Add("level", file.level)
      .Add("global_seqno", file.sequence)
      .Add("file_size", file.external.file_bytes)
      .Add("linked", file.taken.is_linked() ? 1 : 0);
  const ExternalFileIngestionInfo info{.cf_name = family.family()->name(),
                                       .external_file_path = file.external.path,
                                       .internal_file_path = file.taken.path(),
                                       .global_seqno = file.sequence,
                                       .table_properties = file.external.properties};
  NotifyAll(state_->options.listeners, &EventListener::OnExternalFileIngested, state_->db, info);
}

}  // namespace ashlar
