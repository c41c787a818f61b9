#include "manifest/version_set.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "manifest/read_without_lock.h"
#include "wal/log_format.h"

namespace ashlar {

namespace {

constexpr FileNumber kFirstManifestNumber = 1;
// The smallest unit that a device writes atomically.
constexpr uint64_t kSectorBytes = 512;
static_assert(log_format::kBlockBytes % kSectorBytes == 0);
// An install with more syncs starts a new MANIFEST, which takes four and a snapshot.
constexpr int kSyncsOfAnInstallMax = 8;

// I5: true if a power cut could remove the bytes from `synced` to `end`, and keep the record that
// is appended at `end`.
bool MustSyncBefore(const std::string& record, uint64_t synced, uint64_t end) {
  const uint64_t last_byte = end + log_format::kHeaderBytes + record.size() - 1;
  return end != synced && synced / kSectorBytes != last_byte / kSectorBytes;
}

void SetAtomicGroup(std::span<VersionEdit> edits) {
  for (size_t i = 0; i < edits.size(); ++i)
    edits[i].atomic_group_remaining = static_cast<uint32_t>(edits.size() - 1 - i);
}

}  // namespace

PendingInstall::~PendingInstall() {
  for (const Change& change : changes_) {
    if (change.version != nullptr) change.version->Unref();
  }
}

SequenceNumber PendingInstall::LastSequence() const {
  SequenceNumber last = 0;
  for (const VersionEdit& edit : edits_) last = std::max(last, edit.last_sequence.value_or(0));
  return last;
}

VersionSet::VersionSet(Args args)
    : args_(std::move(args)),
      live_(args_.drop_file, args_.adopted_file),
      manifest_bytes_max_(args_.manifest_bytes_max) {}

VersionSet::~VersionSet() = default;

Status VersionSet::CreateNewDatabase(vfs::FileSystem* file_system, const std::string& directory,
                                     const std::string& database_id) {
  ASHLAR_RETURN_IF_ERROR(WriteStringToFile(file_system, database_id, IdentityFileName(directory),
                                           Durability::kSynced));
  ASHLAR_ASSIGN_OR_RETURN(const NewManifest manifest,
                          CreateManifest(file_system, directory, kFirstManifestNumber));
  VersionEdit edit;
  edit.log_number = 0;
  edit.next_file_number = kFirstManifestNumber + 1;
  edit.last_sequence = 0;
  ASHLAR_RETURN_IF_ERROR(AppendEdit(edit, manifest.writer.get()));
  ASHLAR_RETURN_IF_ERROR(MakeCurrent(file_system, directory, kFirstManifestNumber, manifest));
  return manifest.writer->Close();
}

Status VersionSet::ListColumnFamilies(vfs::FileSystem* file_system, const std::string& directory,
                                      std::vector<std::string>* names) {
  return ReadWithoutLock([&] { return ReadColumnFamilyNames(file_system, directory, names); });
}

Status VersionSet::ReadColumnFamilyNames(vfs::FileSystem* file_system, const std::string& directory,
                                         std::vector<std::string>* names) {
  names->clear();
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> manifest,
                          ManifestReader::Open(file_system, directory));
  std::map<ColumnFamilyId, std::string> families{{kDefaultFamilyId, kDefaultFamilyName}};
  while (true) {
    VersionEdit edit;
    if (!manifest->Next(&edit)) break;
    if (edit.added_column_family.has_value())
      families[edit.column_family] = *edit.added_column_family;
    if (edit.drops_column_family) families.erase(edit.column_family);
  }
  ASHLAR_RETURN_IF_ERROR(manifest->status());
  for (auto& [id, name] : families) names->push_back(std::move(name));
  return Status::OK();
}

Status VersionSet::Recover(std::span<const ColumnFamilySpec> specs, bool read_only) {
  ManifestReplay replay(ManifestReplay::Args{.file_system = args_.file_system,
                                             .directory = args_.directory,
                                             .specs = specs,
                                             .all_families_must_open = !read_only,
                                             .live = &live_,
                                             .pinned_tables = args_.pinned_tables,
                                             .best_efforts = args_.best_efforts});
  ASHLAR_ASSIGN_OR_RETURN(RecoveredState state, replay.Run());
  kManifestMutex.AssertHeld();  // no other thread has the set yet
  kDatabaseMutex.AssertHeld();
  published_ = std::move(state.published);
  manifest_number_ = state.manifest_number;
  place_ = static_cast<const ManifestPlace&>(state);
  specs_.assign(specs.begin(), specs.end());
  database_id_ = std::move(state.database_id);
  went_back_ = std::move(state.went_back);
  SetNextFileNumber(state.next_file_number);
  if constexpr (kDebugChecks) CheckInvariants();
  return Status::OK();
}

