// RepairDB: survey, plan, new tables, a new MANIFEST, the logs.
//
//   LOCK -> every log, table and MANIFEST is read -> PlanRepair -> [dry run: report]
//     -> new tables (from logs first) and tables that no MANIFEST named, synced -> links in lost/,
//        synced -> MANIFEST -> CURRENT (the commit) -> LOCK released -> an ordinary open deletes
//        what the new MANIFEST does not name -> close
//
// I1: before the commit, no file of the database is changed or deleted. A crash leaves the damaged
//     database and new tables, whose entries are all in other files as well.
// I2: at the commit, lost/ has every file that the open will delete. This includes logs, whose
//     writes may be of a family whose edit a MANIFEST lost, or of one that looks dropped.
// I3: after the commit, any open recovers the database, and no log is needed.
//
// Rejected: leaving the logs to the replay of the open. It applies all of a log or nothing, but a
// log may have both writes that the tables have and writes that they lack.
#include "ashlar/repair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "ashlar/merge_operator.h"
#include "ashlar/vfs.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "config/validate.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "key/key_comparator.h"
#include "key/record_kind.h"
#include "lsm/background_work.h"
#include "lsm/database_lock.h"
#include "lsm/lost_files.h"
#include "lsm/lsm_db.h"
#include "lsm/recovery.h"
#include "lsm/resolve_options.h"
#include "manifest/manifest_writer.h"
#include "observe/info_log.h"
#include "repair/log_rewriter.h"
#include "repair/repair_plan.h"
#include "repair/table_rewriter.h"

namespace ashlar {

namespace {

struct FoundFile {
  std::string Path() const { return StrCat(directory, "/", name); }

  std::string directory;
  std::string name;
  FileNumber number = 0;
  uint64_t bytes = 0;
};

// The files of a database, by kind and then by number.
struct FoundFiles {
  std::vector<FoundFile> tables;
  std::vector<FoundFile> manifests;
  std::vector<FoundFile> logs;
  FileNumber largest_number = 0;
};

void RefuseBounds(TableSurvey* table, std::string reason) {
  table->wrong_record = std::move(reason);
  table->recorded_smallest.clear();
  table->recorded_largest.clear();
}

// Refuses recorded bounds that an open would refuse. In a sorted level, the other bounds may not
// fit a corrected one, so all are refused. Requires: all recorded tables of a level.
void CheckBounds(const KeyComparator& comparator, std::vector<TableSurvey*> tables) {
  std::sort(tables.begin(), tables.end(), [&](const TableSurvey* a, const TableSurvey* b) {
    return comparator.CompareInternal(a->recorded_smallest, b->recorded_smallest) < 0;
  });
  const bool is_sorted = IsSorted(tables.front()->level);
  std::vector<TableSurvey*> reversed;
  bool overlap = false;
  const TableSurvey* before = nullptr;
  for (TableSurvey* table : tables) {
    if (!HoldAKey(comparator, table->recorded_smallest, table->recorded_largest))
      reversed.push_back(table);
    overlap |= before != nullptr &&
               comparator.CompareInternal(before->recorded_largest, table->recorded_smallest) >= 0;
    before = table;
  }
  for (TableSurvey* table : reversed)
    RefuseBounds(table, "the MANIFEST has its bounds in the wrong order");
  if (!is_sorted || (reversed.empty() && !overlap)) return;
  for (TableSurvey* table : tables) {
    if (table->wrong_record.empty())
      RefuseBounds(table, "the MANIFEST has wrong bounds of tables in its level");
  }
}

// Returns whether the write's key is within the table's bounds, as key_overlap.h defines it.
bool IsWithin(const KeyComparator& comparator, const FileMetaData& file,
              const BatchRecord& record) {
  const bool is_after_smallest =
      IsRange(record.type) ? comparator.Compare(record.value, file.smallest_user_key()) > 0
                           : comparator.Compare(record.key, file.smallest_user_key()) >= 0;
  const int to_largest = comparator.Compare(record.key, file.largest_user_key());
  return is_after_smallest && (to_largest < 0 || (to_largest == 0 && !file.excludes_largest()));
}

class Repair {
 public:
  Repair(std::string directory, const DBOptions& db_options, FamilyOptions families)
      : directory_(std::move(directory)),
        options_(db_options),
        families_(std::move(families)),
        fs_(options_.env->EngineFiles().get()),
        wal_directory_(options_.wal_dir.empty() ? directory_ : options_.wal_dir),
        surveyor_({.file_system = fs_,
                   .directory = directory_,
                   .options = &options_,
                   .families = &families_,
                   .logged_keys = &logged_keys_}) {}

