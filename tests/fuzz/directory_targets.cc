#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/options_util.h"
#include "ashlar/repair.h"
#include "ashlar/sst_file_writer.h"
#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar::fuzz {
namespace {

Contents ContentsOfSmallDatabase() {
  const auto file_system = std::make_shared<MemoryFileSystem>(SmallDatabase::Get().image());
  OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
  Contents contents;
  EXPECT_RIGHT(database.Open().ok() && database.Read(&contents).ok(), "no small database");
  return contents;
}

}  // namespace

// ---- File names, which are also the contents of CURRENT. Accepted if the input is such a name.

Seeds SeedFileNames() {
  return {"CURRENT",
          "LOCK",
          "IDENTITY",
          "LOG",
          "LOG.old.1700000000000000",
          "000012.log",
          "000012.log.dbtmp",
          "000012.log.1",
          "1000012.sst",
          "000012.ldb",
          "000012.blob",
          "000012.sst0.trash",
          "000012.dbtmp",
          "OPTIONS-000012",
          "OPTIONS-000012.dbtmp",
          "MANIFEST-000012",
          "MANIFEST-4611686018427387903\n",
          "4611686018427387904.sst"};
}

bool RunFileName(const std::string& input) {
  uint64_t number = 0;
  FileType type{};
  const bool parsed = ParseFileName(input, &number, &type);
  const bool trash = IsTrashFileName(input);
  EXPECT_RIGHT(!trash || (parsed && type == FileType::kTempFile), "trash of another type");
  const bool lost = IsLostFileName(input);
  if (parsed || lost || trash) {
    EXPECT_RIGHT(input.find('/') == std::string::npos && input.find('\0') == std::string::npos &&
                     input.find('\\') == std::string::npos,
                 "a name that is a path: " + input);
  }
  if (parsed) {
    EXPECT_RIGHT(type == FileType::kInfoLogFile || number <= kFileNumberMax,
                 "a number that no file has: " + input);
    // I1 of filename.h: a name has no other spelling.
    std::vector<std::string> made;
    switch (type) {
      case FileType::kWalFile: made = {WalFileName("d", number)}; break;
      case FileType::kTableFile:
        made = {TableFileName("d", number), LegacyTableFileName("d", number)};
        break;
      case FileType::kDescriptorFile: made = {DescriptorFileName("d", number)}; break;
      case FileType::kOptionsFile: made = {OptionsFileName("d", number)}; break;
      default: break;
    }
    bool found = made.empty();
    for (const std::string& path : made) found |= path == "d/" + input;
    EXPECT_RIGHT(found, "a second spelling: " + input);
  }
  MemoryFileSystem file_system;
  EXPECT_RIGHT(file_system.CreateDir("d").ok() &&
                   WriteStringToFile(&file_system, input, "d/CURRENT", Durability::kBuffered).ok(),
               "no CURRENT");
  const Result<uint64_t> current = ReadCurrentFile(&file_system, "d");
  EXPECT_RIGHT(!current.ok() || DescriptorFileName("d", *current) + "\n" == "d/" + input,
               "CURRENT names another MANIFEST");
  return parsed || lost || current.ok();
}

// ---- The small files of a database. Byte 0 chooses the file that the rest of the input replaces.
// The open refuses it, or the database has its contents.

namespace {

constexpr uint8_t kSmallFiles = 4;

std::string SmallFile(uint8_t choice) {
  switch (choice % kSmallFiles) {
    case 0: return "CURRENT";
    case 1: return "IDENTITY";
    default: break;
  }
  for (const MemoryImage::Entry& entry : SmallDatabase::Get().image().entries) {
    const std::string name(BaseName(entry.path));
    if (HasType(name, FileType::kOptionsFile)) return name;
  }
  return "CURRENT";
}

}  // namespace

Seeds SeedSmallFiles() {
  Seeds seeds;
  for (uint8_t choice = 0; choice < kSmallFiles; ++choice)
    seeds.push_back(std::string(1, static_cast<char>(choice)) +
                    SmallDatabase::Get().Bytes(SmallFile(choice)));
  return seeds;
}

bool RunSmallFile(const std::string& input) {
  static const Contents expected = ContentsOfSmallDatabase();
  if (input.empty()) return false;
  const auto choice = static_cast<uint8_t>(input[0]);
  const auto file_system = std::make_shared<MemoryFileSystem>(
      SmallDatabase::Get().With(SmallFile(choice), input.substr(1)));
  bool loaded = true;
  for (const uint64_t seed : {1U, 2U}) {
    OpenDatabase database(file_system, SmallDatabaseOptions(), seed);
    if (choice % kSmallFiles == 3) {
      ConfigOptions config;
      config.env = database.env();
      DBOptions db_options;
      std::vector<ColumnFamilyDescriptor> families;
      loaded &= LoadLatestOptions(config, OpenDatabase::kPath, &db_options, &families).ok();
    }
    const Status opened = database.Open();
    EXPECT_RIGHT(opened.ok() || seed == 1, "not opened again: " + opened.ToString());
    if (!opened.ok()) return false;
    Contents contents;
    EXPECT_RIGHT(database.Read(&contents).ok() && contents == expected, "other contents");
    std::string identity;
    static_cast<void>(database.db()->GetDbIdentity(identity));
    const Status closed = database.Close();
    EXPECT_RIGHT(closed.ok(), "not closed: " + closed.ToString());
  }
  return loaded;
}

