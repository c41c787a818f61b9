#include "ashlar/inspect.h"

#include <map>
#include <memory>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "execute/epoch.h"
#include "filesystem/filename.h"
#include "manifest/manifest_reader.h"
#include "manifest/read_without_lock.h"
#include "table/file_metadata.h"
#include "table/open/table_cache.h"

namespace ashlar {
namespace {

// Accepts keys in any order, so that a table can be checked although its comparator is unknown.
// Searches with it find nothing.
class UncheckedOrder final : public Comparator {
 public:
  explicit UncheckedOrder(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const Slice& /*a*/, const Slice& /*b*/) const override { return -1; }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  const std::string name_;
};

// The tables and properties of one family, collected while the MANIFEST is read.
struct FamilyRecord {
  std::string name;
  std::string comparator = BytewiseComparator()->Name();  // if no edit names one
  std::map<DeletedFile, std::unique_ptr<FileMetaData>> tables;
};

SstFileMetaData Describe(const std::string& directory, const FileMetaData& file) {
  SstFileMetaData out;
  out.relative_filename = BaseName(TableFileName(directory, file.number));
  out.name = "/" + out.relative_filename;
  out.directory = directory;
  out.db_path = directory;
  out.file_number = file.number;
  out.size = file.file_bytes;
  out.temperature = file.temperature;
  out.file_checksum = file.checksum;
  out.file_checksum_func_name = file.checksum_function;
  out.smallest_seqno = file.smallest_sequence;
  out.largest_seqno = file.largest_sequence;
  out.smallestkey = file.smallest_user_key().ToString();
  out.largestkey = file.largest_user_key().ToString();
  out.oldest_ancester_time = file.oldest_ancestor_unix_seconds;
  out.file_creation_time = file.creation_unix_seconds;
  return out;
}

Status Apply(VersionEdit* edit, std::map<ColumnFamilyId, FamilyRecord>* families,
             std::string* identity) {
  if (edit->database_id.has_value()) *identity = *edit->database_id;
  if (edit->added_column_family.has_value())
    (*families)[edit->column_family].name = *edit->added_column_family;
  if (edit->drops_column_family) {
    families->erase(edit->column_family);
    return Status::OK();
  }
  const auto found = families->find(edit->column_family);
  if (found == families->end())
    return Status::Corruption(
        StrCat("an edit names column family ", edit->column_family, ", which does not exist"));
  FamilyRecord& family = found->second;
  if (edit->comparator.has_value()) family.comparator = *edit->comparator;
  for (const DeletedFile& deleted : edit->deleted_files()) family.tables.erase(deleted);
  for (NewFile& added : edit->TakeNewFiles()) {
    const DeletedFile place{.level = added.level, .number = added.owned->number};
    family.tables[place] = std::move(added.owned);
  }
  return Status::OK();
}

ColumnFamilyInventory Describe(const std::string& directory, ColumnFamilyId id,
                               const FamilyRecord& family) {
  ColumnFamilyInventory out;
  out.id = id;
  out.comparator = family.comparator;
  out.metadata.name = family.name;
  for (const auto& [place, file] : family.tables) {
    for (size_t level = out.metadata.levels.size(); level <= place.level; ++level) {
      out.metadata.levels.emplace_back().level = static_cast<int>(level);
    }
    LevelMetaData& level = out.metadata.levels[place.level];
    level.size += file->file_bytes;
    level.files.push_back(Describe(directory, *file));
    out.metadata.size += file->file_bytes;
    ++out.metadata.file_count;
  }
  return out;
}

// One table, open outside of any database.
class TableAlone {
 public:
  TableAlone(const DBOptions& db_options, const SstFileMetaData& table,
             const std::string& comparator)
      : file_system_(db_options.env->EngineFiles()),
        path_(TableFileName(table.directory, table.file_number)),
        unchecked_(comparator),
        cache_(TableCacheArgs{.file_system = file_system_.get(),
                              .epochs = &epochs_,
                              .directory = table.directory,
                              .comparator = KeyComparator(Order(comparator)),
                              .open_tables = &open_tables_,
                              .mmap_reads = db_options.allow_mmap_reads,
                              .direct_reads = db_options.use_direct_reads}) {
    file_.number = table.file_number;
    file_.file_bytes = table.size;
    file_.smallest_sequence = table.smallest_seqno;
    file_.largest_sequence = table.largest_seqno;
  }

  Status ReadProperties(TableProperties* properties) {
    const Result<TableRef> table = cache_.Acquire(&file_, {});
    if (!table.ok()) return Explained(table.status());
    *properties = (*table)->properties();
    return Status::OK();
  }
  Status Verify() { return Explained(cache_.Verify(&file_)); }

 private:
  const Comparator* Order(const std::string& name) const {
    for (const Comparator* known : {BytewiseComparator(), ReverseBytewiseComparator()}) {
      if (name == known->Name()) return known;
    }
    return &unchecked_;
  }
  Status Explained(const Status& status) const {
    return status.IsPathNotFound() ? Status::Corruption(path_, "the table is missing") : status;
  }

  const std::shared_ptr<vfs::FileSystem> file_system_;
  const std::string path_;
  const UncheckedOrder unchecked_;
  EpochDomain epochs_;
  OpenTables open_tables_{&epochs_, 0};
  FileMetaData file_;
  TableCache cache_;  // closes the table before the file's metadata is destroyed
};

Status ReadInventoryOnce(vfs::FileSystem* file_system, const std::string& name,
                         DatabaseInventory* inventory) {
  *inventory = DatabaseInventory();
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> manifest,
                          ManifestReader::Open(file_system, name));
  std::map<ColumnFamilyId, FamilyRecord> families;
  families[0].name = kDefaultColumnFamilyName;
  while (true) {
    VersionEdit edit;
    if (!manifest->Next(&edit)) break;
    ASHLAR_RETURN_IF_ERROR(
        Apply(&edit, &families, &inventory->identity).WithContext(manifest->file_name()));
  }
  ASHLAR_RETURN_IF_ERROR(manifest->status());
  for (const auto& [id, family] : families)
    inventory->column_families.push_back(Describe(name, id, family));
  return Status::OK();
}

}  // namespace

Status ReadInventory(const DBOptions& db_options, const std::string& name,
                     DatabaseInventory* inventory) {
  const std::shared_ptr<vfs::FileSystem> file_system = db_options.env->EngineFiles();
  return ReadWithoutLock([&] { return ReadInventoryOnce(file_system.get(), name, inventory); });
}

Status ReadTableProperties(const DBOptions& db_options, const SstFileMetaData& table,
                           const std::string& comparator, TableProperties* properties) {
  return TableAlone(db_options, table, comparator).ReadProperties(properties);
}

Status VerifyTable(const DBOptions& db_options, const SstFileMetaData& table,
                   const std::string& comparator) {
  return TableAlone(db_options, table, comparator).Verify();
}

}  // namespace ashlar