  Status Run(const RepairOptions& repair_options, RepairReport* report) {
    // Creates no LOCK in a directory of another program.
    ASHLAR_RETURN_IF_ERROR(FindFiles());
    if (found_.tables.empty() && found_.manifests.empty() && found_.logs.empty())
      return Status::InvalidArgument(directory_,
                                     "there are no files of a database; check the path");
    std::unique_ptr<vfs::FileLock> lock;
    ASHLAR_RETURN_IF_ERROR(LockDatabase(fs_, directory_, wal_directory_, &lock));
    ASHLAR_RETURN_IF_ERROR(FindFiles());
    ASHLAR_RETURN_IF_ERROR(Survey());
    ASHLAR_ASSIGN_OR_RETURN(plan_, PlanRepair(findings_, families_));
    const RepairReport made = MakeReport(findings_, plan_);
    if (report != nullptr) *report = made;
    if (repair_options.dry_run || !plan_.needs_repair) return Status::OK();
    WriteToLog(made);
    ASHLAR_RETURN_IF_ERROR(WriteLogs());
    ASHLAR_RETURN_IF_ERROR(WriteTables());
    ASHLAR_RETURN_IF_ERROR(KeepOriginals());
    ASHLAR_RETURN_IF_ERROR(WriteManifest());
    lock.reset();
    return DeleteRest();
  }

 private:
  Status FindFiles() {
    found_ = FoundFiles();
    if (wal_directory_ != directory_) ASHLAR_RETURN_IF_ERROR(FindFilesIn(wal_directory_, true));
    ASHLAR_RETURN_IF_ERROR(FindFilesIn(directory_, false));
    for (std::vector<FoundFile>* files : {&found_.tables, &found_.manifests, &found_.logs}) {
      std::sort(files->begin(), files->end(),
                [](const FoundFile& a, const FoundFile& b) { return a.number < b.number; });
    }
    return Status::OK();
  }

  bool HasLog(FileNumber number) const {
    return std::any_of(found_.logs.begin(), found_.logs.end(),
                       [number](const FoundFile& log) { return log.number == number; });
  }

  Status FindFilesIn(const std::string& directory, bool logs_only) {
    std::vector<std::string> names;
    ASHLAR_RETURN_IF_ERROR(fs_->GetChildren(directory, &names));
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      // A file with a much higher number is foreign.
      if (!ParseFileName(name, &number, &type) || number >= kFileNumbersUnrecordedMax) continue;
      std::vector<FoundFile>* const files = type == FileType::kWalFile          ? &found_.logs
                                            : logs_only                         ? nullptr
                                            : type == FileType::kTableFile      ? &found_.tables
                                            : type == FileType::kDescriptorFile ? &found_.manifests
                                                                                : nullptr;
      if (type != FileType::kInfoLogFile)
        found_.largest_number = std::max(found_.largest_number, number);
      if (files == nullptr) continue;
      // If two logs have the same number, an open reads the one in wal_dir. They may be one file.
      if (files == &found_.logs && HasLog(number)) continue;
      FoundFile file{.directory = directory, .name = name, .number = number, .bytes = 0};
      ASHLAR_RETURN_IF_ERROR(fs_->GetFileSize(file.Path(), &file.bytes));
      files->push_back(std::move(file));
    }
    return Status::OK();
  }

