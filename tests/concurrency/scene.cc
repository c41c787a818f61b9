#include "tests/concurrency/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "ashlar/compaction_filter.h"
#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";
constexpr size_t kValueBytes = 300;
constexpr size_t kVersionDigits = 12;
constexpr char kWritten = 'v';
constexpr char kFiltered = 'w';
const std::vector<std::string> kFamilyNames = {"default", "universal", "fifo", "filtered"};
constexpr size_t kFilteredFamily = 3;
constexpr char kUnloggedFamily[] = "unlogged";
// Smaller than the tables of the model.
constexpr size_t kCacheBytes = 64 << 10;
// So high that nothing waits, until SetBytesPerSecond lowers it.
constexpr int64_t kBytesPerSecond = 1 << 30;
constexpr int64_t kRefillMicroseconds = 1000;

// The writes that FailAWriteThenResume makes fail: in the log, in tables, in the MANIFEST.
struct WriteFault {
  FaultOperation operation;
  const char* name;
  FaultEffect effect;
};
constexpr WriteFault kWriteFaults[] = {
    {FaultOperation::kAppend, ".log", FaultEffect::kFailBefore},
    {FaultOperation::kAppend, ".sst", FaultEffect::kFailBefore},
    {FaultOperation::kAppend, ".log", FaultEffect::kPartialAppend},
    {FaultOperation::kSync, ".sst", FaultEffect::kFailBefore},
    {FaultOperation::kAppend, "MANIFEST", FaultEffect::kFailBefore},
    {FaultOperation::kOpenForWriting, ".sst", FaultEffect::kFailBefore},
};

std::string Digits(uint64_t number, size_t width) {
  const std::string digits = StrCat(number);
  return std::string(width - digits.size(), '0') + digits;
}
std::string KeyOf(size_t writer, size_t i) { return StrCat("m", writer, "-", Digits(i, 4)); }
std::string ValueOf(uint64_t version, char fill = kWritten) {
  return Digits(version, kVersionDigits) + std::string(kValueBytes, fill);
}

// Returns 0 if it is not a value of the model.
uint64_t VersionOf(const Slice& value) {
  if (value.size() != kVersionDigits + kValueBytes) return 0;
  const char fill = value[kVersionDigits];
  const std::string version(value.data(), kVersionDigits);
  if (fill != kWritten && fill != kFiltered) return 0;
  if (!std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  const uint64_t number = std::stoull(version);
  return value == Slice(ValueOf(number, fill)) ? number : 0;
}

class PairsFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "PairsFilter"; }
  bool Filter(int /*level*/, const Slice& key, const Slice& value, std::string* new_value,
              bool* changed) const override {
    if (key.size() > 0 && key[0] == 'x') return true;
    const uint64_t version = key.size() > 0 && key[0] == 'm' ? VersionOf(value) : 0;
    *changed = version % 2 == 1 && value[kVersionDigits] == kWritten;
    if (*changed) *new_value = ValueOf(version, kFiltered);
    return false;
  }
};

class FilterFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "PairsFilterFactory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason /*reason*/) const override {
    return true;
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<PairsFilter>();
  }
};

ColumnFamilyOptions OptionsOf(const std::string& family, const Options& base) {
  ColumnFamilyOptions options(base);
  if (family == "universal") options.compaction_style = kCompactionStyleUniversal;
  if (family == "fifo") {
    options.compaction_style = kCompactionStyleFIFO;
    options.compaction_options_fifo.max_table_files_size = 128 << 10;
    options.compaction_options_fifo.allow_compaction = true;
  }
  if (family == "filtered") options.compaction_filter_factory = std::make_shared<FilterFactory>();
  return options;
}