void VersionSet::SetNextFileNumber(FileNumber number) {
  next_file_number_.store(number, std::memory_order_relaxed);
  foreign_number_min_.store(std::min(number, kFileNumberMax) + kFileNumbersUnrecordedMax,
                            std::memory_order_relaxed);
}

void VersionSet::CheckInvariants() const {
  const PublishedState& published = ForInstallers();
  ASHLAR_ASSERT(manifest_number_ < next_file_number());          // I6
  ASHLAR_ASSERT(!uncertain_ || writer_ == nullptr);              // I2
  ASHLAR_ASSERT(published.last_sequence <= kSequenceNumberMax);  // I3 of version_edit.h
  published.families.CheckInvariants();
  ASHLAR_ASSERT(published.FindFamily(kDefaultFamilyId) != nullptr);  // PrepareDropFamily refuses it
  for (const auto& [id, family] : published.families) {
    ASHLAR_ASSERT(id == family->id && id <= published.max_column_family);  // ids are given out once
    ASHLAR_ASSERT(family->current != nullptr);  // the set has a count on it
    family->current->CheckInvariants();
    for (Level level = 0; level < family->current->levels(); ++level) {
      for (const FileMetaData* file : family->current->files(level)) {
        ASHLAR_ASSERT(file->number < next_file_number());  // I6
        live_.CheckIsLive(*file);
      }
    }
  }
  MutexLock lock(quarantine_mutex_);
  ASHLAR_ASSERT(uncertain_ || quarantine_.empty());  // I3
}

Result<VersionSet::ManifestFile> VersionSet::FindManifest() const {
  ManifestFile now;
  ASHLAR_ASSIGN_OR_RETURN(now.number, ReadCurrentFile(args_.file_system, args_.directory));
  now.name = DescriptorFileName(args_.directory, now.number);
  ASHLAR_RETURN_IF_ERROR(args_.file_system->GetFileSize(now.name, &now.bytes));
  return now;
}

Status VersionSet::CheckManifestUnchanged(const ManifestPlace& place) const {
  ASHLAR_ASSIGN_OR_RETURN(const ManifestFile now, FindManifest());
  if (now.number == place.manifest_number && now.bytes == place.manifest_bytes) return Status::OK();
  return Status::TryAgain(now.name, StrCat("another process writes the database: the file has ",
                                           now.bytes, " bytes now"));
}

Status VersionSet::CheckNothingIngestedBefore(SequenceNumber newest,
                                              const ManifestPlace& place) const {
  ASHLAR_ASSIGN_OR_RETURN(const ManifestFile now, FindManifest());
  if (now.number != place.manifest_number)
    return Status::TryAgain(now.name, "has replaced the MANIFEST that was read");
  if (now.bytes == place.manifest_bytes) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> manifest,
                          ManifestReader::OpenNumber(args_.file_system, args_.directory, now.number,
                                                     place.manifest_end));
  VersionEdit edit;
  while (manifest->Next(&edit)) {
    // A flush has a log number, and a compaction deletes tables.
    const bool ingests =
        !edit.new_files().empty() && edit.deleted_files().empty() && !edit.log_number.has_value();
    if (ingests && edit.last_sequence.value_or(0) < newest) {
      return Status::TryAgain(now.name, StrCat("tables were ingested before the write ", newest,
                                               " and after offset ", place.manifest_end));
    }
  }
  return manifest->status();
}

Result<RecoveredState> VersionSet::ReadOn(bool for_writing) const {
  return ManifestReplay(ManifestReplay::Args{.file_system = args_.file_system,
                                             .directory = args_.directory,
                                             .specs = specs_,
                                             .all_families_must_open = for_writing,
                                             .live = &live_,
                                             .pinned_tables = args_.pinned_tables,
                                             .best_efforts = false,
                                             .base = &ForInstallers(),
                                             .base_place = &place_})
      .Run();
}

PublishedState VersionSet::Adopt(RecoveredState state) noexcept {
  PublishedState replaced = std::move(published_);
  published_ = std::move(state.published);
  manifest_number_ = state.manifest_number;
  if (state.next_file_number > next_file_number()) SetNextFileNumber(state.next_file_number);
  place_ = std::move(static_cast<ManifestPlace&>(state));
  if constexpr (kDebugChecks) CheckInvariants();
  return replaced;
}