// ---- Repairs. Byte 0 chooses the file that the rest replaces: the log, the MANIFEST or a table.
// Accepted if it needs no repair.

namespace {

std::string DamagedFile(uint8_t choice) {
  const SmallDatabase& small = SmallDatabase::Get();
  if (choice % 3 == 0) return small.log();
  if (choice % 3 == 1) return small.manifest();
  for (const MemoryImage::Entry& entry : small.image().entries) {
    const std::string name(BaseName(entry.path));
    if (HasType(name, FileType::kTableFile)) return name;
  }
  return small.log();
}

}  // namespace

Seeds SeedRepairedFiles() {
  Seeds seeds;
  for (uint8_t choice = 0; choice < 3; ++choice)
    seeds.push_back(std::string(1, static_cast<char>(choice)) +
                    SmallDatabase::Get().Bytes(DamagedFile(choice)));
  return seeds;
}

void RepairRepairedFile(std::string* input) {
  if (input->empty()) return;
  std::string file = input->substr(1);
  if (static_cast<uint8_t>((*input)[0]) % 3 == 2) {
    RepairTable(&file);
  } else {
    RepairLog(&file);
  }
  input->replace(1, std::string::npos, file);
}

bool RunRepairedFile(const std::string& input) {
  if (input.empty()) return false;
  const auto file_system = std::make_shared<MemoryFileSystem>(
      SmallDatabase::Get().With(DamagedFile(static_cast<uint8_t>(input[0])), input.substr(1)));
  OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
  Options options = SmallDatabaseOptions();
  options.env = database.env();
  const auto repair = [&](bool dry_run, RepairReport* report) {
    return RepairDB(OpenDatabase::kPath, options, {}, options, {.dry_run = dry_run}, report);
  };
  const uint64_t before = file_system->Snapshot().Fingerprint();
  RepairReport report;
  static_cast<void>(repair(true, &report));
  EXPECT_RIGHT(file_system->Snapshot().Fingerprint() == before, "a dry run changes files");
  if (!repair(false, &report).ok()) return false;
  const Status opened = database.Open();
  // A repair does not count it as damage if records of a MANIFEST or sequences of a log contradict
  // the tables, and an open may refuse them.
  EXPECT_RIGHT(opened.ok() || !report.needs_repair,
               "repaired, but not opened: " + opened.ToString());
  if (!opened.ok()) return false;
  Contents contents;
  const Status read = database.Read(&contents);
  EXPECT_RIGHT(read.ok(), "repaired, but not readable: " + read.ToString());
  const Status written =
      database.Write({{Change::Kind::kPut, "default", "new key", "value"}}, WriteOptions());
  EXPECT_RIGHT(written.ok(), "repaired, but not writable: " + written.ToString());
  const Status closed = database.Close();
  EXPECT_RIGHT(closed.ok(), "not closed: " + closed.ToString());
  return !report.needs_repair;
}

// ---- Tables that are ingested or imported as a family. Byte 0 chooses how, and the table follows.

