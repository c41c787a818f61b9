// backup: makes, lists, verifies, restores and deletes copies of a database in a backup folder.
//
//   create    a backup of the database              --db, takes its lock
//   list      a row for each backup, oldest first
//   verify    reads every file of one or all        exit code 5: one is damaged
//   restore   replaces the database --db with one   refused while it is open; existing files and
//                                                   logs are replaced only with --force, and only
//                                                   by a backup without damage
//   purge     deletes all but the newest            --keep, and only with --force
//
// create and purge change the folder one at a time among all processes, and exit with code 4 while
// another one does. Only create makes a backup folder. The others refuse a folder without meta/,
// because the engine would take a mistyped name for a folder with no damaged backup.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "platform/file.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/database_directory.h"
#include "tools/ashlar/survey.h"

namespace ashlar::cli {
namespace {

// Finds out whether the folder has logs, including archived ones.
Outcome FindLogs(const std::string& folder, bool* has_logs) {
  *has_logs = false;
  for (const std::string& place : {folder, folder + "/archive"}) {
    DirectoryState state;
    ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(place, &state));
    if (!IsDirectory(state)) continue;
    std::vector<std::string> names;
    ASHLAR_CLI_RETURN_IF_FAILED(ListFiles(place, &names));
    *has_logs |= std::any_of(names.begin(), names.end(),
                             [](const std::string& name) { return name.ends_with(".log"); });
  }
  return {};
}

class BackupCommand final : public Command {
 public:
  const char* Name() const override { return "backup"; }
  const char* Summary() const override {
    return "Make, list, verify, restore and delete backups, which share their tables in a folder";
  }
  bool NeedsDatabase() const override { return false; }

  void Declare(OptionSet* options) override {
    options->Choice("ACTION",
                    "create: back the database up; list: the backups; verify: read every file of "
                    "them; restore: put one in place of the database; purge: delete the oldest",
                    {"create", "list", "verify", "restore", "purge"}, &action_);
    options->Operand("FOLDER", "Where the backups are; create makes it", &folder_);
    options->Number("--id", "The backup to verify or restore; default: all, and the newest", &id_);
    options->Number("--keep", "How many backups purge leaves", &keep_);
    options->Flag(
        "--force",
        "Let purge delete backups, and restore replace a database or logs that are there, "
        "or repeat a restore",
        &force_);
  }

  Outcome Run(const GlobalOptions& global) override {
    constexpr uint64_t kNumberMax = std::numeric_limits<BackupID>::max();
    if (std::max(id_, keep_) > kNumberMax) return Misuse("there is no such number");
    const bool uses_database = action_ == "create" || action_ == "restore";
    if (uses_database && global.database.empty()) return Misuse("--db is required");
    if (action_ == "purge" && keep_ == 0) return Misuse("--keep is required, and at least 1");
    if (action_ == "create") return Create(global);
    ASHLAR_CLI_RETURN_IF_FAILED(CheckFolder());
    if (action_ == "list") return List(global);
    if (action_ == "verify") return Verify(global);
    return action_ == "restore" ? Restore(global) : Purge(global);
  }

 private:
  Outcome Misuse(const std::string& what) const {
    return {.code = ExitCode::kUsage,
            .what = "backup " + action_ + ": " + what,
            .advice = "'ashlar backup --help' lists the actions and options"};
  }
  std::string Doing() const { return "backup " + action_ + " in " + folder_; }

  Outcome CheckFolder() const {
    DirectoryState state;
    ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(folder_, &state));
    if (IsDirectory(state) && !GetFileInfo(folder_ + "/meta").status().IsPathNotFound()) return {};
    return {.code = ExitCode::kIo,
            .what = "no backups: " + folder_ +
                    (IsDirectory(state) ? " has no folder meta" : " is not a directory"),
            .advice = "check FOLDER; 'backup create' makes it"};
  }
  // Returns the outcome of an action on one backup.
  Outcome FromBackup(const Status& status) const {
    Outcome outcome = FromStatus(status, Doing());
    if (status.IsNotFound()) outcome.advice = "'backup list' shows the backups";
    if (status.IsCorruption())
      outcome.advice = "restore another backup; 'backup create' makes a new one";
    return outcome;
  }

  Outcome OpenToRead(std::unique_ptr<BackupEngineReadOnly>* engine) const {
    BackupEngineReadOnly* opened = nullptr;
    const Status status =
        BackupEngineReadOnly::Open(BackupEngineOptions(folder_), Env::Default(), &opened);
    engine->reset(opened);
    return FromStatus(status, Doing());
  }
  Outcome OpenToChange(std::unique_ptr<BackupEngine>* engine) const {
    BackupEngine* opened = nullptr;
    const Status status = BackupEngine::Open(BackupEngineOptions(folder_), Env::Default(), &opened);
    engine->reset(opened);
    return FromStatus(status, Doing());
  }

