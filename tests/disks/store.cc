#include "tests/disks/store.h"

#include <utility>

#include "ashlar/backup_engine.h"
#include "ashlar/checkpoint.h"
#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"

namespace ashlar::disks {

namespace {

constexpr uint64_t kIngestedKeys = 400;
const char* const kFamilyNames[] = {"default", "other"};

// So small that a load of a few MB flushes and compacts all the time.
Options SmallOptions() {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.write_buffer_size = size_t{256} << 10;
  options.target_file_size_base = uint64_t{256} << 10;
  options.max_bytes_for_level_base = uint64_t{1} << 20;
  options.level0_file_num_compaction_trigger = 2;
  options.compression = kNoCompression;
  return options;
}

std::string PoolKey(size_t family, const std::string& key) { return StrCat(family, "/", key); }

std::string IngestedKey(uint64_t ingestion, uint64_t i) {
  return StrCat(kIngestedPrefix, 1'000'000 + ingestion, "/", 1'000'000 + i);
}

}  // namespace

class DatabaseStore::Recoveries : public EventListener {
 public:
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    outcome_ = info.new_bg_error;
    ended_.Add();
  }
  // Requires: one recovery.
  Status Await() {
    ended_.Take(1);
    return outcome_;
  }

 private:
  Tickets ended_;
  Status outcome_;  // written before the ticket is added, read after it was taken
};

Status DatabaseStore::Open(const std::string& directory, const std::string& mode,
                           const std::string& options, std::unique_ptr<DatabaseStore>* store) {
  auto opened = std::make_unique<DatabaseStore>();
  Status s = GetOptionsFromString(SmallOptions(), options, &opened->options_);
  if (!s.ok()) return s;
  if (mode == "rw-manager")
    opened->options_.sst_file_manager.reset(NewSstFileManager(Env::Default()));
  opened->recoveries_ = std::make_shared<Recoveries>();
  opened->options_.listeners.push_back(opened->recoveries_);

  const Options& all = opened->options_;
  std::vector<ColumnFamilyDescriptor> families;
  for (const char* const name : kFamilyNames) families.emplace_back(name, all);
  const std::string_view secondary = "secondary:";
  if (mode == "ro") {
    s = DB::OpenForReadOnly(all, directory, families, &opened->handles_, &opened->db_);
  } else if (mode.starts_with(secondary)) {
    s = DB::OpenAsSecondary(all, directory, mode.substr(secondary.size()), families,
                            &opened->handles_, &opened->db_);
  } else {
    s = DB::Open(all, directory, families, &opened->handles_, &opened->db_);
  }
  if (s.ok()) *store = std::move(opened);
  return s;
}

DatabaseStore::~DatabaseStore() { DeleteHandles(); }

void DatabaseStore::DeleteHandles() {
  for (ColumnFamilyHandle* const handle : handles_) delete handle;
  handles_.clear();
  delete made_;
  made_ = nullptr;
}

Status DatabaseStore::Write(const std::vector<Change>& changes, bool sync) {
  WriteBatch batch;
  for (const Change& change : changes) {
    ColumnFamilyHandle* const handle = handles_[change.family];
    const Status added = change.is_put ? batch.Put(handle, change.key, change.value)
                                       : batch.Delete(handle, change.key);
    if (!added.ok()) return added;
  }
  WriteOptions options;
  options.sync = sync;
  return db_->Write(options, &batch);
}

Status DatabaseStore::Read(size_t family, Contents* contents) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[family]));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    contents->emplace_hint(contents->end(), it->key().ToString(), it->value().ToString());
  return it->status();
}

Status DatabaseStore::Get(size_t family, const std::string& key, std::string* value) {
  return db_->Get(ReadOptions(), handles_[family], key, value);
}

Status DatabaseStore::Verify() { return db_->VerifyChecksum(); }

Status DatabaseStore::Close() {
  DeleteHandles();
  return db_->Close();
}

Status DatabaseStore::Flush() { return db_->Flush(FlushOptions(), handles_); }

Status DatabaseStore::Compact() {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (ColumnFamilyHandle* const handle : handles_) {
    if (Status s = db_->CompactRange(options, handle, nullptr, nullptr); !s.ok()) return s;
  }
  return Status::OK();
}

Status DatabaseStore::MakeFamily(size_t name_bytes) {
  if (made_ == nullptr) {
    const std::string name(name_bytes, 'n');
    if (Status s = db_->CreateColumnFamily(options_, name, &made_); !s.ok()) return s;
  }
  if (Status s = db_->DropColumnFamily(made_); !s.ok()) return s;
  delete made_;
  made_ = nullptr;
  return Status::OK();
}

