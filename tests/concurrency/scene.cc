#include "tests/concurrency/scene.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ashlar/compaction_filter.h"
#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
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

std::string Digits(uint64_t number, size_t width) {
  const std::string digits = StrCat(number);
  return std::string(width - digits.size(), '0') + digits;
}
std::string KeyOf(size_t writer, size_t i) { return StrCat("m", writer, "-", Digits(i, 4)); }
std::string ValueOf(uint64_t version, char fill = kWritten) {
  return Digits(version, kVersionDigits) + std::string(kValueBytes, fill);
}

// 0: not a value of the model.
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

// The versions that a family has. False after a failure.
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

}  // namespace

Scene::Scene(bool recycles_logs) : env_(NewCompositeEnv(std::make_shared<MemoryFileSystem>())) {
  options_.env = env_.get();
  options_.create_if_missing = true;
  options_.create_missing_column_families = true;
  options_.compression = kNoCompression;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 4;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.max_bytes_for_level_multiplier = 3;
  options_.target_file_size_base = 8 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_background_jobs = 4;
  options_.enable_thread_tracking = true;
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0);
  options_.recycle_log_file_num = recycles_logs ? 2 : 0;
  options_.info_log = std::make_shared<SilentLogger>();
}

Scene::~Scene() { CloseHandles(); }

void Scene::CloseHandles() {
  families_.clear();
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
  // Victims, and families of calls that Close cut off.
  for (const std::string& name : there) {
    if (std::find(kFamilyNames.begin(), kFamilyNames.end(), name) == kFamilyNames.end())
      descriptors.emplace_back(name, VictimOptions());
  }
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(options_, kPath, descriptors, &handles, &db_));
  for (size_t i = 0; i < handles.size(); ++i) {
    if (i < kFamilyNames.size()) {
      families_.push_back({.handle = std::shared_ptr<ColumnFamilyHandle>(handles[i]),
                           .loses_old_tables = kFamilyNames[i] == "fifo"});
      continue;
    }
    ASSERT_OK(db_->DropColumnFamily(handles[i]));
    delete handles[i];
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

void Scene::CheckCopy(const std::string& path, const Versions& floor) const {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::OpenForReadOnly(options_, path, ModelFamilies(), &handles, &copy));
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (ColumnFamilyHandle* const handle : handles)
    iterators.emplace_back(copy->NewIterator(ReadOptions(), handle));
  CheckIterators(iterators, floor);
  iterators.clear();
  for (ColumnFamilyHandle* const handle : handles) delete handle;
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
    RemoveTemporaryKeys();
  }
  CheckContents();
}

bool Scene::Succeeded(const Status& status, const Target& target,
                      std::initializer_list<Status::Code> expected) const {
  if (status.ok()) return true;
  // A batch that was in the queue while its family was dropped is InvalidArgument, as in RocksDB.
  const bool is_dropped = status.IsColumnFamilyDropped() || status.IsInvalidArgument();
  const bool may_be = (target.may_be_dropped && is_dropped) ||
                      (is_closing_.load() && !status.IsCorruption()) ||
                      std::find(expected.begin(), expected.end(), status.code()) != expected.end();
  EXPECT_TRUE(may_be) << status.ToString();
  return false;
}

}  // namespace ashlar
