#include <memory>
#include <string>
#include <vector>

#include "ashlar/inspect.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "manifest/version_edit.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/golden_pack.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"
#include "wal/log_reader.h"

namespace ashlar::fuzz {

namespace {

// Adds the records of a MANIFEST, and all of them as one edit.
void AddEdits(const std::string& bytes, Seeds* seeds) {
  MemoryFileSystem file_system;
  static_cast<void>(WriteStringToFile(&file_system, bytes, "MANIFEST", Durability::kBuffered));
  std::unique_ptr<vfs::SequentialFile> file;
  static_cast<void>(file_system.NewSequentialFile("MANIFEST", {}, &file));
  LogReader reader(std::move(file), "MANIFEST", 0, bytes.size());
  std::string all;
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch)) {
    seeds->push_back(record.ToString());
    all += record.ToString();
  }
  seeds->push_back(all);
}

}  // namespace

Seeds SeedEdits() {
  const SmallDatabase& small = SmallDatabase::Get();
  Seeds seeds;
  AddEdits(small.Bytes(small.manifest()), &seeds);
  // Fields that this library does not write.
  for (const auto& [name, bytes] : FilesOfGoldenPack("rocksdb-11.8.1-ingested")) {
    if (name.starts_with("MANIFEST-")) AddEdits(bytes, &seeds);
  }
  return seeds;
}

bool RunEdit(const std::string& input) {
  VersionEdit edit;
  if (!edit.DecodeFrom(input).ok()) return false;
  static_cast<void>(edit.DebugString());
  std::string encoded;
  edit.EncodeTo(&encoded);
  VersionEdit again;
  const Status status = again.DecodeFrom(encoded);
  EXPECT_RIGHT(status.ok(), "an encoded edit is refused: " + status.ToString());
  std::string twice;
  again.EncodeTo(&twice);
  EXPECT_RIGHT(twice == encoded, "an edit changes when it is encoded and decoded");
  return true;
}

Seeds SeedManifests() {
  const SmallDatabase& small = SmallDatabase::Get();
  return {small.Bytes(small.manifest())};
}

namespace {

// What a program reads of a database that it does not open.
bool Inspect(const std::shared_ptr<MemoryFileSystem>& file_system) {
  ManualEnv env(file_system, 1);
  DBOptions options = SmallDatabaseOptions();
  options.env = &env;
  DatabaseInventory inventory;
  if (!ReadInventory(options, OpenDatabase::kPath, &inventory).ok()) return false;
  for (const ColumnFamilyInventory& family : inventory.column_families) {
    for (const LevelMetaData& level : family.metadata.levels) {
      for (const SstFileMetaData& table : level.files) {
        TableProperties properties;
        static_cast<void>(ReadTableProperties(options, table, family.comparator, &properties));
        static_cast<void>(VerifyTable(options, table, family.comparator));
      }
    }
  }
  return true;
}

}  // namespace

// The keys and levels of a hostile MANIFEST make arbitrary contents. The only check is that each
// call returns, and that reading changes no file.
bool RunManifest(const std::string& input) {
  const SmallDatabase& small = SmallDatabase::Get();
  const auto file_system = std::make_shared<MemoryFileSystem>(small.With(small.manifest(), input));
  const bool inspected = Inspect(file_system);
  const bool read =
      ForEachReader(file_system, SmallDatabaseOptions(), [](DB* reader, const Contents*) {
        std::vector<LiveFileMetaData> files;
        reader->GetLiveFilesMetaData(&files);
      });
  OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
  if (!database.Open().ok()) return false;
  Contents contents;
  static_cast<void>(database.Read(&contents));
  static_cast<void>(database.Write({{Change::Kind::kPut, "default", "new", "value"}}, {}));
  static_cast<void>(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  std::string value;
  static_cast<void>(database.db()->Get(ReadOptions(), "key7", &value));
  static_cast<void>(database.db()->GetProperty("rocksdb.stats", &value));
  static_cast<void>(database.Close());
  return inspected && read;
}

}  // namespace ashlar::fuzz