  Outcome Create(const GlobalOptions& global) const {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kWrite, &database));
    std::unique_ptr<BackupEngine> engine;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenToChange(&engine));
    BackupID made = 0;
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromStatus(engine->CreateNewBackup(CreateBackupOptions(), database->db(), &made), Doing()));
    BackupInfo info;
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(engine->GetBackupInfo(made, &info), Doing()));
    Write(global, {info}, {});
    return database->Close();
  }

  Outcome List(const GlobalOptions& global) const {
    std::unique_ptr<BackupEngineReadOnly> engine;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenToRead(&engine));
    std::vector<BackupInfo> backups;
    engine->GetBackupInfo(&backups);
    std::vector<BackupID> damaged;
    engine->GetCorruptedBackups(&damaged);
    Write(global, backups, damaged);
    return {};
  }

  static void Write(const GlobalOptions& global, const std::vector<BackupInfo>& backups,
                    const std::vector<BackupID>& damaged) {
    const auto writer = MakeRecordWriter(
        global.format, global.Layout({"backup", "time", "bytes", "files", "state"}, true), stdout);
    for (const BackupInfo& info : backups) {
      writer->Add({uint64_t{info.backup_id}, static_cast<uint64_t>(info.timestamp), info.size,
                   uint64_t{info.number_files}, std::string("complete")});
    }
    for (const BackupID id : damaged) {
      writer->Add({uint64_t{id}, uint64_t{0}, uint64_t{0}, uint64_t{0}, std::string("damaged")});
    }
    writer->Finish();
  }

  Outcome Verify(const GlobalOptions& global) const {
    std::unique_ptr<BackupEngineReadOnly> engine;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenToRead(&engine));
    std::vector<BackupID> ids;
    if (id_ != 0) {
      ids.push_back(static_cast<BackupID>(id_));
    } else {
      std::vector<BackupInfo> backups;
      engine->GetCorruptedBackups(&ids);
      engine->GetBackupInfo(&backups);
      for (const BackupInfo& info : backups) ids.push_back(info.backup_id);
      std::sort(ids.begin(), ids.end());
    }
    Outcome worst;
    const auto writer =
        MakeRecordWriter(global.format, global.Layout({"backup", "state"}, true), stdout);
    for (const BackupID id : ids) {
      const Status verified = engine->VerifyBackup(id, /*verify_with_checksum=*/true);
      writer->Add({uint64_t{id}, verified.ok()
                                     ? std::string("complete")
                                     : EncodeBytes(ByteFormat::kEscape, verified.ToString())});
      if (const Outcome found = FromBackup(verified); IsGraver(found.code, worst.code))
        worst = found;
    }
    writer->Finish();
    return worst;
  }

  Outcome Restore(const GlobalOptions& global) const {
    DirectoryState state;
    ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(global.database, &state));
    if (state == DirectoryState::kNotADirectory) return NoDatabase(global.database, state);
    // A failed restore also leaves files.
    const bool has_files = state == DirectoryState::kForeign || state == DirectoryState::kDatabase;
    if (has_files && !force_)
      return Misuse(global.database + " has files already; --force replaces those of a database");
    // The logs of the replaced database are deleted, too, because an open would replay them.
    Survey replaced;
    if (IsDirectory(state) && !global.wal_dir) {
      std::vector<ColumnFamilyDescriptor> families;
      ASHLAR_CLI_RETURN_IF_FAILED(ReadOptionsFile(global.database, &replaced, &families));
      replaced.WarnOfOptions(global);
    }
    ASHLAR_CLI_RETURN_IF_FAILED(PlaceLogs(global, &replaced.db_options));
    const std::string& logs = replaced.db_options.wal_dir;
    const std::string& wal_dir = logs.empty() ? global.database : logs;
    // These may be the logs of a database in another directory.
    bool has_logs = false;
    ASHLAR_CLI_RETURN_IF_FAILED(FindLogs(wal_dir, &has_logs));
    if (has_logs && !force_) return Misuse(wal_dir + " has logs already; --force deletes them");
    std::unique_ptr<BackupEngineReadOnly> engine;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenToRead(&engine));
    BackupInfo info;
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromBackup(id_ == 0 ? engine->GetLatestBackupInfo(&info)
                            : engine->GetBackupInfo(static_cast<BackupID>(id_), &info)));
    // A restore deletes the files of a database before it reads the backup.
    if (has_files || has_logs)
      ASHLAR_CLI_RETURN_IF_FAILED(
          FromBackup(engine->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true)));
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromBackup(engine->RestoreDBFromBackup(info.backup_id, global.database, wal_dir)));
    Write(global, {info}, {});
    return {};
  }

  Outcome Purge(const GlobalOptions& global) const {
    if (!force_) {
      return Misuse("it deletes all backups but the newest " + std::to_string(keep_) +
                    "; --force does it");
    }
    std::unique_ptr<BackupEngine> engine;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenToChange(&engine));
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromStatus(engine->PurgeOldBackups(static_cast<uint32_t>(keep_)), Doing()));
    return List(global);
  }

  std::string action_;
  std::string folder_;
  uint64_t id_ = 0;    // 0: not given
  uint64_t keep_ = 0;  // 0: not given
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeBackupCommand() { return std::make_unique<BackupCommand>(); }

}  // namespace ashlar::cli