  Status Survey() {
    std::vector<FileNumber> manifests;
    for (const FoundFile& file : found_.manifests) manifests.push_back(file.number);
    ASHLAR_ASSIGN_OR_RETURN(findings_.manifest,
                            SurveyManifests(fs_, directory_, std::move(manifests)));
    findings_.recovery_mode = options_.wal_recovery_mode;
    findings_.largest_number =
        std::max(found_.largest_number, findings_.manifest.next_file_number - 1);
    for (const FoundFile& file : found_.logs) {
      ASHLAR_ASSIGN_OR_RETURN(LogSurvey log, SurveyLog(fs_, file.Path(), file.number));
      for (const auto& [id, writes] : log.writes) {
        for (const LoggedWrite& write : writes) logged_keys_[id].Add(write);
      }
      findings_.logs.push_back(std::move(log));
    }
    return SurveyTables();
  }

  Status SurveyTables() {
    std::map<FileNumber, TableSurvey> tables;
    for (const auto& [id, family] : findings_.manifest.families) {
      if (families_.Find(family.name) == nullptr)
        return Status::InvalidArgument(StrCat("the options of column family \"",
                                              NameForDisplay(family.name), "\", id ", id,
                                              ", are needed: name it in column_families, or give "
                                              "unknown_cf_opts"));
      std::map<Level, std::vector<TableSurvey*>> levels;
      for (const auto& [number, recorded] : family.tables) {
        TableSurvey& table = tables[number];
        levels[recorded.level].push_back(&table);
        table.number = number;
        table.family = id;
        table.family_name = family.name;
        table.is_recorded = true;
        table.level = recorded.level;
        table.recorded_smallest = recorded.file->smallest;
        table.recorded_largest = recorded.file->largest;
        table.recorded_largest_sequence = recorded.file->largest_sequence;
      }
      const KeyComparator comparator(families_.Find(family.name)->comparator);
      for (const auto& [level, files] : levels) CheckBounds(comparator, files);
    }
    for (const bool recorded : {false, true}) {
      for (const FoundFile& file : found_.tables) {
        TableSurvey& table = tables[file.number];
        if (table.is_recorded != recorded) continue;
        table.number = file.number;
        table.file_name = file.name;
        table.file_bytes = file.bytes;
        if (recorded) CheckLength(&table);
        ASHLAR_RETURN_IF_ERROR(surveyor_.Survey(&table));
      }
    }
    for (auto& [number, table] : tables)
      table.is_copy = !table.is_recorded && surveyor_.HasCopy(table);
    for (auto& [number, table] : tables) findings_.tables.push_back(std::move(table));
    return FindMisplacedWrites();
  }

  void CheckLength(TableSurvey* table) const {
    const uint64_t bytes = RecordOf(*table).file_bytes;
    if (bytes == table->file_bytes) return;
    RefuseBounds(table, StrCat("the MANIFEST says that it has ", bytes, " bytes"));
    table->level = 0;
    table->recorded_largest_sequence = 0;
    table->is_other = true;
  }

  // Returns the level-0 tables with a sequence not older than the family's oldest write in the log.
  std::vector<const FileMetaData*> NewerTables(const LogSurvey& log, ColumnFamilyId id) const {
    std::vector<const FileMetaData*> newer;
    const auto family = findings_.manifest.families.find(id);
    if (family == findings_.manifest.families.end()) return newer;
    const bool is_replayed = log.number >= std::max(family->second.log_number,
                                                    findings_.manifest.min_log_number_to_keep);
    if (!is_replayed) return newer;
    SequenceNumber oldest = kSequenceNumberMax;
    for (const LoggedWrite& write : log.writes.at(id)) oldest = std::min(oldest, write.sequence);
    for (const auto& [number, table] : family->second.tables) {
      if (table.level == 0 && table.file->largest_sequence >= oldest)
        newer.push_back(table.file.get());
    }
    return newer;
  }