Result<std::unique_ptr<PendingInstall>> VersionSet::Prepare(std::vector<VersionEdit> edits) {
  ASHLAR_ASSERT(!edits.empty());  // Requires
  Builders builders;
  std::unique_ptr<PendingInstall> install;
  const NewFilesGuard untaken(this, &edits);
  install.reset(new PendingInstall);
  const auto grouped =
      static_cast<size_t>(std::find_if(edits.begin(), edits.end(),
                                       [](const VersionEdit& edit) { return edit.RecordsLogs(); }) -
                          edits.begin());
  if (grouped > 1) SetAtomicGroup(std::span(edits).first(grouped));
  StampAndEncode(&edits, install.get());
  for (VersionEdit& edit : edits)
    ASHLAR_RETURN_IF_ERROR(ApplyEdit(&edit, &builders, install.get()));
  for (const auto& [id, builder] : builders) {
    // Allocated before the version, which has no owner without it.
    PendingInstall::Change* const change = ChangeFor(ForInstallers().FindFamily(id), install.get());
    ASHLAR_ASSIGN_OR_RETURN(change->version, builder->Build());
  }
  install->edits_ = std::move(edits);
  return install;
}

void VersionSet::DiscardNewFiles(std::span<VersionEdit> edits) noexcept {
  for (VersionEdit& edit : edits) {
    for (NewFile& file : edit.new_files()) live_.Discard(std::move(file.owned));
    edit.TakeNewFiles();
  }
}

Status VersionSet::DroppedFamily(ColumnFamilyId id) const {
  // Ids are given out once, and a dropped family leaves nothing else.
  ASHLAR_ASSERT(id <= ForInstallers().max_column_family);
  return Status::ColumnFamilyDropped(StrCat("column family ", id));
}

Status VersionSet::ApplyEdit(VersionEdit* edit, Builders* builders, PendingInstall* install) {
  ASHLAR_ASSERT(!edit->ManipulatesColumnFamily());  // these have calls of their own
  const bool changes_files = !edit->deleted_files().empty() || !edit->new_files().empty();
  // Readers would skip such changes.
  ASHLAR_ASSERT(!edit->RecordsLogs() || (!changes_files && !edit->log_number.has_value()));
  ColumnFamilyState* const family = ForInstallers().FindFamily(edit->column_family);
  if (family == nullptr) return DroppedFamily(edit->column_family);
  if (edit->log_number.has_value()) {
    ASHLAR_ASSERT(*edit->log_number >= family->log_number);  // I4
    ChangeFor(family, install)->log_number = edit->log_number;
  }
  if (!edit->compact_cursors.empty()) {
    PendingInstall::Change* const change = ChangeFor(family, install);
    if (!change->compact_cursors) change->compact_cursors = family->compact_cursors;
    for (const auto& [level, key] : edit->compact_cursors) (*change->compact_cursors)[level] = key;
  }
  if (!changes_files) return Status::OK();
  std::unique_ptr<VersionBuilder>& builder = (*builders)[family->id];
  if (builder == nullptr) {
    builder =
        std::make_unique<VersionBuilder>(VersionBuilder::Args{.comparator = family->comparator,
                                                              .levels = family->levels,
                                                              .base = family->current,
                                                              .live = &live_});
  }
  return builder->Apply(edit).WithContext(
      StrCat("column family \"", NameForDisplay(family->name), "\""));
}

PendingInstall::Change* VersionSet::ChangeFor(ColumnFamilyState* family, PendingInstall* install) {
  const auto [place, is_new] = install->places_.try_emplace(family, install->changes_.size());
  if (!is_new) return &install->changes_[place->second];
  return &install->changes_.emplace_back(PendingInstall::Change{.family = family,
                                                                .version = nullptr,
                                                                .log_number = std::nullopt,
                                                                .compact_cursors = std::nullopt});
}

bool VersionSet::NeedsNewManifest(std::span<const std::string> records) const {
  if (writer_ == nullptr || writer_->bytes() > manifest_bytes_max_) return true;
  uint64_t end = writer_->bytes();
  uint64_t synced = end;
  int syncs = 1;
  for (const std::string& record : records) {
    if (MustSyncBefore(record, synced, end)) {
      synced = end;
      ++syncs;
    }
    end += log_format::kHeaderBytes + record.size();
  }
  return syncs > kSyncsOfAnInstallMax;
}