namespace {

constexpr uint8_t kImport = 1;
constexpr uint8_t kVerify = 2;      // for an ingestion, as an import always verifies
constexpr uint8_t kOfDatabase = 4;  // accepts tables that a database wrote
constexpr uint8_t kWriteNumber = 8;
constexpr uint8_t kBehindSnapshot = 16;
constexpr const char* kExternalPath = "/db/external";

std::string WriteExternalTable(bool ranges) {
  const auto file_system = std::make_shared<MemoryFileSystem>();
  ManualEnv env(file_system, 1);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  SstFileWriter writer(EnvOptions(), options);
  bool ok = writer.Open("/table").ok();
  ok &= writer.Put("key1", "ingested").ok() && writer.Merge("key2", "operand").ok() &&
        writer.Delete("key3").ok() && writer.Put("new key", std::string(100, 'v')).ok();
  if (ranges) ok &= writer.DeleteRange("key4", "key6").ok();
  ok &= writer.Finish().ok();
  EXPECT_RIGHT(ok, "no table was written");
  return ReadFileToString(file_system.get(), "/table", 1 << 20).value();
}

Status TakeTable(OpenDatabase* database, uint8_t choice) {
  if ((choice & kImport) == 0) {
    IngestExternalFileOptions how;
    how.verify_checksums_before_ingest = (choice & kVerify) != 0;
    how.allow_db_generated_files = (choice & kOfDatabase) != 0;
    how.write_global_seqno = (choice & kWriteNumber) != 0;
    const Snapshot* const snapshot =
        (choice & kBehindSnapshot) != 0 ? database->db()->GetSnapshot() : nullptr;
    const Status taken =
        database->db()->IngestExternalFile(database->family("two"), {kExternalPath}, how);
    if (snapshot != nullptr) database->db()->ReleaseSnapshot(snapshot);
    return taken;
  }
  ExportImportFilesMetaData metadata;
  metadata.db_comparator_name = BytewiseComparator()->Name();
  LiveFileMetaData& file = metadata.files.emplace_back();
  file.directory = "/db";
  file.relative_filename = "external";
  file.level = choice >> 5;
  file.largest_seqno = 1000;
  Options options = SmallDatabaseOptions();
  options.env = database->env();
  ColumnFamilyHandle* handle = nullptr;
  const Status taken = database->db()->CreateColumnFamilyWithImport(
      options, "imported", ImportColumnFamilyOptions(), {&metadata}, &handle);
  delete handle;
  return taken;
}

}  // namespace

Seeds SeedExternalTables() {
  Seeds seeds;
  const auto add = [&](int choice, const std::string& table) {
    seeds.push_back(std::string(1, static_cast<char>(choice)) + table);
  };
  // Built once, because each writer stores an id of its own in its tables.
  static const std::string tables[] = {WriteExternalTable(false), WriteExternalTable(true)};
  for (const std::string& table : tables) {
    for (const int choice :
         {0, kVerify + 0, kVerify | kWriteNumber, kBehindSnapshot + 0, kImport + 0})
      add(choice, table);
  }
  const std::string own = SmallDatabase::Get().Bytes(DamagedFile(2));
  add(kImport | 6 << 5, own);
  // Refused, because a database's table may not overlap those of the family.
  add(kOfDatabase | kVerify, own);
  return seeds;
}

void RepairExternalTable(std::string* input) {
  if (input->empty()) return;
  std::string table = input->substr(1);
  RepairTable(&table);
  input->replace(1, std::string::npos, table);
}

// A table is refused and changes nothing, or it is taken and its contents survive a reopen.
bool RunExternalTable(const std::string& input) {
  static const Contents before = ContentsOfSmallDatabase();
  if (input.empty()) return false;
  const auto choice = static_cast<uint8_t>(input[0]);
  const auto file_system = std::make_shared<MemoryFileSystem>(SmallDatabase::Get().image());
  EXPECT_RIGHT(
      WriteStringToFile(file_system.get(), input.substr(1), kExternalPath, Durability::kBuffered)
          .ok(),
      "no table to take");
  Contents contents;
  bool accepted = false;
  bool readable = false;
  {
    OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
    EXPECT_RIGHT(database.Open().ok(), "not opened");
    const Status taken = TakeTable(&database, choice);
    accepted = taken.ok();
    Status read = database.Read(&contents);
    EXPECT_RIGHT(taken.ok() || (read.ok() && contents == before),
                 "refused, and taken: " + taken.ToString());
    // Blocks that were not verified may be damaged.
    readable = read.ok() || (choice & (kVerify | kImport)) != 0;
    EXPECT_RIGHT(read.ok() || !readable, "verified, but not readable: " + read.ToString());
    const Status written =
        database.Write({{Change::Kind::kPut, "default", "key0", "value"}}, WriteOptions());
    EXPECT_RIGHT(written.ok(), "taken, but not writable: " + written.ToString());
    contents["default"]["key0"] = "value";
    const Status closed = database.Close();
    EXPECT_RIGHT(closed.ok(), "not closed: " + closed.ToString());
  }
  OpenDatabase database(file_system, SmallDatabaseOptions(), 2);
  const Status opened = database.Open();
  EXPECT_RIGHT(opened.ok(), "not opened again: " + opened.ToString());
  if (!opened.ok() || !readable) return accepted;
  // The handle of an imported family was not kept.
  Contents again;
  EXPECT_RIGHT(database.Read(&again).ok(), "not readable again");
  again.erase("imported");
  EXPECT_RIGHT(again == contents, "other contents after a reopen");
  return accepted;
}

// ---- The description of a backup, in a directory of backups that an engine opens.