  // Finds the writes because of which an open refuses a log (lsm/replayed_order.h). Reads a log
  // again, for its keys, only if it may have such writes.
  Status FindMisplacedWrites() {
    if (!findings_.manifest.IsSound()) return Status::OK();
    for (size_t i = 0; i < found_.logs.size(); ++i) {
      LogSurvey& log = findings_.logs[i];
      std::map<ColumnFamilyId, std::vector<const FileMetaData*>> newer;
      for (const auto& [id, writes] : log.writes) {
        std::vector<const FileMetaData*> tables = NewerTables(log, id);
        if (!tables.empty()) newer[id] = std::move(tables);
      }
      if (newer.empty()) continue;
      const auto check = [&](const BatchRecord& record, SequenceNumber sequence) {
        const auto tables = newer.find(record.column_family_id);
        if (tables == newer.end()) return Status::OK();
        const std::string& name = findings_.manifest.families.at(tables->first).name;
        const KeyComparator comparator(families_.Find(name)->comparator);
        for (const FileMetaData* table : tables->second) {
          if (sequence <= table->largest_sequence && IsWithin(comparator, *table, record))
            log.misplaced.emplace(tables->first, table->number);
        }
        return Status::OK();
      };
      ASHLAR_RETURN_IF_ERROR(ReadLog(fs_, found_.logs[i].Path(), log.number, check).status());
    }
    return Status::OK();
  }

  // Requires: the table is recorded.
  FileMetaData& RecordOf(const TableSurvey& table) const {
    return *findings_.manifest.families.at(table.family).tables.at(table.number).file;
  }

  void WriteToLog(const RepairReport& report) {
    if (options_.info_log == nullptr) {
      Result<std::shared_ptr<Logger>> logger = OpenLogFile(options_, directory_);
      if (!logger.ok()) return;
      options_.info_log = std::move(logger).value();
    }
    const auto warn = [this](const std::string& text) {
      options_.info_log->Log(WARN_LEVEL, StrCat("repair: ", text));
    };
    if (!report.manifest_reason.empty()) warn(report.manifest_reason);
    for (const RepairFile& file : report.files) {
      if (!file.reason.empty()) warn(StrCat(file.name, ": ", file.reason));
    }
  }

  FileNumber NewFileNumber() { return plan_.next_file_number++; }

  const ColumnFamilyOptions* OptionsOf(ColumnFamilyId id) const {
    const auto family = plan_.families.find(id);
    return family == plan_.families.end() ? nullptr : families_.Find(family->second.name);
  }

  // Returns the name of the operator in the options, or else the last name in the tables. A repair
  // needs no operator, but an open with another one must be able to report it.
  std::string MergeOperatorNameOf(ColumnFamilyId id) const {
    const std::shared_ptr<MergeOperator>& given = OptionsOf(id)->merge_operator;
    if (given != nullptr) return given->Name();
    std::string name;
    for (const TableSurvey* table : plan_.families.at(id).tables) {
      if (!table->merge_operator_name.empty()) name = table->merge_operator_name;
    }
    return name;
  }

  TableRewriter RewriterFor(ColumnFamilyId id) {
    return TableRewriter({.file_system = fs_,
                          .directory = directory_,
                          .db_options = &options_,
                          .options = OptionsOf(id),
                          .family = id,
                          .family_name = plan_.families.at(id).name,
                          .merge_operator_name = MergeOperatorNameOf(id),
                          .database_id = findings_.manifest.database_id,
                          .new_file_number = [this] { return NewFileNumber(); },
                          .surveyor = &surveyor_});
  }