void VersionSet::StampAndEncode(std::vector<VersionEdit>* edits, PendingInstall* install) {
  for (const VersionEdit& edit : *edits) {
    for (const NewFile& added : edit.new_files())
      install->new_tables_.push_back(added.file->number);
  }
  StampEdits(edits, install);
  // The family and its files are one change. It is not an atomic group, because secondaries of
  // RocksDB since 9.1 refuse a group that adds a family.
  const bool adds_files_of_family =
      edits->size() > 1 && edits->front().added_column_family.has_value();
  if (!adds_files_of_family && !NeedsNewManifest(install->records_)) return;
  install->new_manifest_number_ = NewFileNumber();
  if (ForInstallers().max_column_family > 0 && !edits->front().max_column_family.has_value())
    edits->front().max_column_family = ForInstallers().max_column_family;
  StampEdits(edits, install);
}

void VersionSet::StampEdits(std::vector<VersionEdit>* edits, PendingInstall* install) const {
  install->records_.clear();
  SequenceNumber last_sequence = ForInstallers().last_sequence;
  for (VersionEdit& edit : *edits) {
    last_sequence = std::max(last_sequence, edit.last_sequence.value_or(0));
    edit.last_sequence = last_sequence;
    edit.next_file_number = next_file_number();
    ASHLAR_ASSERT(*edit.next_file_number <= kFileNumberMax);  // I6
    if (!edit.ManipulatesColumnFamily()) edit.previous_log_number = 0;
    edit.EncodeTo(&install->records_.emplace_back());
  }
}

Result<std::unique_ptr<PendingInstall>> VersionSet::PrepareAddFamily(const ColumnFamilySpec& spec,
                                                                     uint64_t log_number,
                                                                     VersionEdit* tables) {
  const PublishedState& published = ForInstallers();
  std::vector<VersionEdit> edits;
  const NewFilesGuard untaken(this, &edits);
  edits.resize(tables == nullptr ? 1 : 2);
  if (tables != nullptr) edits[1] = std::move(*tables);
  ASHLAR_RETURN_IF_ERROR(published.CheckNameIsFree(spec.name));
  if (published.max_column_family >= kColumnFamilyIdMax) {
    return Status::NotSupported(StrCat("column family \"", NameForDisplay(spec.name),
                                       "\" cannot be created: all ids up to ", kColumnFamilyIdMax,
                                       " have been used"));
  }
  std::unique_ptr<PendingInstall> install(new PendingInstall);
  ColumnFamilyState* const family = install->added_family_.Add(
      std::make_unique<ColumnFamilyState>(published.max_column_family + 1, spec));
  edits[0].column_family = family->id;
  edits[0].added_column_family = spec.name;
  edits[0].comparator = spec.comparator.user_comparator()->Name();
  edits[0].log_number = log_number;
  edits[0].max_column_family = family->id;
  VersionBuilder builder(VersionBuilder::Args{
      .comparator = spec.comparator, .levels = spec.levels, .base = nullptr, .live = &live_});
  if (tables != nullptr) {
    // A separate edit, because readers ignore the files of an edit that adds a family.
    edits[1].column_family = family->id;
  }
  StampAndEncode(&edits, install.get());
  if (tables != nullptr) {
    ASHLAR_RETURN_IF_ERROR(builder.Apply(&edits[1]).WithContext(
        StrCat("column family \"", NameForDisplay(spec.name), "\"")));
  }
  PendingInstall::Change* const change = ChangeFor(family, install.get());
  change->log_number = log_number;
  ASHLAR_ASSIGN_OR_RETURN(change->version, builder.Build());
  install->edits_ = std::move(edits);
  return install;
}

Result<std::unique_ptr<PendingInstall>> VersionSet::PrepareDropFamily(ColumnFamilyId id) {
  const PublishedState& published = ForInstallers();
  ColumnFamilyState* const family = published.FindFamily(id);
  if (id == kDefaultFamilyId)
    return Status::InvalidArgument("the column family \"default\" cannot be dropped");
  if (family == nullptr) return DroppedFamily(id);
  std::unique_ptr<PendingInstall> install(new PendingInstall);
  install->dropped_family_ = family;
  std::vector<VersionEdit> edits(1);
  edits[0].column_family = id;
  edits[0].drops_column_family = true;
  edits[0].max_column_family = published.max_column_family;  // otherwise its id could be reused
  StampAndEncode(&edits, install.get());
  install->edits_ = std::move(edits);
  return install;
}

