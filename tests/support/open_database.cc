#include "tests/support/open_database.h"

#include <utility>

#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "base/result.h"
#include "tests/support/check_invariants.h"

namespace ashlar {

void Apply(const Commit& commit, Contents* contents) {
  for (const Change& change : commit) {
    FamilyContents& family = (*contents)[change.family];
    switch (change.kind) {
      case Change::Kind::kPut: family[change.key] = change.value; break;
      case Change::Kind::kDelete: family.erase(change.key); break;
      case Change::Kind::kDeleteRange:
        family.erase(family.lower_bound(change.key), family.lower_bound(change.value));
        break;
      case Change::Kind::kMerge: {
        const auto existing = family.find(change.key);
        if (existing == family.end()) {
          family[change.key] = change.value;
        } else {
          existing->second += "," + change.value;
        }
        break;
      }
    }
  }
}

OpenDatabase::OpenDatabase(const std::shared_ptr<vfs::FileSystem>& file_system,
                           const Options& options, uint64_t seed)
    : env_(file_system, seed), options_(options) {
  options_.env = &env_;
}

OpenDatabase::~OpenDatabase() {
  for (const auto& [name, handle] : handles_) delete handle;
}

SstFileManager* OpenDatabase::ManageSpace(int64_t delete_rate, uint64_t chunk_bytes) {
  constexpr double kAnyRatio = 1e9;
  options_.sst_file_manager.reset(NewSstFileManager(&env_, env_.GetFileSystem(), nullptr, "",
                                                    delete_rate, true, nullptr, kAnyRatio,
                                                    chunk_bytes));
  return options_.sst_file_manager.get();
}

Status OpenDatabase::Open() {
  std::vector<std::string> names;
  const Status listed = DB::ListColumnFamilies(options_, kPath, &names);
  if (!listed.ok()) names = {kDefaultColumnFamilyName};
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options_);
  std::vector<ColumnFamilyHandle*> handles;
  ASHLAR_RETURN_IF_ERROR(DB::Open(options_, kPath, families, &handles, &db_));
  for (ColumnFamilyHandle* handle : handles) handles_[handle->GetName()] = handle;
  CheckInvariants(db_.get());
  return Status::OK();
}

Status OpenDatabase::Close() {
  CheckInvariants(db_.get());
  for (const auto& [name, handle] : std::exchange(handles_, {})) delete handle;
  const Status closed = db_->Close();
  db_.reset();
  return closed;
}

Status OpenDatabase::Write(const Commit& commit, const WriteOptions& write_options) {
  WriteBatch batch;
  for (const Change& change : commit) {
    ColumnFamilyHandle* const handle = handles_.at(change.family);
    switch (change.kind) {
      case Change::Kind::kPut:
        ASHLAR_RETURN_IF_ERROR(batch.Put(handle, change.key, change.value));
        break;
      case Change::Kind::kDelete: ASHLAR_RETURN_IF_ERROR(batch.Delete(handle, change.key)); break;
      case Change::Kind::kDeleteRange:
        ASHLAR_RETURN_IF_ERROR(batch.DeleteRange(handle, change.key, change.value));
        break;
      case Change::Kind::kMerge:
        ASHLAR_RETURN_IF_ERROR(batch.Merge(handle, change.key, change.value));
        break;
    }
  }
  return db_->Write(write_options, &batch);
}

Status OpenDatabase::Read(Contents* contents) const {
  contents->clear();
  for (const auto& [name, handle] : handles_) {
    FamilyContents& family = (*contents)[name];
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      family[it->key().ToString()] = it->value().ToString();
    ASHLAR_RETURN_IF_ERROR(it->status());
  }
  return Status::OK();
}

Status OpenDatabase::CreateFamily(const std::string& name) {
  ColumnFamilyHandle* handle = nullptr;
  const Status status = db_->CreateColumnFamily(options_, name, &handle);
  // There is also a handle if the error is only that the family's options could not be recorded.
  if (handle != nullptr) handles_[name] = handle;
  return status;
}

Status OpenDatabase::DropFamily(const std::string& name) {
  ASHLAR_RETURN_IF_ERROR(db_->DropColumnFamily(handles_.at(name)));
  delete handles_.at(name);
  handles_.erase(name);
  return Status::OK();
}

Status OpenDatabase::Flush(const std::set<std::string>& families, bool wait) {
  std::vector<ColumnFamilyHandle*> handles;
  for (const std::string& name : families) handles.push_back(handles_.at(name));
  FlushOptions flush;
  flush.wait = wait;
  flush.allow_write_stall = true;
  return db_->Flush(flush, handles);
}

std::set<std::string> OpenDatabase::families() const {
  std::set<std::string> names;
  for (const auto& [name, handle] : handles_) names.insert(name);
  return names;
}

Options SmallDatabaseOptions() {
  Options options;
  options.create_if_missing = true;
  options.info_log = std::make_shared<SilentLogger>();
  options.compression = kNoCompression;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  options.write_buffer_size = 64 << 10;
  options.max_write_buffer_number = 6;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.level0_file_num_compaction_trigger = 3;
  options.max_manifest_file_size = 2000;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace ashlar
