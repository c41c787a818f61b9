// A repair that is cut off after each of its operations, with every kind of damage by a power cut.
// Another repair keeps at least as much as the first would have kept, and applies no record twice.
// The repaired database opens, is sound, and accepts writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/repair.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
const std::string kFamilies[] = {kDefaultColumnFamilyName, kOther, "third", "fourth", "fifth"};
constexpr char kList[] = "list";

class RepairCrashTest : public ::testing::Test {
 protected:
  using Damage = std::function<void(vfs::FileSystem* disk)>;

  RepairCrashTest() {
    settings_.level0_file_num_compaction_trigger = 100;
    settings_.max_manifest_file_size = 1 << 20;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    table.block_size = 512;
    settings_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  // The ith batch: a version of a key in each family, and one operand.
  static Commit Batch(int i) {
    const std::string key = StrCat("key", 100 + i % 30);
    const std::string value = StrCat(i, std::string(60, '.'));
    Commit batch = {
        {.kind = Change::Kind::kMerge, .family = kOther, .key = kList, .value = StrCat(i)}};
    for (const std::string& family : kFamilies)
      batch.push_back({.kind = Change::Kind::kPut, .family = family, .key = key, .value = value});
    return batch;
  }

  // Makes two tables in each family, and a log with as many batches.
  MemoryImage MakeDatabase() const {
    const auto disk = std::make_shared<MemoryFileSystem>();
    OpenDatabase database(disk, settings_, 1);
    EXPECT_OK(database.Open());
    for (const std::string& family : kFamilies) {
      if (family == kDefaultColumnFamilyName) continue;
      EXPECT_OK(database.CreateFamily(family));
    }
    for (int i = 1; i <= 60; ++i) {
      EXPECT_OK(database.Write(Batch(i), WriteOptions()));
      if (i % 20 == 0 && i < 60) {
        EXPECT_OK(database.Flush(database.families(), true));
      }
    }
    EXPECT_OK(database.Close());
    return disk->Snapshot();
  }

  Status Repair(const std::shared_ptr<vfs::FileSystem>& disk) const {
    ManualEnv env(disk, 2);
    Options options = settings_;
    options.env = &env;
    return RepairDB(OpenDatabase::kPath, options);
  }
  void Read(const std::shared_ptr<vfs::FileSystem>& disk, Contents* contents) const {
    OpenDatabase opened(disk, settings_, 3);
    const Status status = opened.Open();
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_OK(opened.Read(contents));
    ASSERT_OK(opened.db()->VerifyChecksum());
    ASSERT_OK(opened.Write(Batch(1000), WriteOptions()));
    ASSERT_OK(opened.Close());
  }

  static std::vector<int> Numbers(const std::string& list) {
    std::vector<int> numbers;
    std::istringstream in(list);
    for (std::string number; std::getline(in, number, ',');) numbers.push_back(std::stoi(number));
    return numbers;
  }
  // Expects no version of a key to be older than in `first`, and every operand exactly once.
  static void ExpectKeepsAtLeast(const Contents& first, Contents found) {
    for (const auto& [family, values] : first) {
      for (const auto& [key, value] : values) {
        const auto kept = found[family].find(key);
        ASSERT_TRUE(kept != found[family].end()) << family << ", " << key << " is gone";
        const std::vector<int> before = Numbers(value);
        const std::vector<int> after = Numbers(kept->second);
        if (key != kList) {
          ASSERT_GE(after, before) << family << ", " << key;
          continue;
        }
        ASSERT_EQ(std::adjacent_find(after.begin(), after.end(), std::greater_equal<>()),
                  after.end())
            << "an operand was applied twice: " << kept->second;
        ASSERT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()))
            << kept->second << " lacks some of " << value;
      }
    }
  }

  void CutOffAnywhere(const Damage& damage) {
    const auto damaged = std::make_shared<MemoryFileSystem>(MakeDatabase());
    damage(damaged.get());
    const auto disk = std::make_shared<CrashFileSystem>(damaged->Snapshot());
    ASSERT_OK(Repair(disk));
    const uint64_t done = disk->OperationCount();
    ASSERT_GT(done, 10u) << "there was nothing to repair";
    Contents first;
    ASSERT_NO_FATAL_FAILURE(Read(std::make_shared<MemoryFileSystem>(disk->Snapshot()), &first));
    ASSERT_GT(first[kOther].size(), 20u);
    std::set<uint64_t> seen;
    for (uint64_t k = 0; k <= done && !HasFailure(); ++k) {
      disk->EnumerateCrashImages(k, 4, [&](const CrashImage& image) {
        // The last images are those of a completed repair.
        if (HasFailure() || (!seen.insert(image.fingerprint).second && k < done)) return;
        SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                            image.seed,
                            "), the last one: ", k > 0 ? disk->DescribeOperation(k - 1) : "none"));
        if (k < done) {
          ASSERT_OK(Repair(image.file_system));
        }
        Contents found;
        ASSERT_NO_FATAL_FAILURE(Read(image.file_system, &found));
        ExpectKeepsAtLeast(first, std::move(found));
      });
    }
    EXPECT_GT(seen.size(), 100u);
    std::printf("%llu operations, %zu images\n", static_cast<unsigned long long>(done),
                seen.size());
  }

  static std::string PathOfLast(vfs::FileSystem* disk, bool (*chosen)(const std::string& name)) {
    const std::vector<std::string> names = FilesIn(disk, OpenDatabase::kPath, chosen);
    EXPECT_FALSE(names.empty());
    return names.empty() ? "" : StrCat(OpenDatabase::kPath, "/", names.back());
  }

  Options settings_ = SmallDatabaseOptions();
};

