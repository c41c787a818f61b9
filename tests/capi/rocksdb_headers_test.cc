// Programs written for RocksDB's C++ API, with its header names and in its namespace, in the forms
// that such programs use.

// A forward declaration as RocksDB's users write it, here before and below after the headers.
#include "rocksdb/rocksdb_namespace.h"
namespace ROCKSDB_NAMESPACE {
class DB;
struct Options;
}  // namespace ROCKSDB_NAMESPACE

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "ashlar/db.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/write_buffer_manager.h"

namespace ROCKSDB_NAMESPACE {
class DB;
}

// Programs also put classes of their own into the namespace.
namespace rocksdb {
class CountFlushes : public EventListener {
 public:
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) override { ++flushes; }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    blob_files += info.reason == BlobFileCreationReason::kFlush ? 1 : 2;
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    blob_files += info.status.ok() && info.total_blob_count == 0 ? 1 : 2;
  }
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override {
    blob_files += info.file_path.empty() ? 1 : 2;
  }
  std::atomic<int> flushes = 0;
  std::atomic<int> blob_files = 0;
};
}  // namespace rocksdb

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;

namespace {

static_assert(std::is_same_v<rocksdb::DB, ashlar::DB>);
static_assert(std::is_same_v<ROCKSDB_NAMESPACE::Options, rocksdb::Options>);
static_assert(ROCKSDB_VERSION_GE(11, 8, 0) && !ROCKSDB_VERSION_GE(11, 9, 0) && ROCKSDB_MAJOR == 11);
static_assert(ROCKSDB_MAJOR == ashlar::kRocksDbInterfaceMajor &&
              ROCKSDB_MINOR == ashlar::kRocksDbInterfaceMinor &&
              ROCKSDB_PATCH == ashlar::kRocksDbInterfacePatch);

std::string FreshDirectory(const char* name) {
  std::string directory = ::testing::TempDir() + name;
  EXPECT_TRUE(rocksdb::DestroyDB(directory, rocksdb::Options()).ok());
  return directory;
}

TEST(RocksDbHeadersTest, TheBasicsInTheNamespace) {
  const std::string path = FreshDirectory("ashlar_rocksdb_basics");
  rocksdb::Options options;
  options.IncreaseParallelism();
  options.OptimizeLevelStyleCompaction();
  options.create_if_missing = true;
  const auto counter = std::make_shared<rocksdb::CountFlushes>();
  options.listeners.push_back(counter);
  options.statistics = rocksdb::CreateDBStatistics();
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table_options.block_cache = rocksdb::NewLRUCache(8 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));

  std::unique_ptr<rocksdb::DB> db;
  rocksdb::Status s = rocksdb::DB::Open(options, path, &db);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key1", "value").ok());
  {
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Delete("key1").ok());
    ASSERT_TRUE(batch.Put("key2", "value").ok());
    ASSERT_TRUE(db->Write(rocksdb::WriteOptions(), &batch).ok());
  }
  std::string value;
  EXPECT_TRUE(db->Get(rocksdb::ReadOptions(), "key1", &value).IsNotFound());
  {
    rocksdb::PinnableSlice pinned;
    ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), "key2", &pinned).ok());
    EXPECT_EQ(pinned, rocksdb::Slice("value"));
  }
  ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_EQ(options.statistics->getTickerCount(rocksdb::NUMBER_KEYS_WRITTEN), 3U);
  db.reset();  // after the last call of a listener
  EXPECT_EQ(counter->flushes.load(), 1);
  EXPECT_EQ(counter->blob_files.load(), 0);
}

TEST(RocksDbHeadersTest, TheVersionInText) {
  EXPECT_EQ(rocksdb::GetRocksVersionAsString(), "11.8.1");
  EXPECT_EQ(rocksdb::GetRocksVersionAsString(/*with_patch=*/false), "11.8");
  const std::string version = ashlar::GetAshlarVersionAsString();
  EXPECT_EQ(rocksdb::GetRocksBuildProperties().at("ashlar_version"), version);
  EXPECT_EQ(rocksdb::GetRocksBuildInfoAsString("program"), "program (Ashlar) " + version);
  EXPECT_EQ(rocksdb::GetRocksBuildInfoAsString("program", /*verbose=*/true),
            "program (Ashlar) " + version + "\n    ashlar_version: " + version +
                "\n    rocksdb_format: 7.8.3\n    rocksdb_interface: 11.8.1");
}

TEST(RocksDbHeadersTest, FamiliesWithUsingDeclarations) {
  const std::string path = FreshDirectory("ashlar_rocksdb_families");
  ROCKSDB_NAMESPACE::Options options;
  options.create_if_missing = true;
  DB* db = nullptr;
  ASSERT_TRUE(DB::Open(options, path, &db).ok());
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(ColumnFamilyOptions(), "new_cf", &family).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  delete db;

  std::vector<ColumnFamilyDescriptor> families;
  families.push_back(
      ColumnFamilyDescriptor(ROCKSDB_NAMESPACE::kDefaultColumnFamilyName, ColumnFamilyOptions()));
  families.push_back(ColumnFamilyDescriptor("new_cf", ColumnFamilyOptions()));
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(ROCKSDB_NAMESPACE::DBOptions(), path, families, &handles, &db).ok());
  ASSERT_TRUE(db->Put(ROCKSDB_NAMESPACE::WriteOptions(), handles[1],
                      ROCKSDB_NAMESPACE::Slice("key"), ROCKSDB_NAMESPACE::Slice("value"))
                  .ok());
  std::string value;
  EXPECT_TRUE(
      db->Get(ROCKSDB_NAMESPACE::ReadOptions(), handles[1], ROCKSDB_NAMESPACE::Slice("key"), &value)
          .ok());
  EXPECT_EQ(value, "value");
  ASSERT_TRUE(db->DropColumnFamily(handles[1]).ok());
  for (ColumnFamilyHandle* const handle : handles)
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  delete db;
}

TEST(RocksDbHeadersTest, EverythingWithAUsingDirective) {
  using namespace rocksdb;  // NOLINT(google-build-using-namespace)
  const std::string path = FreshDirectory("ashlar_rocksdb_directive");
  Options options;
  options.create_if_missing = true;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  options.write_buffer_manager = std::make_shared<WriteBufferManager>(64 << 20);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, path, &db).ok());
  ASSERT_TRUE(db->Merge(WriteOptions(), "list", "a").ok());
  ASSERT_TRUE(db->Merge(WriteOptions(), "list", "b").ok());
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "a,b");
  EXPECT_GT(options.write_buffer_manager->memory_usage(), 0U);

  ConfigOptions config_options;
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_TRUE(LoadLatestOptions(config_options, path, &loaded, &families).ok());
  ASSERT_EQ(families.size(), 1U);
  EXPECT_TRUE(loaded.create_if_missing);
}

}  // namespace
