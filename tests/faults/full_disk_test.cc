// The disk fills up at every possible point of a workload. All acknowledged writes stay readable,
// also after a read-only reopen on the full disk. Once there is space again, Resume or a reopen
// continues, and nothing is lost.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class FullDiskTest : public ::testing::Test {
 protected:
  static uint64_t BytesUsed(const MemoryFileSystem& disk) {
    uint64_t bytes = 0;
    for (const MemoryImage::Entry& entry : disk.Snapshot().entries)
      bytes += entry.is_directory ? 0 : entry.bytes->size();
    return bytes;
  }

  Status WriteNext(OpenDatabase* database) {
    const int number = ++writes_;
    Commit commit;
    for (const char* const family : {"default", "second"}) {
      commit.push_back({.kind = Change::Kind::kPut,
                        .family = family,
                        .key = StrCat("key", number % 20),
                        .value = StrCat(number, std::string(300, 'v'))});
      commit.push_back(
          {.kind = Change::Kind::kMerge, .family = family, .key = "list", .value = StrCat(number)});
      if (number % 7 == 6)
        commit.push_back({.kind = Change::Kind::kDeleteRange,
                          .family = family,
                          .key = StrCat("key", number % 9),
                          .value = StrCat("key", number % 9, 0)});
    }
    WriteOptions options;
    options.sync = number % 5 == 0;
    const Status status = database->Write(commit, options);
    if (status.ok()) Apply(commit, &acknowledged_);
    return status;
  }

  void ExpectAcknowledged(const OpenDatabase& database) {
    Contents contents;
    const Status read = database.Read(&contents);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_TRUE(contents == acknowledged_) << "other contents than were acknowledged";
  }

  // Writes until an operation fails, with flushes and compactions in between.
  Status FillUp(OpenDatabase* database) {
    for (int i = 0; i < 400; ++i) {
      if (const Status written = WriteNext(database); !written.ok()) return written;
      if (i % 12 == 11) {
        if (const Status flushed = database->Flush(
                i % 24 == 11 ? database->families() : std::set<std::string>{"default"}, true);
            !flushed.ok())
          return flushed;
        while (database->env()->RunOneJob()) {
        }
      }
    }
    return Status::OK();
  }

  void Run(uint64_t spare_bytes, bool resume) {
    SCOPED_TRACE(StrCat(spare_bytes, " bytes free, ", resume ? "resumed" : "reopened"));
    acknowledged_ = {{"default", {}}, {"second", {}}};
    const auto disk = std::make_shared<MemoryFileSystem>();
    OpenDatabase database(disk, SmallDatabaseOptions(), 3);
    ASSERT_TRUE(database.Open().ok());
    ASSERT_TRUE(database.CreateFamily("second").ok());
    ASSERT_TRUE(WriteNext(&database).ok());
    disk->SetCapacityBytes(BytesUsed(*disk) + spare_bytes);

    const Status full = FillUp(&database);
    ASSERT_TRUE(full.IsNoSpace()) << full.ToString();
    EXPECT_EQ(WriteNext(&database).ToString(), full.ToString());
    ExpectAcknowledged(database);
    // There may or may not be enough space for a resume. Nothing is lost in either case.
    const Status early = database.db()->Resume();
    EXPECT_TRUE(early.ok() || early.IsNoSpace()) << early.ToString();
    ExpectAcknowledged(database);

    if (!resume) {
      static_cast<void>(database.Close());
      ExpectReadOnlyOpens(disk);
      disk->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
      const Status opened = database.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
    } else {
      disk->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
      const Status resumed = database.db()->Resume();
      ASSERT_TRUE(resumed.ok()) << resumed.ToString();
    }
    ExpectAcknowledged(database);
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(WriteNext(&database).ok());
    ASSERT_TRUE(database.Flush(database.families(), true).ok());
    ASSERT_TRUE(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ExpectAcknowledged(database);
    ASSERT_TRUE(database.Close().ok());
    ASSERT_TRUE(database.Open().ok());
    ExpectAcknowledged(database);
  }

  void ExpectReadOnlyOpens(const std::shared_ptr<MemoryFileSystem>& disk) {
    const std::unique_ptr<Env> env = NewCompositeEnv(disk);
    Options options = SmallDatabaseOptions();
    options.env = env.get();
    std::vector<ColumnFamilyDescriptor> families = {{"default", options}, {"second", options}};
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    const Status opened =
        DB::OpenForReadOnly(options, OpenDatabase::kPath, families, &handles, &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    for (ColumnFamilyHandle* const handle : handles) {
      for (const auto& [key, value] : acknowledged_[handle->GetName()]) {
        std::string found;
        const Status read = db->Get(ReadOptions(), handle, key, &found);
        EXPECT_TRUE(read.ok()) << read.ToString();
        // A failed write may follow the acknowledged writes in the log.
        EXPECT_TRUE(found == value || found.starts_with(StrCat(writes_)) || key == "list") << key;
      }
      delete handle;
    }
  }

  Contents acknowledged_;
  int writes_ = 0;
};

TEST_F(FullDiskTest, NothingAcknowledgedIsLostAndResumeGoesOn) {
  int places = 0;
  for (uint64_t spare_bytes = 0; spare_bytes < 60000 && !HasFailure();
       spare_bytes += 211 + spare_bytes / 100) {
    Run(spare_bytes, /*resume=*/true);
    ++places;
  }
  std::printf("%d places where the disk was full\n", places);
}

TEST_F(FullDiskTest, ReopeningGoesOn) {
  for (uint64_t spare_bytes = 0; spare_bytes < 60000 && !HasFailure();
       spare_bytes += 1531 + spare_bytes / 20)
    Run(spare_bytes, /*resume=*/false);
}

}  // namespace
}  // namespace ashlar