void VersionSet::PreparePublish(PendingInstall* install) {
  install->recorded_logs_ = ForInstallers().recorded_logs;
  for (const VersionEdit& edit : install->edits_) RecordLogs(edit, &install->recorded_logs_);
  install->replaced_.reserve(install->changes_.size() + 1);
  MutexLock lock(quarantine_mutex_);
  quarantine_.insert(install->new_tables_.begin(), install->new_tables_.end());
}

Status VersionSet::WriteRecords(const PendingInstall& install) {
  if (install.new_manifest_number_ != 0) return StartManifest(install);
  uint64_t synced = writer_->bytes();
  for (const std::string& record : install.records_) {
    if (MustSyncBefore(record, synced, writer_->bytes())) {
      const StopWatch watch(args_.recorder, MANIFEST_FILE_SYNC_MICROS);
      ASHLAR_RETURN_IF_ERROR(writer_->Sync());
      synced = writer_->bytes();
    }
    const uint64_t begin = writer_->bytes();
    ASHLAR_RETURN_IF_ERROR(writer_->AddRecord(record));
    ASHLAR_ASSERT(begin == synced ||
                  synced / kSectorBytes == (writer_->bytes() - 1) / kSectorBytes);  // I5
  }
  const StopWatch watch(args_.recorder, MANIFEST_FILE_SYNC_MICROS);
  return writer_->Sync();
}

Status VersionSet::Write(PendingInstall* install) {
  ASHLAR_ASSERT(!install->written_);  // one Write for each install
  ASHLAR_ASSERT(install->new_manifest_number_ != 0 || writer_ != nullptr);  // StampAndEncode
  const auto end_quarantine = [&] {
    MutexLock lock(quarantine_mutex_);
    for (const FileNumber table : install->new_tables_) quarantine_.erase(table);
  };
  const Status prepared = CatchBadAlloc([&] {
    kManifestMutex.AssertHeld();
    PreparePublish(install);
    return Status::OK();
  });
  if (!prepared.ok()) {
    end_quarantine();
    return prepared;
  }
  const Status status = CatchBadAlloc([&] {
    kManifestMutex.AssertHeld();
    return WriteRecords(*install);
  });
  install->written_ = status.ok();
  if (status.ok()) {
    ASHLAR_ASSERT(writer_ != nullptr && !uncertain_);  // I1: it is the MANIFEST of CURRENT
    end_quarantine();
    return status;
  }
  // I3: the new tables stay under quarantine.
  uncertain_ = true;
  writer_.reset();
  return status;
}

Status VersionSet::StartManifest(const PendingInstall& install) {
  const FileNumber number = install.new_manifest_number_;
  replaced_manifests_.push_back(number);  // unless it becomes current
  ASHLAR_ASSIGN_OR_RETURN(NewManifest manifest,
                          CreateManifest(args_.file_system, args_.directory, number));
  ASHLAR_RETURN_IF_ERROR(AppendSnapshot(manifest.writer.get()));
  for (const std::string& record : install.records_)
    ASHLAR_RETURN_IF_ERROR(manifest.writer->AddRecord(record));
  ASHLAR_RETURN_IF_ERROR(MakeCurrent(args_.file_system, args_.directory, number, manifest));
  // The old MANIFEST is no longer read, and every edit in it was synced, so an error of its close
  // does not matter.
  ASHLAR_ASSERT(number > manifest_number_);  // I6
  writer_ = std::move(manifest.writer);
  replaced_manifests_.back() = std::exchange(manifest_number_, number);
  uncertain_ = false;
  MutexLock lock(quarantine_mutex_);
  quarantine_.clear();
  return Status::OK();
}

Status VersionSet::AppendSnapshot(LogWriter* writer) const {
  if (!database_id_.empty()) {
    VersionEdit edit;
    edit.database_id = database_id_;
    ASHLAR_RETURN_IF_ERROR(AppendEdit(edit, writer));
  }
  if (!ForInstallers().recorded_logs.empty()) {
    VersionEdit edit;
    for (const auto& [number, synced_bytes] : ForInstallers().recorded_logs)
      edit.log_additions.push_back(LogAddition{
          .number = number, .synced_bytes = synced_bytes, .is_tracked = args_.tracks_logs});
    ASHLAR_RETURN_IF_ERROR(AppendEdit(edit, writer));
  }
  for (const auto& [id, family] : ForInstallers().families) {
    ASHLAR_RETURN_IF_ERROR(AppendFamily(*family, writer));
  }
  return Status::OK();
}