  // Makes tables from the writes that no table has.
  Status WriteLogs() {
    const auto write = [this](ColumnFamilyId id, const MemTable& memtable) -> Status {
      ASHLAR_ASSIGN_OR_RETURN(TableRewriter::Files files, RewriterFor(id).Write(memtable));
      for (auto& file : files) logged_[id].push_back(std::move(file));
      return Status::OK();
    };
    LogRewriter logs(
        {.file_system = fs_,
         .options_of = [this](ColumnFamilyId id) { return OptionsOf(id); },
         .is_needed = [this](FileNumber log, ColumnFamilyId id,
                             const LoggedWrite& w) { return plan_.IsNeeded(log, id, w); },
         .write = write});
    for (const FoundFile& file : found_.logs) {
      if (plan_.logs.at(file.number).writes > 0)
        ASHLAR_RETURN_IF_ERROR(logs.Add(file.Path(), file.number));
    }
    return logs.Finish();
  }

  Status WriteTables() {
    for (const auto& [id, family] : plan_.families) ASHLAR_RETURN_IF_ERROR(WriteFamily(id, family));
    return SyncDirectory(fs_, directory_);
  }

  // Makes the edit that lists the family's tables. It refers to recorded metadata where possible.
  Status WriteFamily(ColumnFamilyId id, const PlannedFamily& family) {
    const ColumnFamilyOptions& options = *OptionsOf(id);
    TableRewriter rewriter = RewriterFor(id);
    VersionEdit& edit = edits_[id];
    edit.column_family = id;
    edit.log_number = plan_.next_file_number;  // I3
    edit.last_sequence = plan_.last_sequence;
    const auto add = [&](Level level, TableRewriter::Files files) {
      for (auto& file : files) edit.AddFile(level, std::move(file));
    };
    if (family.is_merged) {
      // No compaction would move the run out of a reserved level.
      const Level levels =
          static_cast<Level>(options.num_levels) - (ReservesLastLevel(options, options_) ? 1U : 0U);
      const Level level = levels - 1;
      ASHLAR_ASSIGN_OR_RETURN(TableRewriter::Files run,
                              rewriter.Merge(family.tables, std::move(logged_[id]), level));
      add(level, std::move(run));
      return Status::OK();
    }
    add(0, std::move(logged_[id]));
    for (const TableSurvey* table : family.tables) {
      const Level level = table->IsPlaced() ? table->level : 0;
      if (!table->IsIntact()) {
        ASHLAR_ASSIGN_OR_RETURN(TableRewriter::Files salvaged, rewriter.Salvage(*table));
        add(level, std::move(salvaged));
        continue;
      }
      stays_.insert(table->number);
      if (table->IsPlaced()) {
        FileMetaData& file = RecordOf(*table);
        if (!table->wrong_record.empty()) {
          file.smallest = table->smallest;
          file.largest = table->largest;
        }
        edit.ListFile(level, &file);
      } else {
        // A recorded table was synced before, but this one may not have been.
        ASHLAR_RETURN_IF_ERROR(SyncFile(fs_, StrCat(directory_, "/", table->file_name)));
        std::unique_ptr<FileMetaData> file = MetadataOf(*table);
        file->largest_sequence = table->largest_sequence;
        edit.AddFile(level, std::move(file));
      }
    }
    return Status::OK();
  }

  // I2: links the files that the open will delete into lost/.
  Status KeepOriginals() {
    const auto keep = [this](const FoundFile& file) {
      return KeepFile(fs_, directory_, file.Path()).status();
    };
    for (const FoundFile& file : found_.tables) {
      if (!stays_.contains(file.number)) ASHLAR_RETURN_IF_ERROR(keep(file));
    }
    for (const FoundFile& file : found_.manifests) ASHLAR_RETURN_IF_ERROR(keep(file));
    for (const FoundFile& log : found_.logs) ASHLAR_RETURN_IF_ERROR(keep(log));
    return Status::OK();
  }