// Reads the versions of a family. Returns false after a failure.
bool ReadVersions(Iterator* it, Scene::Versions* versions) {
  *versions = {};
  size_t seen = 0;
  for (it->Seek("m"); it->Valid() && it->key().starts_with("m"); it->Next()) {
    const std::string key = it->key().ToString();
    const uint64_t version = VersionOf(it->value());
    if (version == 0 || key.size() != 7) {
      ADD_FAILURE() << key << " has a value that no writer wrote: " << it->value().ToString();
      return false;
    }
    const size_t writer = static_cast<size_t>(key[1] - '0');
    const size_t i = std::stoull(key.substr(3));
    if (writer >= Scene::kWriters || i >= Scene::kKeysPerWriter) {
      ADD_FAILURE() << "a key that no writer wrote: " << key;
      return false;
    }
    (*versions)[writer][i] = version;
    ++seen;
  }
  if (!it->status().ok()) {
    ADD_FAILURE() << "after " << seen << " keys: " << it->status().ToString();
    return false;
  }
  return true;
}

std::shared_ptr<FaultFileSystem> MakeFaults(const SceneKind& kind) {
  return kind.has_faults ? std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>())
                         : nullptr;
}

std::unique_ptr<Env> MakeEnv(const std::shared_ptr<FaultFileSystem>& faults) {
  if (faults != nullptr) return NewCompositeEnv(faults);
  return NewCompositeEnv(std::make_shared<MemoryFileSystem>());
}

// True for the status of a call that a Close, or the cancelling of background work, has cut off.
bool IsCutOff(const Status& status) {
  return status.IsShutdownInProgress() || status.IsAborted() || status.IsIncomplete();
}

}  // namespace

Scene::Scene(const SceneKind& kind)
    : kind_(kind),
      faults_(MakeFaults(kind)),
      env_(MakeEnv(faults_)),
      cache_(NewLRUCache(kCacheBytes)) {
  options_.env = env_.get();
  options_.create_if_missing = true;
  options_.create_missing_column_families = true;
  options_.compression = kNoCompression;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 4;
  // The model has 37 KB in each family, so the base level is two levels above the last one.
  options_.max_bytes_for_level_base = 8 << 10;
  options_.max_bytes_for_level_multiplier = 3;
  options_.target_file_size_base = 8 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_background_jobs = 4;
  options_.enable_thread_tracking = true;
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0);
  options_.rate_limiter.reset(NewGenericRateLimiter(kBytesPerSecond, kRefillMicroseconds));
  BlockBasedTableOptions table;
  table.block_cache = cache_;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.recycle_log_file_num = kind.recycles_logs ? 2 : 0;
  options_.manual_wal_flush = kind.flushes_log_by_hand;
  options_.info_log = std::make_shared<SilentLogger>();
}

Scene::~Scene() {
  CloseHandles();
  EXPECT_EQ(cache_->GetUsage(), 0U);
}

void Scene::CloseHandles() {
  families_.clear();
  unlogged_ = {};
  {
    MutexLock lock(victim_mutex_);
    victim_ = {};
  }
  db_.reset();
}

void Scene::Open() {
  std::vector<std::string> there;
  static_cast<void>(DB::ListColumnFamilies(options_, kPath, &there).ok());
  std::vector<ColumnFamilyDescriptor> descriptors = ModelFamilies();
  descriptors.emplace_back(kUnloggedFamily, OptionsOf(kUnloggedFamily, options_));
  const auto is_known = [&](const std::string& name) {
    return name == kUnloggedFamily ||
           std::find(kFamilyNames.begin(), kFamilyNames.end(), name) != kFamilyNames.end();
  };
  // Victims, and families of calls that Close or a fault cut off.
  for (const std::string& name : there) {
    if (!is_known(name)) descriptors.emplace_back(name, VictimOptions());
  }
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(options_, kPath, descriptors, &handles, &db_));
  for (size_t i = 0; i < handles.size(); ++i) {
    if (i < kFamilyNames.size()) {
      families_.push_back({.handle = std::shared_ptr<ColumnFamilyHandle>(handles[i]),
                           .loses_old_tables = kFamilyNames[i] == "fifo"});
    } else if (i == kFamilyNames.size()) {
      unlogged_ = {.handle = std::shared_ptr<ColumnFamilyHandle>(handles[i])};
    } else {
      ASSERT_OK(db_->DropColumnFamily(handles[i]));
      delete handles[i];
    }
  }
  CreateVictim();
}