Status DatabaseStore::ChangeOption() {
  return db_->SetOptions(handles_[0], {{"max_sequential_skip_in_iterations", "9"}});
}

Status DatabaseStore::Ingest(const std::string& file, uint64_t ingestion) {
  SstFileWriter writer(EnvOptions(), options_);
  Status s = writer.Open(file);
  for (uint64_t i = 0; s.ok() && i < kIngestedKeys; ++i)
    s = writer.Put(IngestedKey(ingestion, i), std::string(1000, 'i'));
  if (s.ok()) s = writer.Finish();
  if (!s.ok()) return s;

  const Status ingested = db_->IngestExternalFile({file}, IngestExternalFileOptions());
  uint64_t there = 0;
  for (uint64_t i = 0; i < kIngestedKeys; ++i) {
    std::string value;
    s = db_->Get(ReadOptions(), IngestedKey(ingestion, i), &value);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (s.ok()) ++there;
  }
  if (there != (ingested.ok() ? kIngestedKeys : 0))
    return Status::Corruption(StrCat(there, " keys of an ingested table are there after"),
                              ingested.ToString());
  return ingested;
}

Status DatabaseStore::Checkpoint(const std::string& directory) {
  ashlar::Checkpoint* made = nullptr;
  if (Status s = ashlar::Checkpoint::Create(db_.get(), &made); !s.ok()) return s;
  const std::unique_ptr<ashlar::Checkpoint> checkpoint(made);
  return checkpoint->CreateCheckpoint(directory);
}

Status DatabaseStore::Backup(const std::string& directory) {
  BackupEngine* made = nullptr;
  if (Status s = BackupEngine::Open(BackupEngineOptions(directory), Env::Default(), &made); !s.ok())
    return s;
  const std::unique_ptr<BackupEngine> engine(made);
  return engine->CreateNewBackup(db_.get());
}

Status DatabaseStore::Resume() { return db_->Resume(); }

Status DatabaseStore::AwaitRecovery() { return recoveries_->Await(); }

Status PoolStore::Open(const std::string& path, const std::string& durability, uint64_t pool_bytes,
                       std::unique_ptr<PoolStore>* store) {
  PersistentTreeOptions options;
  options.create_if_missing = true;
  options.pool_bytes = pool_bytes;
  // So small that a checkpoint is always under way.
  options.log_bytes_max = uint64_t{1} << 20;
  for (const DurabilityClass known :
       {DurabilityClass::kCpuFlush, DurabilityClass::kProcessCrashOnly, DurabilityClass::kLogged}) {
    if (durability == DurabilityClassName(known)) options.durability = known;
  }
  auto opened = std::make_unique<PoolStore>();
  Status s = PersistentTree::Open(options, path, &opened->tree_);
  if (s.ok()) *store = std::move(opened);
  return s;
}

Status PoolStore::Write(const std::vector<Change>& changes, bool /*sync*/) {
  WriteBatch batch;
  for (const Change& change : changes) {
    const std::string key = PoolKey(change.family, change.key);
    const Status added = change.is_put ? batch.Put(key, change.value) : batch.Delete(key);
    if (!added.ok()) return added;
  }
  return tree_->Write(batch);
}

Status PoolStore::Read(size_t family, Contents* contents) {
  const std::string begin = PoolKey(family, "");
  const std::string end = PoolKey(family + 1, "");
  ReadOptions options;
  options.verify_checksums = true;
  const std::unique_ptr<Iterator> it = tree_->NewIterator(options, KeyRange::Between(begin, end));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    contents->emplace_hint(contents->end(), it->key().ToString().substr(begin.size()),
                           it->value().ToString());
  return it->status();
}

Status PoolStore::Get(size_t family, const std::string& key, std::string* value) {
  return tree_->Get(ReadOptions(), PoolKey(family, key), value);
}

Status PoolStore::Verify() { return tree_->Verify(); }

Status PoolStore::Close() { return tree_->Close(); }

Status RestoreBackup(const std::string& backups, const std::string& directory) {
  BackupEngineReadOnly* opened = nullptr;
  Status s = BackupEngineReadOnly::Open(BackupEngineOptions(backups), Env::Default(), &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  return engine->RestoreDBFromLatestBackup(directory, directory);
}

}  // namespace ashlar::disks