Status VersionSet::AppendFamily(const ColumnFamilyState& family, LogWriter* writer) const {
  VersionEdit birth;
  birth.column_family = family.id;
  birth.comparator = family.comparator.user_comparator()->Name();
  if (family.id != kDefaultFamilyId) birth.added_column_family = family.name;
  ASHLAR_RETURN_IF_ERROR(AppendEdit(birth, writer));

  VersionEdit tables;
  tables.column_family = family.id;
  tables.log_number = family.log_number;
  tables.last_sequence = ForInstallers().last_sequence;
  // It belongs to the database, and is recorded with the default family, which always exists.
  if (family.id == kDefaultFamilyId && ForInstallers().min_log_number_to_keep != 0)
    tables.min_log_number_to_keep = ForInstallers().min_log_number_to_keep;
  for (const auto& [level, key] : family.compact_cursors)
    tables.compact_cursors.emplace_back(level, key);
  for (Level level = 0; level < family.levels; ++level) {
    for (const FileMetaData* file : family.current->files(level)) tables.ListFile(level, file);
  }
  return AppendEdit(tables, writer);
}

std::vector<Version*> VersionSet::Publish(PendingInstall* install) noexcept {
  ASHLAR_ASSERT(install->written_);  // I1
  std::vector<Version*> replaced = std::move(install->replaced_);
  published_.families.Merge(&install->added_family_);
  for (PendingInstall::Change& change : install->changes_) {
    if (change.log_number.has_value()) {
      ASHLAR_ASSERT(*change.log_number >= change.family->log_number);  // I4
      change.family->log_number = *change.log_number;
    }
    if (change.compact_cursors) change.family->compact_cursors = std::move(*change.compact_cursors);
    if (change.version == nullptr) continue;
    Version* const old =
        std::exchange(change.family->current, std::exchange(change.version, nullptr));
    if (old != nullptr) replaced.push_back(old);
  }
  if (install->dropped_family_ != nullptr) {
    ASHLAR_ASSERT(install->dropped_family_->id !=
                  kDefaultFamilyId);  // PrepareDropFamily refuses it
    replaced.push_back(install->dropped_family_->current);
    published_.families.Erase(install->dropped_family_->id);
  }
  for (const VersionEdit& edit : install->edits_) {
    published_.last_sequence = std::max(published_.last_sequence, edit.last_sequence.value_or(0));
    published_.min_log_number_to_keep =
        std::max(published_.min_log_number_to_keep, edit.min_log_number_to_keep.value_or(0));
    published_.max_column_family =
        std::max(published_.max_column_family, edit.max_column_family.value_or(0));
  }
  published_.recorded_logs.swap(install->recorded_logs_);
  if constexpr (kDebugChecks) CheckInvariants();
  return replaced;
}

void VersionSet::StopWriting() noexcept {
  ASHLAR_ASSERT(writer_ == nullptr);  // a Write that succeeded is final
  uncertain_ = false;
  replaced_manifests_.clear();
  MutexLock lock(quarantine_mutex_);
  quarantine_.clear();
}

Status VersionSet::Close() {
  if (writer_ == nullptr) return Status::OK();
  const std::unique_ptr<LogWriter> writer = std::move(writer_);
  return writer->Close();
}

void VersionSet::MarkFileNumberUsed(FileNumber number) {
  ASHLAR_ASSERT(MayBelong(number));  // I6
  FileNumber next = next_file_number_.load(std::memory_order_relaxed);
  while (next <= number &&
         !next_file_number_.compare_exchange_weak(next, number + 1, std::memory_order_relaxed)) {
  }
}

std::vector<FileNumber> VersionSet::TakeReplacedManifests() noexcept {
  ASHLAR_ASSERT(!uncertain_);  // I3
  return std::exchange(replaced_manifests_, {});
}

std::unordered_set<FileNumber> VersionSet::LiveTables() const {
  std::unordered_set<FileNumber> numbers;
  // In this order: a table of a failed install enters the quarantine before it stops being live.
  live_.AppendNumbers(&numbers);
  MutexLock lock(quarantine_mutex_);
  numbers.insert(quarantine_.begin(), quarantine_.end());
  return numbers;
}

bool VersionSet::IsLive(FileNumber table) const {
  if (live_.Contains(table)) return true;  // in the order of LiveTables
  MutexLock lock(quarantine_mutex_);
  return quarantine_.contains(table);
}

}  // namespace ashlar
