// The table cache under the scheduler. Readers use more tables than may be open, and more blocks
// than fit in the cache. All that they find is valid, and everything is closed in the end.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "filesystem/filename.h"
#include "table/blockbased/table_test_kit.h"
#include "table/open/table_cache.h"
#include "tests/schedule/schedules.h"
#include "tests/support/expect_ok.h"

namespace ashlar::test {
namespace {

constexpr uint64_t kFiles = 3;
constexpr int kEntries = 12;
constexpr uint64_t kDeletions = 1;
constexpr size_t kBlockBytes = 64;

std::string KeyOf(int i) { return StrCat("key", i / 10, i % 10); }
std::string ValueOf(uint64_t file, int i) { return StrCat("value ", file, " ", i); }

// Tables of several blocks, each with a deletion as its last entry.
class Tables {
 public:
  Tables() {
    EXPECT_OK(file_system_.CreateDir("db"));
    for (uint64_t n = 1; n <= kFiles; ++n) {
      Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
      for (int i = 0; i < kEntries; ++i)
        entries[MakeInternalKey(KeyOf(i), 5, ValueType::kValue)] = ValueOf(n, i);
      entries[MakeInternalKey(KeyOf(kEntries), 5, ValueType::kDeletion)] = "";
      TableSpec spec;
      spec.config.block_bytes = kBlockBytes;
      TableWriteResult result;
      EXPECT_OK(WriteTable(&file_system_, TableFileName("db", n), spec, entries, &result));
      file_bytes_.push_back(result.file_bytes);
    }
  }
  vfs::FileSystem* file_system() { return &file_system_; }
  uint64_t file_bytes(uint64_t number) const { return file_bytes_[number - 1]; }

 private:
  MemoryFileSystem file_system_;
  std::vector<uint64_t> file_bytes_;
};

// A value that a reader keeps pinned, and its expected contents.
struct Pinned {
  PinnableSlice value;
  std::string expected;
};

class Reader {
 public:
  Reader(TableCache* tables, EpochDomain* domain, uint64_t seed)
      : tables_(*tables), domain_(*domain), random_(seed) {}

  void ReadFrom(FileMetaData* file) {
    if (file->entries.load(std::memory_order_acquire) != 0) {
      EXPECT_EQ(file->deletions.load(std::memory_order_relaxed), kDeletions);
    }
    switch (random_.Uniform(3)) {
      case 0: GetWithoutCount(file); break;
      case 1: Get(file); break;
      default: Walk(file);
    }
  }
  void CheckPinned() const {
    for (const Pinned& each : pinned_) EXPECT_EQ(each.value.ToString(), each.expected);
  }

 private:
  // Reads as a version does.
  void GetWithoutCount(FileMetaData* file) {
    {
      const EpochGuard guard(domain_);
      if (TableReader* const reader = TableCache::FindOpen(file); reader != nullptr) {
        GetFrom(reader, file->number);
        return;
      }
    }
    Get(file);
  }
  void Get(FileMetaData* file) {
    const Result<TableRef> table = tables_.Acquire(file, {});
    ASSERT_OK(table.status());
    const EpochGuard guard(domain_);
    GetFrom(table->get(), file->number);
  }
  void GetFrom(TableReader* reader, uint64_t number) {
    const int i = static_cast<int>(random_.Uniform(kEntries));
    const std::string key = KeyOf(i);
    Lookup lookup({.user_key = key});
    reader->Get({}, &lookup);
    Pinned& pinned = pinned_.emplace_back();
    pinned.expected = ValueOf(number, i);
    EXPECT_OK(lookup.Finish(&pinned.value));
    EXPECT_EQ(pinned.value.ToString(), pinned.expected);
  }
  void Walk(FileMetaData* file) {
    Result<std::unique_ptr<InternalCursor>> cursor = tables_.NewCursor(file, {});
    ASSERT_OK(cursor.status());
    int i = 0;
    for ((*cursor)->SeekToFirst(); (*cursor)->Valid() && i < kEntries; (*cursor)->Next(), ++i)
      EXPECT_EQ((*cursor)->value().ToString(), ValueOf(file->number, i));
    EXPECT_OK((*cursor)->status());
    EXPECT_EQ(i, kEntries);
  }

  TableCache& tables_;
  EpochDomain& domain_;
  Random random_;
  std::deque<Pinned> pinned_;
};

TEST(TableScheduleTest, ATableThatWasFoundIsWholeWhileOthersCloseIt) {
  Tables written;
  ForEachSchedule(1000, [&](uint64_t seed) {
    EpochDomain domain;
    const auto blocks = std::make_shared<BlockCache>(8 * kBlockBytes);
    std::array<FileMetaData, kFiles> files;
    for (uint64_t n = 1; n <= kFiles; ++n) {
      files[n - 1].number = n;
      files[n - 1].file_bytes = written.file_bytes(n);
      files[n - 1].largest_sequence = 5;
    }
    OpenTables open(&domain, 1 + seed % kFiles);
    TableCache tables({.file_system = written.file_system(),
                       .epochs = &domain,
                       .directory = "db",
                       .comparator = KeyComparator(BytewiseComparator()),
                       .block_cache = blocks,
                       .open_tables = &open});
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        Random random(seed * 3 + i);
        Reader reader(&tables, &domain, seed * 5 + i);
        for (int n = 0; n < 5; ++n) reader.ReadFrom(&files[random.Uniform(kFiles)]);
        reader.CheckPinned();
      });
    }
    threads.emplace_back([&] {
      Random random(seed);
      for (int n = 0; n < 4; ++n) {
        switch (random.Uniform(3)) {
          case 0: tables.Close(); break;
          case 1: tables.Evict(&files[random.Uniform(kFiles)]); break;
          default: open.SetLimit(1 + random.Uniform(kFiles));
        }
      }
    });
    for (std::thread& thread : threads) thread.join();
    tables.Close();
    EXPECT_EQ(open.Count(), 0U);
    for (const FileMetaData& file : files) EXPECT_EQ(file.reader.load(), nullptr);
    domain.Synchronize();
    EXPECT_EQ(blocks->GetUsage(), 0U);
  });
}

}  // namespace
}  // namespace ashlar::test
