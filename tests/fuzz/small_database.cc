#include "tests/fuzz/small_database.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "tests/fuzz/target.h"
#include "tests/support/manual_env.h"

namespace ashlar::fuzz {
namespace {

std::string PathOf(const std::string& name) { return StrCat("db/", name); }

}  // namespace

const SmallDatabase& SmallDatabase::Get() {
  static const SmallDatabase database;
  return database;
}

SmallDatabase::SmallDatabase() {
  const auto file_system = std::make_shared<MemoryFileSystem>();
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_shutdown = true;
  options.avoid_flush_during_recovery = true;
  OpenDatabase database(file_system, options, 1);
  ASHLAR_ASSERT(database.Open().ok() && database.CreateFamily("two").ok());
  using Kind = Change::Kind;
  for (int i = 0; i < 40; ++i) {
    const std::string key = StrCat("key", i % 20);
    ASHLAR_ASSERT(database
                      .Write({{Kind::kPut, "default", key, std::string(20, 'v')},
                              {Kind::kMerge, "two", key, StrCat("operand", i)},
                              {Kind::kDelete, "default", StrCat("key", i / 2), ""}},
                             WriteOptions())
                      .ok());
    if (i == 12 || i == 24) ASHLAR_ASSERT(database.Flush({"default", "two"}, true).ok());
  }
  ASHLAR_ASSERT(
      database.Write({{Kind::kDeleteRange, "default", "key3", "key5"}}, WriteOptions()).ok());
  ASHLAR_ASSERT(database.Close().ok());
  image_ = file_system->Snapshot();
  for (const MemoryImage::Entry& entry : image_.entries) {
    uint64_t number = 0;
    FileType type{};
    const std::string name(BaseName(entry.path));
    if (entry.is_directory || !ParseFileName(name, &number, &type)) continue;
    if (name.ends_with(".log")) log_ = std::max(log_, name);
    if (name.starts_with("MANIFEST-")) manifest_ = std::max(manifest_, name);
  }
  ASHLAR_ASSERT(!log_.empty() && !manifest_.empty());
}

const std::string& SmallDatabase::Bytes(const std::string& name) const {
  for (const MemoryImage::Entry& entry : image_.entries) {
    if (entry.path == PathOf(name)) return *entry.bytes;
  }
  AssertFailed("no such file", __FILE__, __LINE__);
}

MemoryImage SmallDatabase::With(const std::string& name, const std::string& bytes) const {
  MemoryImage image = image_;
  for (MemoryImage::Entry& entry : image.entries) {
    if (entry.path == PathOf(name)) entry.bytes = std::make_shared<const std::string>(bytes);
  }
  return image;
}

bool ForEachReader(const std::shared_ptr<MemoryFileSystem>& file_system, const Options& options,
                   FunctionRef<void(DB* reader, const Contents* contents)> read) {
  const uint64_t before = file_system->Snapshot().Fingerprint();
  ManualEnv env(file_system, 1);
  Options own = options;
  own.env = &env;
  std::vector<std::string> names;
  if (!DB::ListColumnFamilies(own, OpenDatabase::kPath, &names).ok()) return false;
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, own);
  bool both_open = true;
  for (const bool follows : {false, true}) {
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    const Status opened =
        follows ? DB::OpenAsSecondary(own, OpenDatabase::kPath, "/db/secondary", families, &handles,
                                      &db)
                : DB::OpenForReadOnly(own, OpenDatabase::kPath, families, &handles, &db);
    both_open &= opened.ok();
    if (!opened.ok()) continue;
    if (follows) static_cast<void>(db->TryCatchUpWithPrimary());
    Contents contents;
    bool whole = true;
    for (ColumnFamilyHandle* const handle : handles) {
      FamilyContents& family = contents[handle->GetName()];
      const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next())
        family[it->key().ToString()] = it->value().ToString();
      whole &= it->status().ok();
    }
    read(db.get(), whole ? &contents : nullptr);
    for (ColumnFamilyHandle* const handle : handles) delete handle;
  }
  EXPECT_RIGHT(file_system->Snapshot().Fingerprint() == before, "a reader changes files");
  return both_open;
}

}  // namespace ashlar::fuzz