ColumnFamilyOptions Scene::VictimOptions() const { return OptionsOf("victim", options_); }

void Scene::CreateVictim() {
  std::string name;
  {
    MutexLock lock(victim_mutex_);
    name = StrCat("victim", ++victims_);
  }
  ColumnFamilyHandle* made = nullptr;
  if (!Succeeded(db_->CreateColumnFamily(VictimOptions(), name, &made))) return;
  MutexLock lock(victim_mutex_);
  victim_ = {.handle = std::shared_ptr<ColumnFamilyHandle>(made), .may_be_dropped = true};
}

void Scene::DropVictim() {
  Target old;
  {
    MutexLock lock(victim_mutex_);
    old = victim_;
  }
  CreateVictim();
  // Two calls may drop one victim.
  Succeeded(db_->DropColumnFamilies({old.get()}), old, {Status::kInvalidArgument});
}

Scene::Target Scene::Pick(Random* random) const {
  const size_t i = random->Uniform(families_.size() + 1);
  if (i < families_.size()) return families_[i];
  MutexLock lock(victim_mutex_);
  return victim_;
}

void Scene::WriteOne(size_t writer, Random* random) {
  const size_t i = random->Uniform(kKeysPerWriter);
  const uint64_t version = ++last_version_[writer];
  const std::string key = KeyOf(writer, i);
  const std::string value = ValueOf(version);
  WriteBatch batch;
  for (const Target& family : families_) EXPECT_OK(batch.Put(family.get(), key, value));
  if (version % 4 == 0) {
    EXPECT_OK(batch.Put(families_[kFilteredFamily].get(), StrCat("x", writer, "-", i), value));
  }
  attempted_[writer][i].store(version);
  if (Succeeded(db_->Write(WriteOptions(), &batch)))
    acknowledged_[writer][i].store(version, std::memory_order_release);
}

void Scene::ReadOne(Random* random) const {
  const size_t writer = random->Uniform(kWriters);
  const size_t i = random->Uniform(kKeysPerWriter);
  const Target& family = families_[random->Uniform(families_.size())];
  const uint64_t floor = acknowledged_[writer][i].load(std::memory_order_acquire);
  PinnableSlice value;
  const Status status = db_->Get(ReadOptions(), family.get(), KeyOf(writer, i), &value);
  if (status.IsNotFound()) {
    ASSERT_TRUE(floor == 0 || family.loses_old_tables) << KeyOf(writer, i) << " is lost";
  } else if (Succeeded(status)) {
    ASSERT_GE(VersionOf(value), std::max<uint64_t>(1, floor)) << KeyOf(writer, i);
  }
}

void Scene::WriteUnlogged(size_t thread, uint64_t number) {
  WriteOptions options;
  options.disableWAL = kind_.writes_without_log;
  const std::string key = StrCat("u", thread);
  if (!Succeeded(db_->Put(options, unlogged_.get(), key, StrCat(number)))) return;
  unlogged_acknowledged_[thread].store(number);
  std::string value;
  const Status got = db_->Get(ReadOptions(), unlogged_.get(), key, &value);
  if (Succeeded(got)) {
    EXPECT_EQ(value, StrCat(number)) << key;
  }
  if (number % 4 == 0 && Succeeded(db_->Flush(FlushOptions(), unlogged_.get())))
    unlogged_flushed_[thread].store(number);
}

uint64_t Scene::ReadUnlogged(size_t thread) const {
  std::string value;
  const Status got = db_->Get(ReadOptions(), unlogged_.get(), StrCat("u", thread), &value);
  if (got.IsNotFound()) return 0;
  EXPECT_OK(got);
  return got.ok() ? std::stoull(value) : 0;
}

