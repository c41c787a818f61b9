// JobFixture: a directory in memory, a table cache over it, and shorthands to write and read
// tables, for the tests of flush and compaction jobs.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compact/run/entry_test_kit.h"
#include "compact/run/table_job.h"
#include "execute/clock.h"
#include "execute/epoch.h"
#include "filesystem/memory_file_system.h"
#include "table/open/table_cache.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {

inline bool InternalLess(const TextEntry& a, const TextEntry& b) {
  return KeyComparator(BytewiseComparator()).CompareInternal(a.InternalKey(), b.InternalKey()) < 0;
}

class JobFixture : public testing::Test {
 protected:
  JobFixture() : JobFixture(BytewiseComparator()) {}
  explicit JobFixture(const Comparator* order)
      : comparator_(order),
        faults_(std::make_shared<MemoryFileSystem>()),
        open_tables_(&epochs_, 0),
        tables_(CacheArgs()) {
    EXPECT_TRUE(faults_.CreateDir("db").ok());
  }
  ~JobFixture() override {
    tables_.Close();
    epochs_.Synchronize();
  }

  TableJobArgs JobArgs() {
    TableJobArgs args;
    args.output.file_system = &faults_;
    args.output.directory = "db";
    args.output.table.comparator = comparator_;
    args.output.table.config = TableConfig();
    args.output.creation_unix_seconds = 1000;
    args.output.new_file_number = [this] { return next_number_.fetch_add(1); };
    args.tables = &tables_;
    args.clock = &clock_;
    args.readahead_bytes = 0;
    return args;
  }

  // Writes these entries, unchanged, to files of at most about `bytes` bytes.
  std::vector<std::unique_ptr<FileMetaData>> WriteTables(std::vector<TextEntry> entries,
                                                         uint64_t bytes = UINT64_MAX) {
    std::sort(entries.begin(), entries.end(), InternalLess);
    TableJobArgs args = JobArgs();
    args.output.target_file_bytes = bytes;
    CompactionOutput output(args.output);
    std::string last;
    for (const TextEntry& entry : entries) {
      EXPECT_TRUE(
          output.Add(entry.InternalKey(), entry.value, last.empty() || entry.user_key != last)
              .ok());
      last = entry.user_key;
    }
    EXPECT_TRUE(output.Finish().ok());
    return output.TakeFiles();
  }

  std::vector<TextEntry> ReadTable(FileMetaData* file) {
    std::vector<TextEntry> entries;
    Result<std::unique_ptr<InternalCursor>> cursor = tables_.NewCursor(file, {});
    EXPECT_TRUE(cursor.ok()) << cursor.status().ToString();
    if (!cursor.ok()) return entries;
    InternalCursor& c = **cursor;
    for (c.SeekToFirst(); c.Valid(); c.Next()) {
      const uint64_t tag = ExtractTag(c.key());
      entries.push_back({ExtractUserKey(c.key()).ToString(), TagSequence(tag), TagType(tag),
                         c.value().ToString()});
    }
    EXPECT_TRUE(c.status().ok()) << c.status().ToString();
    return entries;
  }
  std::string PrintTable(FileMetaData* file) {
    std::string text;
    for (const TextEntry& entry : ReadTable(file))
      text += (text.empty() ? "" : ", ") + PrintEntry(entry.InternalKey(), entry.value);
    return text;
  }

  void Evict(const std::vector<std::unique_ptr<FileMetaData>>& files) {
    for (const auto& file : files) tables_.Evict(file.get());
  }
  size_t FilesOnDisk() {
    std::vector<std::string> names;
    EXPECT_TRUE(faults_.GetChildren("db", &names).ok());
    return names.size();
  }

  static BlockBasedTableConfig TableConfig() {
    BlockBasedTableConfig config;
    config.block_bytes = 200;  // many blocks in small tables
    return config;
  }

  const KeyComparator comparator_;
  FaultFileSystem faults_;
  EpochDomain epochs_;
  OpenTables open_tables_;
  TableCache tables_;
  ManualClock clock_{1};
  std::atomic<uint64_t> next_number_{10};

 private:
  TableCacheArgs CacheArgs() {
    TableCacheArgs args;
    args.file_system = &faults_;
    args.epochs = &epochs_;
    args.directory = "db";
    args.comparator = comparator_;
    args.config = TableConfig();
    args.open_tables = &open_tables_;
    return args;
  }
};

}  // namespace ashlar
