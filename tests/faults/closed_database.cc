#include "tests/faults/closed_database.h"

#include <algorithm>

#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

ClosedDatabase::ClosedDatabase() : options_(SmallDatabaseOptions()) {
  BlockBasedTableOptions table;
  table.block_size = 512;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.max_manifest_file_size = 1 << 20;
  const auto file_system = std::make_shared<MemoryFileSystem>();
  OpenDatabase database(file_system, options_, 1);
  ASHLAR_ASSERT(database.Open().ok());
  ASHLAR_ASSERT(database.CreateFamily("second").ok());
  for (int i = 0; i < 160; ++i) {
    const std::string family = i % 3 == 0 ? "second" : kDefaultColumnFamilyName;
    Commit commit{{.kind = Change::Kind::kPut,
                   .family = family,
                   .key = StrCat("key", i % 50),
                   .value = StrCat(i, std::string(60, 'v'))},
                  {.kind = Change::Kind::kMerge,
                   .family = family,
                   .key = StrCat("list", i % 4),
                   .value = StrCat(i)}};
    if (i % 7 == 0)
      commit.push_back({.kind = Change::Kind::kDelete,
                        .family = family,
                        .key = StrCat("key", (i + 20) % 50),
                        .value = ""});
    if (i % 11 == 5)
      commit.push_back({.kind = Change::Kind::kDeleteRange,
                        .family = family,
                        .key = StrCat("key", i % 40),
                        .value = StrCat("key", i % 40, 9)});
    ASHLAR_ASSERT(database.Write(commit, WriteOptions()).ok());
    Apply(commit, &contents_);
    if (i % 40 == 39 && i < 150)
      ASHLAR_ASSERT(database
                        .Flush(i == 39 ? database.families()
                                       : std::set<std::string>{kDefaultColumnFamilyName},
                               true)
                        .ok());
    if (i == 60)
      ASHLAR_ASSERT(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  ASHLAR_ASSERT(database.Close().ok());
  image_ = file_system->Snapshot();
}

std::vector<std::string> ClosedDatabase::Files() const {
  const std::string prefix = std::string(OpenDatabase::kPath).substr(1) + "/";
  std::vector<std::string> names;
  for (const MemoryImage::Entry& entry : image_.entries) {
    if (!entry.is_directory && entry.path.starts_with(prefix))
      names.push_back(entry.path.substr(prefix.size()));
  }
  return names;
}

std::string ClosedDatabase::FileLike(const std::string& text) const {
  std::string found;
  for (const std::string& name : Files()) {
    if (name.find(text) != std::string::npos) found = std::max(found, name);
  }
  ASHLAR_ASSERT(!found.empty());
  return found;
}

const std::string& ClosedDatabase::Bytes(const std::string& name) const {
  const auto entry = std::find_if(
      image_.entries.begin(), image_.entries.end(),
      [&](const MemoryImage::Entry& candidate) { return "/" + candidate.path == Path(name); });
  ASHLAR_ASSERT(entry != image_.entries.end());
  return *entry->bytes;
}

MemoryImage ClosedDatabase::With(const std::string& name, const std::string& bytes) const {
  MemoryImage image = image_;
  for (MemoryImage::Entry& entry : image.entries) {
    if ("/" + entry.path == Path(name)) entry.bytes = std::make_shared<const std::string>(bytes);
  }
  return image;
}

MemoryImage ClosedDatabase::Without(const std::string& name) const {
  MemoryImage image = image_;
  std::erase_if(image.entries,
                [&](const MemoryImage::Entry& entry) { return "/" + entry.path == Path(name); });
  return image;
}

MemoryImage ClosedDatabase::WithDirectoryInsteadOf(const std::string& name) const {
  MemoryImage image = image_;
  for (MemoryImage::Entry& entry : image.entries) {
    if ("/" + entry.path != Path(name)) continue;
    entry.is_directory = true;
    entry.bytes = nullptr;
  }
  return image;
}

namespace {

uint64_t FingerprintWithoutLock(MemoryImage image) {
  std::erase_if(image.entries,
                [](const MemoryImage::Entry& entry) { return entry.path.ends_with("/LOCK"); });
  return image.Fingerprint();
}

void ReadFamily(DB* db, ColumnFamilyHandle* family, const FamilyContents& expected,
                Autopsy* autopsy) {
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), family));
  auto next = expected.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (next == expected.end() || it->key() != Slice(next->first) ||
        it->value() != Slice(next->second))
      autopsy->wrong_data = true;
    if (autopsy->wrong_data) return;
    ++next;
  }
  if (it->status().ok() && next != expected.end()) autopsy->wrong_data = true;
  if (!it->status().ok() && autopsy->status.ok()) autopsy->status = it->status();
  for (const auto& [key, value] : expected) {
    PinnableSlice found;
    const Status status = db->Get(ReadOptions(), family, key, &found);
    if (status.IsNotFound() || (status.ok() && found != Slice(value))) autopsy->wrong_data = true;
    if (!status.ok() && autopsy->status.ok()) autopsy->status = status;
  }
  PinnableSlice found;
  if (db->Get(ReadOptions(), family, "no such key", &found).ok()) autopsy->wrong_data = true;
}

}  // namespace

Autopsy OpenAndReadAll(const MemoryImage& image, const Options& options, const Contents& expected) {
  const auto file_system = std::make_shared<MemoryFileSystem>(image);
  OpenDatabase database(file_system, options, 1);
  Autopsy autopsy;
  autopsy.status = database.Open();
  autopsy.opened = autopsy.status.ok();
  if (!autopsy.opened) {
    autopsy.untouched =
        FingerprintWithoutLock(file_system->Snapshot()) == FingerprintWithoutLock(image);
    return autopsy;
  }
  for (const auto& [name, contents] : expected) {
    if (!database.families().contains(name)) {
      autopsy.wrong_data = true;
      return autopsy;
    }
    ReadFamily(database.db(), database.family(name), contents, &autopsy);
  }
  return autopsy;
}

}  // namespace ashlar