void Scene::FailAWriteThenResume() {
  const WriteFault& fault = kWriteFaults[faults_made_++ % std::size(kWriteFaults)];
  FaultRule rule;
  rule.operations = fault.operation;
  rule.path_begins_with = StrCat(kPath, "/");
  rule.name_contains = fault.name;
  rule.effect = fault.effect;
  faults_->AddRule(rule);
  // These calls write all such files. A write of another thread may meet the fault first.
  Succeeded(db_->Put(WriteOptions(), families_.front().get(), "t-fault", "value"));
  Succeeded(db_->Flush(FlushOptions(), families_.front().get()));
  faults_->ClearRules();
  // Each failure comes from a newer fault of another thread. Busy: that thread resumes, too.
  for (int failures = 0; failures < 100;) {
    const Status resumed = db_->Resume();
    if (Succeeded(resumed, {Status::kBusy}) || is_closing() || ::testing::Test::HasFailure())
      return;
    if (!resumed.IsBusy()) ++failures;
    std::this_thread::yield();
  }
  ADD_FAILURE() << "the database cannot be resumed";
}

void Scene::Settle() {
  // A job whose write failed may report it after the resume of the thread that made it fail.
  Status idle;
  for (int tries = 0; tries == 0 || (!idle.ok() && tries < 10); ++tries) {
    idle = db_->WaitForCompact(WaitForCompactOptions());
    ASSERT_OK(db_->Resume());
  }
  ASSERT_OK(idle);
  RemoveTemporaryKeys();
}

Scene::Versions Scene::Floor() const {
  Versions floor;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t i = 0; i < kKeysPerWriter; ++i)
      floor[writer][i] = acknowledged_[writer][i].load(std::memory_order_acquire);
  }
  return floor;
}

void Scene::CheckIterators(const std::vector<std::unique_ptr<Iterator>>& iterators,
                           const Versions& floor) const {
  Versions first;
  ASSERT_TRUE(ReadVersions(iterators[0].get(), &first));
  for (size_t family = 0; family < iterators.size(); ++family) {
    Versions found;
    ASSERT_TRUE(ReadVersions(iterators[family].get(), &found));
    for (size_t writer = 0; writer < kWriters; ++writer) {
      for (size_t i = 0; i < kKeysPerWriter; ++i) {
        const uint64_t version = found[writer][i];
        if (version == 0 && families_[family].loses_old_tables) continue;
        ASSERT_GE(version, floor[writer][i]) << kFamilyNames[family] << ", " << KeyOf(writer, i);
        ASSERT_EQ(version, first[writer][i])
            << kFamilyNames[family] << " has half of a batch: " << KeyOf(writer, i);
      }
    }
  }
}

std::vector<ColumnFamilyDescriptor> Scene::ModelFamilies() const {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : kFamilyNames)
    descriptors.emplace_back(name, OptionsOf(name, options_));
  return descriptors;
}

Status Scene::OpenSecondary(std::unique_ptr<DB>* secondary,
                            std::vector<std::unique_ptr<ColumnFamilyHandle>>* handles) const {
  std::vector<ColumnFamilyHandle*> opened;
  const Status status =
      DB::OpenAsSecondary(options_, kPath, "/secondary", ModelFamilies(), &opened, secondary);
  handles->clear();
  for (ColumnFamilyHandle* const handle : opened) handles->emplace_back(handle);
  return status;
}

void Scene::CheckAndRemoveCopy(const std::string& path, const Versions& floor) const {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::OpenForReadOnly(options_, path, ModelFamilies(), &handles, &copy));
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (ColumnFamilyHandle* const handle : handles)
    iterators.emplace_back(copy->NewIterator(ReadOptions(), handle));
  CheckIterators(iterators, floor);
  iterators.clear();
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  copy.reset();
  Options options;
  options.env = env_.get();
  EXPECT_OK(DestroyDB(path, options));
}

void Scene::CheckSharedBackups() const {
  if (!env_->EngineFiles()->FileExists(kSharedBackups).ok()) return;
  BackupEngineReadOnly* opened = nullptr;
  ASSERT_OK(BackupEngineReadOnly::Open(BackupEngineOptions(kSharedBackups), env_.get(), &opened));
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  std::vector<BackupID> damaged;
  engine->GetCorruptedBackups(&damaged);
  EXPECT_TRUE(damaged.empty());
  std::vector<BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  for (const BackupInfo& backup : backups)
    EXPECT_OK(engine->VerifyBackup(backup.backup_id, /*verify_with_checksum=*/true));
  if (backups.empty()) return;
  ASSERT_OK(engine->RestoreDBFromLatestBackup("/restored", "/restored"));
  CheckAndRemoveCopy("/restored", Versions{});
}