TEST_F(RepairCrashTest, CutOffAnywhereOverADamagedBlock) {
  CutOffAnywhere([](vfs::FileSystem* disk) { FlipByte(disk, PathOfLast(disk, IsTable), 100); });
}

TEST_F(RepairCrashTest, CutOffAnywhereWithoutAManifest) {
  CutOffAnywhere([](vfs::FileSystem* disk) {
    ASSERT_OK(disk->DeleteFile(StrCat(OpenDatabase::kPath, "/CURRENT")));
    ASSERT_OK(disk->DeleteFile(PathOfLast(disk, IsManifest)));
  });
}

TEST_F(RepairCrashTest, CutOffAnywhereOverADamagedLog) {
  CutOffAnywhere([](vfs::FileSystem* disk) {
    const std::string log = PathOfLast(disk, IsLog);
    FlipByte(disk, log, ContentsOf(disk, log).size() / 2);
  });
}

// A table that no MANIFEST names, written by a process that died before it had synced the table.
// The repaired database names the table, and has no log of its writes.
TEST_F(RepairCrashTest, ATableThatADeadProcessDidNotSyncBecomesDurable) {
  const auto whole = std::make_shared<MemoryFileSystem>();
  const Commit commit = {{.kind = Change::Kind::kPut,
                          .family = kDefaultColumnFamilyName,
                          .key = "key",
                          .value = "value"}};
  {
    OpenDatabase database(whole, settings_, 1);
    ASSERT_OK(database.Open());
    ASSERT_OK(database.Write(commit, WriteOptions()));
    ASSERT_OK(database.Flush({kDefaultColumnFamilyName}, true));
    ASSERT_OK(database.Close());
  }
  ASSERT_OK(whole->DeleteFile(StrCat(OpenDatabase::kPath, "/CURRENT")));
  ASSERT_OK(whole->DeleteFile(PathOfLast(whole.get(), IsManifest)));
  const std::string path = PathOfLast(whole.get(), IsTable);
  const std::string table = ContentsOf(whole.get(), path);
  ASSERT_OK(whole->DeleteFile(path));
  const auto disk = std::make_shared<CrashFileSystem>(whole->Snapshot());
  ASSERT_OK(WriteStringToFile(disk.get(), table, path, Durability::kBuffered));
  ASSERT_OK(Repair(disk));
  ASSERT_TRUE(disk->FileExists(path).ok()) << "the repair wrote another table";
  Contents expected;
  Apply(commit, &expected);
  disk->EnumerateCrashImages(disk->OperationCount(), 4, [&](const CrashImage& image) {
    SCOPED_TRACE(StrCat(CrashKindName(image.kind), ", ", image.seed));
    OpenDatabase opened(image.file_system, settings_, 3);
    ASSERT_OK(opened.Open());
    Contents found;
    ASSERT_OK(opened.Read(&found));
    EXPECT_EQ(found, expected);
  });
}

}  // namespace
}  // namespace ashlar
