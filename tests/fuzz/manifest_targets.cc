#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/inspect.h"
#include "base/assert.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "manifest/version_edit.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/golden_pack.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"

namespace ashlar::fuzz {

namespace {

// Adds each record of a MANIFEST, and all of them joined into one edit.
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

namespace {

constexpr FileNumber kEmptyTable = 999;  // a table file of zero bytes

// Returns the MANIFEST with one more table, in a level that has no other. The table ends before its
// first key if without_keys.
std::string WithEmptyTable(const std::string& bytes, bool without_keys) {
  auto table = std::make_unique<FileMetaData>();
  table->number = kEmptyTable;
  table->smallest = MakeInternalKey("a", kSequenceNumberMax, ValueType::kRangeDeletion);
  table->largest = without_keys ? table->smallest : MakeInternalKey("z", 0, ValueType::kValue);
  table->marked_for_compaction = without_keys;
  VersionEdit edit;
  edit.AddFile(2, std::move(table));
  std::string record;
  edit.EncodeTo(&record);

  MemoryFileSystem file_system;
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_ASSERT(WriteStringToFile(&file_system, bytes, "MANIFEST", Durability::kBuffered).ok() &&
                file_system.ReopenWritableFile("MANIFEST", vfs::FileOptions(), &file).ok());
  LogWriter writer(std::move(file), "MANIFEST", 0);
  ASHLAR_ASSERT(writer.AddRecord(record).ok() && writer.Close().ok());
  return *ReadFileToString(&file_system, "MANIFEST", bytes.size() + (64 << 10));
}

// The small database with this MANIFEST and an empty file as the additional table.
MemoryImage ImageWith(const std::string& manifest) {
  const SmallDatabase& small = SmallDatabase::Get();
  MemoryImage image = small.With(small.manifest(), manifest);
  MemoryNodeId id = 0;
  for (const MemoryImage::Entry& entry : image.entries) id = std::max(id, entry.id);
  image.entries.push_back({.path = TableFileName("db", kEmptyTable),
                           .is_directory = false,
                           .id = id + 1,
                           .bytes = std::make_shared<const std::string>()});
  return image;
}

// Reads what a program can read of a database without opening it.
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

Seeds SeedManifests() {
  const SmallDatabase& small = SmallDatabase::Get();
  const std::string& bytes = small.Bytes(small.manifest());
  return {bytes, WithEmptyTable(bytes, false), WithEmptyTable(bytes, true)};
}

// The keys and levels of a hostile MANIFEST make arbitrary contents. The only checks are that each
// call returns, and that reading changes no file.
bool RunManifest(const std::string& input) {
  const auto file_system = std::make_shared<MemoryFileSystem>(ImageWith(input));
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