void Scene::SetRunningBackup(std::shared_ptr<RunningBackup> backup) {
  MutexLock lock(backup_mutex_);
  running_backup_.swap(backup);
}

std::shared_ptr<Scene::RunningBackup> Scene::running_backup() const {
  MutexLock lock(backup_mutex_);
  return running_backup_;
}

void Scene::NoteLevels() {
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(families_.front().get(), &metadata);
  uint64_t levels = 0;
  for (const LevelMetaData& level : metadata.levels) {
    if (!level.files.empty()) levels |= uint64_t{1} << level.level;
  }
  levels_seen_.fetch_or(levels);
}

void Scene::CheckContents() {
  for (size_t family = 0; family < families_.size(); ++family) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), families_[family].get()));
    Versions found;
    ASSERT_TRUE(ReadVersions(it.get(), &found));
    for (size_t writer = 0; writer < kWriters; ++writer) {
      for (size_t i = 0; i < kKeysPerWriter; ++i) {
        if (found[writer][i] == 0 && families_[family].loses_old_tables) continue;
        ASSERT_EQ(found[writer][i], acknowledged_[writer][i].load())
            << kFamilyNames[family] << ", " << KeyOf(writer, i);
      }
    }
    it->Seek("t");
    ASSERT_FALSE(it->Valid() && it->key().starts_with("t"))
        << kFamilyNames[family] << ": " << it->key().ToString() << " was deleted";
    ASSERT_OK(it->status());
  }
  for (size_t thread = 0; thread < unlogged_acknowledged_.size(); ++thread)
    EXPECT_EQ(ReadUnlogged(thread), unlogged_acknowledged_[thread].load()) << "thread " << thread;
}

void Scene::AdoptContents() {
  // A write that failed may be in the log.
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Versions found;
  ASSERT_TRUE(ReadVersions(it.get(), &found));
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t i = 0; i < kKeysPerWriter; ++i) {
      if (found[writer][i] == attempted_[writer][i].load())
        acknowledged_[writer][i].store(found[writer][i]);
    }
  }
  // A close flushes these numbers. If a flush may fail, the last ones may be lost.
  const auto& kept = faults_ == nullptr ? unlogged_acknowledged_ : unlogged_flushed_;
  for (size_t thread = 0; thread < unlogged_acknowledged_.size(); ++thread) {
    const uint64_t number = ReadUnlogged(thread);
    ASSERT_GE(number, kept[thread].load()) << "thread " << thread;
    unlogged_acknowledged_[thread].store(number);
  }
}

void Scene::RemoveTemporaryKeys() {
  for (const Target& family : families_)
    ASSERT_OK(db_->DeleteRange(WriteOptions(), family.get(), "t", "u"));
}

void Scene::Reopen() {
  const bool was_cut_off = is_closing_.load();
  CloseHandles();
  is_closing_.store(false);
  Open();
  if (::testing::Test::HasFatalFailure()) return;
  if (was_cut_off) {
    AdoptContents();
    RemoveTemporaryKeys();
  }
  CheckContents();
}

bool Scene::Succeeded(const Status& status, const Target& target,
                      std::initializer_list<Status::Code> expected) const {
  if (status.ok()) return true;
  // A batch that was queued while its family was dropped is InvalidArgument, as in RocksDB.
  const bool is_dropped = status.IsColumnFamilyDropped() || status.IsInvalidArgument();
  const bool may_be = (target.may_be_dropped && is_dropped) ||
                      (is_closing_.load() && IsCutOff(status)) ||
                      (faults_ != nullptr && status.IsIOError() && !status.IsPathNotFound()) ||
                      std::find(expected.begin(), expected.end(), status.code()) != expected.end();
  EXPECT_TRUE(may_be) << status.ToString();
  return false;
}

}  // namespace ashlar