  Status WriteManifest() {
    const FileNumber number = NewFileNumber();
    ASHLAR_ASSIGN_OR_RETURN(const NewManifest manifest, CreateManifest(fs_, directory_, number));
    if (!findings_.manifest.database_id.empty()) {
      VersionEdit edit;
      edit.database_id = findings_.manifest.database_id;
      ASHLAR_RETURN_IF_ERROR(AppendEdit(edit, manifest.writer.get()));
    }
    ColumnFamilyId max_column_family = findings_.manifest.max_column_family;
    for (auto& [id, tables] : edits_) {
      const std::string& name = plan_.families.at(id).name;
      VersionEdit birth;
      birth.column_family = id;
      birth.comparator = families_.Find(name)->comparator->Name();
      if (id != kDefaultFamilyId) birth.added_column_family = name;
      ASHLAR_RETURN_IF_ERROR(AppendEdit(birth, manifest.writer.get()));
      ASHLAR_RETURN_IF_ERROR(AppendEdit(tables, manifest.writer.get()));
      max_column_family = std::max(max_column_family, id);
    }
    VersionEdit numbers;
    numbers.next_file_number = plan_.next_file_number;
    numbers.last_sequence = plan_.last_sequence;
    if (max_column_family > 0) numbers.max_column_family = max_column_family;
    ASHLAR_RETURN_IF_ERROR(AppendEdit(numbers, manifest.writer.get()));
    ASHLAR_RETURN_IF_ERROR(MakeCurrent(fs_, directory_, number, manifest));
    return manifest.writer->Close();
  }

  // I3: an ordinary open deletes the files that the new MANIFEST does not name.
  Status DeleteRest() {
    OpenArgs args{.options = options_, .directory = directory_, .families = {}};
    args.options.error_if_exists = false;
    args.options.best_efforts_recovery = false;
    args.repaired = true;
    for (const auto& [id, family] : plan_.families)
      args.families.emplace_back(family.name, *families_.Find(family.name));
    ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<LsmDB> db, LsmDB::Open(std::move(args), nullptr));
    return db->Close();
  }

  const std::string directory_;
  DBOptions options_;
  const FamilyOptions families_;
  vfs::FileSystem* const fs_;
  const std::string wal_directory_;
  LoggedKeysByFamily logged_keys_;
  TableSurveyor surveyor_;
  FoundFiles found_;
  RepairFindings findings_;
  RepairPlan plan_;
  std::map<ColumnFamilyId, TableRewriter::Files> logged_;  // made from the logs
  std::map<ColumnFamilyId, VersionEdit> edits_;
  std::set<FileNumber> stays_;  // tables that the new MANIFEST names
};

Status Run(const std::string& name, const DBOptions& db_options,
           const std::vector<ColumnFamilyDescriptor>& families,
           std::optional<ColumnFamilyOptions> unknown, const RepairOptions& repair_options,
           RepairReport* report) {
  return CatchBadAlloc([&] {
    if (report != nullptr) *report = RepairReport();
    std::vector<ColumnFamilyDescriptor> checked = families;
    if (unknown.has_value()) checked.emplace_back("of an unknown name", *unknown);
    DBOptions options = db_options;
    if (options.env == nullptr) options.env = Env::Default();
    ASHLAR_RETURN_IF_ERROR(ValidateOptions(options, checked));
    // The open at the end needs the threads.
    if (!repair_options.dry_run) ASHLAR_RETURN_IF_ERROR(BackgroundWork::StartThreads(options));
    return Repair(name, options, FamilyOptions(families, std::move(unknown)))
        .Run(repair_options, report);
  });
}

}  // namespace

Status RepairDB(const std::string& name, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_options, const RepairOptions& repair_options,
                RepairReport* report) {
  return Run(name, db_options, column_families, unknown_options, repair_options, report);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families) {
  return Run(dbname, db_options, column_families, std::nullopt, {}, nullptr);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts) {
  return Run(dbname, db_options, column_families, unknown_cf_opts, {}, nullptr);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  const ColumnFamilyOptions family(options);
  return Run(dbname, DBOptions(options), {{kDefaultColumnFamilyName, family}}, family, {}, nullptr);
}

}  // namespace ashlar