namespace {

constexpr const char* kBackups = "/backups";
constexpr const char* kRestored = "/restored";

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The small database with one backup of it, whose description is backups/meta/1.
const MemoryImage& ImageWithBackup() {
  static const MemoryImage image = [] {
    const auto file_system = std::make_shared<MemoryFileSystem>(SmallDatabase::Get().image());
    OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
    EXPECT_RIGHT(database.Open().ok(), "not opened");
    BackupEngine* opened = nullptr;
    Status made = BackupEngine::Open(BackupEngineOptions(kBackups), database.env(), &opened);
    if (made.ok()) made = opened->CreateNewBackup(database.db());
    EXPECT_RIGHT(made.ok(), "no backup: " + made.ToString());
    const std::unique_ptr<BackupEngine> engine(opened);
    EXPECT_RIGHT(database.Close().ok(), "not closed");
    return file_system->Snapshot();
  }();
  return image;
}

const std::string& BackupMetaText() {
  for (const MemoryImage::Entry& entry : ImageWithBackup().entries) {
    if (entry.path == "backups/meta/1") return *entry.bytes;
  }
  AssertFailed("no description", __FILE__, __LINE__);
}

// The lines of the files. Names and checksums differ from run to run, because a database has an id.
// So inputs have "$a" in place of the first line, "$b" in place of the second, and so on.
std::vector<std::string> FileLines() {
  std::vector<std::string> lines;
  for (const std::string& line : SplitLines(BackupMetaText())) {
    if (line.find(" crc32 ") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

MemoryImage WithBackupMeta(const std::string& input) {
  const std::vector<std::string> lines = FileLines();
  std::string text;
  for (size_t i = 0; i < input.size(); ++i) {
    const size_t file = i + 1 < input.size() ? static_cast<size_t>(input[i + 1] - 'a') : SIZE_MAX;
    if (input[i] == '$' && file < lines.size()) {
      text += lines[file];
      ++i;
    } else {
      text += input[i];
    }
  }
  MemoryImage image = ImageWithBackup();
  for (MemoryImage::Entry& entry : image.entries) {
    if (entry.path == "backups/meta/1") entry.bytes = std::make_shared<const std::string>(text);
  }
  return image;
}

// Fingerprint of the files outside the directories of backups and of the restored database.
uint64_t FingerprintOfTheRest(const MemoryFileSystem& file_system) {
  MemoryImage rest = file_system.Snapshot();
  std::erase_if(rest.entries, [](const MemoryImage::Entry& entry) {
    const std::string path = "/" + entry.path;
    return path.starts_with(kBackups) || path.starts_with(kRestored);
  });
  return rest.Fingerprint();
}

}  // namespace

Seeds SeedBackups() {
  std::string text = BackupMetaText();
  const std::vector<std::string> lines = FileLines();
  for (size_t i = 0; i < lines.size(); ++i)
    text.replace(text.find(lines[i]), lines[i].size(), {'$', static_cast<char>('a' + i)});
  // Refused, because of an additional file at a path that no backup has.
  const auto with_file = [&](const std::string& line) {
    const std::string count = StrCat("\n", lines.size(), "\n$a");
    std::string longer = text;
    longer.replace(longer.find(count), count.size(), StrCat("\n", lines.size() + 1, "\n$a"));
    return longer + line;
  };
  return {text, with_file("shared_checksum/000099.sst crc32 7\n"),
          with_file("private/1/../x crc32 7\n")};
}

// A backup is refused, or the restored files are the database or are refused by the open. No file
// is read or changed outside the two directories.
bool RunBackup(const std::string& input) {
  static const Contents expected = ContentsOfSmallDatabase();
  const auto file_system = std::make_shared<MemoryFileSystem>(WithBackupMeta(input));
  const uint64_t rest = FingerprintOfTheRest(*file_system);
  ManualEnv env(file_system, 1);
  BackupEngine* opened = nullptr;
  if (!BackupEngine::Open(BackupEngineOptions(kBackups), &env, &opened).ok()) return false;
  const std::unique_ptr<BackupEngine> engine(opened);
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  const Status verified = engine->VerifyBackup(1, true);
  const Status restored = engine->RestoreDBFromBackup(1, kRestored, kRestored);
  EXPECT_RIGHT(restored.ok() || !verified.ok(),
               "verified, but not restored: " + restored.ToString());
  static_cast<void>(engine->GarbageCollect());
  static_cast<void>(engine->DeleteBackup(1));
  EXPECT_RIGHT(FingerprintOfTheRest(*file_system) == rest, "files elsewhere were changed");
  if (!restored.ok()) return false;
  Options options = SmallDatabaseOptions();
  options.env = &env;
  options.create_if_missing = false;
  std::vector<std::string> names;
  if (!DB::ListColumnFamilies(options, kRestored, &names).ok()) return false;
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  if (!DB::Open(options, kRestored, families, &handles, &db).ok()) return false;
  for (ColumnFamilyHandle* const handle : handles) {
    FamilyContents contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_RIGHT(it->status().ok() && contents == expected.at(handle->GetName()),
                 "restored, with other contents");
    delete handle;
  }
  return true;
}

}  // namespace ashlar::fuzz
