// DatabaseFixture: a database in a scratch directory that a test can open, close and reopen any
// number of times.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"
#include "tests/support/walk.h"

namespace ashlar {

class DatabaseFixture : public ::testing::Test {
 protected:
  DatabaseFixture() {
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
  }
  ~DatabaseFixture() override { Close(); }

  std::string path() const { return scratch_.File("db"); }
  const ScratchDirectory& scratch() const { return scratch_; }

  Status TryOpen() {
    Close();
    return DB::Open(options_, path(), &db_);
  }
  void Open() {
    const Status opened = TryOpen();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void OpenFamilies(const std::vector<std::string>& names) {
    Close();
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names)
      families.emplace_back(name, ColumnFamilyOptions(options_));
    const Status opened = DB::Open(DBOptions(options_), path(), families, &handles_, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }

  // Returns the value, "NOT_FOUND", or the error.
  std::string Get(const Slice& key, const Snapshot* snapshot = nullptr) {
    return GetFrom(db_->DefaultColumnFamily(), key, snapshot);
  }
  std::string GetFrom(ColumnFamilyHandle* family, const Slice& key,
                      const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const Status status = db_->Get(options, family, key, &value);
    if (status.IsNotFound()) return "NOT_FOUND";
    return status.ok() ? value : status.ToString();
  }
  void Put(const Slice& key, const Slice& value) {
    EXPECT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Delete(const Slice& key) { EXPECT_OK(db_->Delete(WriteOptions(), key)); }
  void Merge(const Slice& key, const Slice& value) {
    EXPECT_OK(db_->Merge(WriteOptions(), key, value));
  }
  void Flush() { EXPECT_OK(db_->Flush(FlushOptions())); }
  void CompactAll() { EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); }

  // Returns "a=1 b=2 " from a forward scan, and expects a backward scan to return the same.
  std::string Contents(ColumnFamilyHandle* family = nullptr, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(
        db_->NewIterator(options, family != nullptr ? family : db_->DefaultColumnFamily()));
    return test::WalkBothWays(it.get());
  }
  uint64_t Number(const std::string& property) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &value)) << property;
    return value;
  }
  uint64_t FilesAtLevel(int level) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &value));
    return std::stoull(value);
  }
  std::vector<std::string> FileNames(int level) {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    std::vector<std::string> names;
    for (const LevelMetaData& own : metadata.levels) {
      for (const SstFileMetaData& file : own.files) {
        if (own.level == level) names.push_back(file.relative_filename);
      }
    }
    return names;
  }

  // The number of table files in the directory, whether live or not.
  int Tables() const {
    int tables = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      tables += entry.path().extension() == ".sst";
    return tables;
  }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace ashlar
