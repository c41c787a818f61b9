#include "tests/support/crash_file_system.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/format.h"
#include "base/random.h"
#include "filesystem/file_helpers.h"

namespace ashlar {
namespace {

class CrashFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    SyncDirectory("/");
  }

  void SyncDirectory(const std::string& path) {
    std::unique_ptr<vfs::Directory> directory;
    ASSERT_TRUE(fs_.NewDirectory(path, &directory).ok());
    ASSERT_TRUE(directory->Sync().ok());
  }
  std::unique_ptr<vfs::WritableFile> Create(const std::string& path) {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(fs_.NewWritableFile(path, vfs::FileOptions(), &file).ok());
    return file;
  }
  void CreateDurable(const std::string& path, const std::string& contents) {
    ASSERT_TRUE(WriteStringToFile(&fs_, contents, path, Durability::kSynced).ok());
    SyncDirectory("/db");
  }
  void Append(const std::string& path, const std::string& data) {
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(fs_.ReopenWritableFile(path, vfs::FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Close().ok());
  }

  // Returns "absent" or the contents.
  static std::string Look(vfs::FileSystem* fs, const std::string& path) {
    const Result<std::string> contents = ReadFileToString(fs, path, 1 << 24);
    return contents.ok() ? *contents : "absent";
  }
  std::string After(CrashKind kind, const std::string& path, uint64_t seed = 0) {
    return Look(fs_.MakeCrashImage(fs_.OperationCount(), kind, seed).file_system.get(), path);
  }
  // The possible contents of the file after a crash at this moment, over all kinds.
  std::set<std::string> Possible(const std::string& path) {
    std::set<std::string> possible;
    fs_.EnumerateCrashImages(fs_.OperationCount(), 1, [&](const CrashImage& image) {
      possible.insert(Look(image.file_system.get(), path));
    });
    return possible;
  }

  CrashFileSystem fs_;
};

TEST_F(CrashFileSystemTest, NothingPendingMeansOneImage) {
  CreateDurable("/db/f", "x");
  int images = 0;
  fs_.EnumerateCrashImages(fs_.OperationCount(), 1, [&](const CrashImage& image) {
    images++;
    EXPECT_EQ(image.fingerprint, fs_.Snapshot().Fingerprint());
  });
  EXPECT_EQ(images, 1);
}

TEST_F(CrashFileSystemTest, SyncOfAFileKeepsItsBytesButNotItsName) {
  ASSERT_TRUE(WriteStringToFile(&fs_, "synced", "/db/f", Durability::kSynced).ok());
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/f"), "absent");
  EXPECT_EQ(Possible("/db/f"), (std::set<std::string>{"absent", "synced"}));
  SyncDirectory("/db");
  EXPECT_EQ(Possible("/db/f"), (std::set<std::string>{"synced"}));
}

TEST_F(CrashFileSystemTest, SyncOfADirectoryKeepsTheNameButNotTheBytes) {
  ASSERT_TRUE(WriteStringToFile(&fs_, "abc", "/db/f", Durability::kBuffered).ok());
  SyncDirectory("/db");
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/f"), "");
  const std::set<std::string> possible = Possible("/db/f");
  EXPECT_FALSE(possible.contains("absent"));
  EXPECT_TRUE(possible.contains(""));
  EXPECT_TRUE(possible.contains("abc"));
  EXPECT_TRUE(possible.contains(std::string(3, '\0')));
}

TEST_F(CrashFileSystemTest, WhatWasNotFlushedNeverSurvives) {
  std::unique_ptr<vfs::WritableFile> file = Create("/db/f");
  ASSERT_TRUE(file->Append("flushed").ok());
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(file->Append("buffered").ok());
  EXPECT_EQ(After(CrashKind::kEverything, "/db/f"), "flushed");
}

TEST_F(CrashFileSystemTest, ASyncCoversWhatCameBeforeItOnly) {
  CreateDurable("/db/f", "one");
  Append("/db/f", "two");
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/f"), "one");
  EXPECT_EQ(After(CrashKind::kEverything, "/db/f"), "onetwo");
}

TEST_F(CrashFileSystemTest, ALostWriteBeforeASurvivingOneLeavesAHoleOfZeros) {
  CreateDurable("/db/f", "");
  Append("/db/f", "aa");
  Append("/db/f", "bb");
  EXPECT_TRUE(Possible("/db/f").contains(std::string("\0\0bb", 4)));
}

TEST_F(CrashFileSystemTest, ALostWriteOverOldBytesLeavesThem) {
  constexpr size_t kSector = 512;
  CreateDurable("/db/old", std::string(4 * kSector, 'o'));
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_.ReuseWritableFile("/db/old", "/db/new", vfs::FileOptions(), &file).ok());
  SyncDirectory("/db");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(file->Append(std::string(kSector, 'n')).ok());
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/new"), std::string(4 * kSector, 'o'));
  EXPECT_EQ(After(CrashKind::kEverything, "/db/new"), std::string(4 * kSector, 'n'));
  std::set<std::string> mixed;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string contents = After(CrashKind::kMixedSectors, "/db/new", seed);
    ASSERT_EQ(contents.size(), 4 * kSector);
    std::string sectors;
    for (size_t begin = 0; begin < contents.size(); begin += kSector) {
      const std::string sector = contents.substr(begin, kSector);
      ASSERT_EQ(sector, std::string(kSector, sector[0]));
      sectors.push_back(sector[0]);
    }
    mixed.insert(sectors);
  }
  EXPECT_EQ(mixed.size(), 16u) << "each sector is old or new, independent of the others";
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(Possible("/db/new"), (std::set<std::string>{std::string(4 * kSector, 'n')}));
}

TEST_F(CrashFileSystemTest, PrefixesKeepTheOrder) {
  CreateDurable("/db/f", "");
  for (const std::string piece : {"a", "b", "c"}) Append("/db/f", piece);
  for (uint64_t n = 0; n <= 3; n++)
    EXPECT_EQ(After(CrashKind::kPrefix, "/db/f", n), std::string("abc").substr(0, n));
}

TEST_F(CrashFileSystemTest, TheLastWriteIsTornAtSectorsAndPages) {
  CreateDurable("/db/f", std::string(100, 'd'));
  Append("/db/f", std::string(10000, 'w'));
  std::set<size_t> sizes512;
  std::set<size_t> sizes4096;
  for (uint64_t seed = 0; seed < 200; seed++) {
    sizes512.insert(After(CrashKind::kTornWrite512, "/db/f", seed).size());
    sizes4096.insert(After(CrashKind::kTornWrite4096, "/db/f", seed).size());
  }
  EXPECT_EQ(sizes4096, (std::set<size_t>{100, 4096, 8192}));
  EXPECT_EQ(sizes512.size(), 20u);
  for (const size_t size : sizes512)
    EXPECT_TRUE(size == 100 || (size % 512 == 0 && size < 10100)) << size;
}

TEST_F(CrashFileSystemTest, OnePageOfTheLastWriteCanBeLost) {
  CreateDurable("/db/f", std::string(100, 'd'));
  Append("/db/f", std::string(10000, 'w'));
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 50; seed++)
    seen.insert(After(CrashKind::kPageLost, "/db/f", seed));
  std::string whole = std::string(100, 'd') + std::string(10000, 'w');
  std::set<std::string> expected;
  for (const auto& [begin, end] :
       std::map<size_t, size_t>{{100, 4096}, {4096, 8192}, {8192, 10100}}) {
    std::string damaged = whole;
    damaged.replace(begin, end - begin, end - begin, '\0');
    expected.insert(damaged);
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(CrashFileSystemTest, AFileCanGrowWithoutItsBytes) {
  CreateDurable("/db/f", "old");
  Append("/db/f", "new");
  EXPECT_EQ(After(CrashKind::kGrownWithZeros, "/db/f"), std::string("old\0\0\0", 6));
  const std::string garbage = After(CrashKind::kGrownWithGarbage, "/db/f", 5);
  EXPECT_EQ(garbage.substr(0, 3), "old");
  EXPECT_EQ(garbage.size(), 6u);
  EXPECT_NE(garbage, "oldnew");
}

TEST_F(CrashFileSystemTest, ARenameIsAtomic) {
  CreateDurable("/db/CURRENT", "old");
  CreateDurable("/db/tmp", "new");
  ASSERT_TRUE(fs_.RenameFile("/db/tmp", "/db/CURRENT").ok());
  std::set<std::string> both;
  fs_.EnumerateCrashImages(fs_.OperationCount(), 1, [&](const CrashImage& image) {
    both.insert(StrCat(Look(image.file_system.get(), "/db/CURRENT"), " ",
                       Look(image.file_system.get(), "/db/tmp")));
  });
  EXPECT_EQ(both, (std::set<std::string>{"old new", "new absent"}));
  SyncDirectory("/db");
  EXPECT_EQ(Possible("/db/CURRENT"), std::set<std::string>{"new"});
}

TEST_F(CrashFileSystemTest, ARenameCanOvertakeTheDataOfWhatItRenames) {
  CreateDurable("/db/CURRENT", "old");
  ASSERT_TRUE(WriteStringToFile(&fs_, "new", "/db/tmp", Durability::kBuffered).ok());
  ASSERT_TRUE(fs_.RenameFile("/db/tmp", "/db/CURRENT").ok());
  EXPECT_EQ(After(CrashKind::kEntriesWithoutData, "/db/CURRENT"), "");
  EXPECT_EQ(After(CrashKind::kDataWithoutEntries, "/db/CURRENT"), "old");
}

TEST_F(CrashFileSystemTest, RemovalsCanComeBeforeOrAfterTheOtherChanges) {
  CreateDurable("/db/MANIFEST-000001", "one");
  ASSERT_TRUE(WriteStringToFile(&fs_, "two", "/db/MANIFEST-000002", Durability::kSynced).ok());
  ASSERT_TRUE(fs_.DeleteFile("/db/MANIFEST-000001").ok());
  EXPECT_EQ(After(CrashKind::kUnlinksFirst, "/db/MANIFEST-000001"), "absent");
  EXPECT_EQ(After(CrashKind::kUnlinksFirst, "/db/MANIFEST-000002"), "absent");
  EXPECT_EQ(After(CrashKind::kUnlinksLate, "/db/MANIFEST-000001"), "one");
  EXPECT_EQ(After(CrashKind::kUnlinksLate, "/db/MANIFEST-000002"), "two");
}

TEST_F(CrashFileSystemTest, ALostDirectoryTakesItsFilesAlong) {
  ASSERT_TRUE(fs_.CreateDir("/db/sub").ok());
  ASSERT_TRUE(WriteStringToFile(&fs_, "x", "/db/sub/f", Durability::kSynced).ok());
  SyncDirectory("/db/sub");
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/sub/f"), "absent");
  SyncDirectory("/db");
  EXPECT_EQ(After(CrashKind::kDurableOnly, "/db/sub/f"), "x");
}

TEST_F(CrashFileSystemTest, CuttingAFileByCreatingItAgainIsPendingToo) {
  CreateDurable("/db/f", "precious");
  ASSERT_TRUE(Create("/db/f")->Close().ok());
  EXPECT_EQ(Possible("/db/f"), (std::set<std::string>{"precious", ""}));
}

TEST_F(CrashFileSystemTest, MessagesForPeopleDoNotMultiplyTheImages) {
  std::unique_ptr<vfs::WritableFile> log = Create("/db/LOG");
  for (int i = 0; i < 50; i++) {
    ASSERT_TRUE(log->Append("message\n").ok());
    ASSERT_TRUE(log->Flush().ok());
  }
  EXPECT_EQ(Possible("/db/LOG").size(), 1u);
}

TEST_F(CrashFileSystemTest, OperationsAreDescribed) {
  CreateDurable("/db/000004.log", "x");
  std::string all;
  for (uint64_t k = 0; k < fs_.OperationCount(); k++)
    StrAppend(&all, fs_.DescribeOperation(k), "; ");
  EXPECT_NE(all.find("create db"), std::string::npos) << all;
  EXPECT_NE(all.find("create 000004.log"), std::string::npos) << all;
  EXPECT_NE(all.find("write 1 bytes at 0 of 000004.log"), std::string::npos) << all;
  EXPECT_NE(all.find("sync 000004.log"), std::string::npos) << all;
  EXPECT_NE(all.find("sync directory db"), std::string::npos) << all;
}

TEST_F(CrashFileSystemTest, AnImageCanCrashAgain) {
  CreateDurable("/db/f", "one");
  Append("/db/f", "two");
  const CrashImage first = fs_.MakeCrashImage(fs_.OperationCount(), CrashKind::kDurableOnly, 0);
  CrashFileSystem again(first.file_system->Snapshot());
  EXPECT_EQ(Look(&again, "/db/f"), "one");
  ASSERT_TRUE(WriteStringToFile(&again, "three", "/db/g", Durability::kSynced).ok());
  const CrashImage second =
      again.MakeCrashImage(again.OperationCount(), CrashKind::kDurableOnly, 0);
  EXPECT_EQ(Look(second.file_system.get(), "/db/f"), "one");
  EXPECT_EQ(Look(second.file_system.get(), "/db/g"), "absent");
  EXPECT_EQ(
      Look(
          again.MakeCrashImage(again.OperationCount(), CrashKind::kEverything, 0).file_system.get(),
          "/db/g"),
      "three");
}

TEST_F(CrashFileSystemTest, WhatADeadProcessDidNotSyncMayStillBeLost) {
  CreateDurable("/db/f", "one");
  Append("/db/f", "two");
  ASSERT_TRUE(WriteStringToFile(&fs_, "deleted", "/db/g", Durability::kBuffered).ok());
  ASSERT_TRUE(fs_.DeleteFile("/db/g").ok());
  const std::shared_ptr<CrashFileSystem> next = fs_.AfterProcessDeath(fs_.OperationCount());
  EXPECT_EQ(next->OperationCount(), fs_.OperationCount());
  EXPECT_EQ(next->Snapshot().Fingerprint(), fs_.Snapshot().Fingerprint());
  ASSERT_TRUE(WriteStringToFile(next.get(), "three", "/db/h", Durability::kSynced).ok());
  const auto after = [&](CrashKind kind, const std::string& path) {
    const CrashImage image = next->MakeCrashImage(next->OperationCount(), kind, 0);
    return Look(image.file_system.get(), path);
  };
  EXPECT_EQ(after(CrashKind::kDurableOnly, "/db/f"), "one");
  EXPECT_EQ(after(CrashKind::kEverything, "/db/f"), "onetwo");
  EXPECT_EQ(after(CrashKind::kEverything, "/db/h"), "three") << "no bytes of the deleted file";
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(next->ReopenWritableFile("/db/f", vfs::FileOptions(), &file).ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(after(CrashKind::kDurableOnly, "/db/f"), "onetwo");
}

TEST_F(CrashFileSystemTest, DamageComesWithLostOperations) {
  CreateDurable("/db/f", "");
  Append("/db/f", std::string(1000, 'f'));
  CreateDurable("/db/g", "");  // the bytes of f stay pending
  ASSERT_TRUE(fs_.DeleteFile("/db/g").ok());
  bool torn_and_lost = false;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const CrashImage image =
        fs_.MakeCrashImage(fs_.OperationCount(), CrashKind::kRandomDamage, seed);
    torn_and_lost |= Look(image.file_system.get(), "/db/f").size() == 512 &&
                     Look(image.file_system.get(), "/db/g") == "";
  }
  EXPECT_TRUE(torn_and_lost);
}

// Models a store's promise on random histories. Names and bytes that were synced are in
// every image of every later moment. The kEverything image is the file system of that
// moment.
TEST_F(CrashFileSystemTest, WhatWasMadeDurableIsInEveryLaterImage) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    CrashFileSystem fs;
    std::unique_ptr<vfs::Directory> root;
    ASSERT_TRUE(fs.NewDirectory("/", &root).ok());
    std::map<std::string, std::string> live;      // the state that the file system shows
    std::map<std::string, std::string> promised;  // prefixes of contents that must survive
    struct Moment {
      uint64_t operations;
      std::map<std::string, std::string> promised;
      uint64_t fingerprint;
    };
    std::vector<Moment> moments;
    for (int step = 0; step < 40; step++) {
      const std::string path = StrCat("/f", random.Uniform(4));
      const std::string data = random.Bytes(1 + static_cast<size_t>(random.Skewed(13)));
      std::unique_ptr<vfs::WritableFile> file;
      ASSERT_TRUE(fs.ReopenWritableFile(path, vfs::FileOptions(), &file).ok());
      ASSERT_TRUE(file->Append(data).ok());
      live[path] += data;
      if (random.OneIn(2)) {
        ASSERT_TRUE(file->Sync().ok());
        ASSERT_TRUE(root->Sync().ok());
        promised[path] = live[path];
      }
      ASSERT_TRUE(file->Close().ok());
      moments.push_back({fs.OperationCount(), promised, fs.Snapshot().Fingerprint()});
    }
    for (const Moment& moment : moments) {
      EXPECT_EQ(fs.MakeCrashImage(moment.operations, CrashKind::kEverything, 0).fingerprint,
                moment.fingerprint);
      fs.EnumerateCrashImages(moment.operations, seed, [&](const CrashImage& image) {
        for (const auto& [path, contents] : moment.promised) {
          const std::string found = Look(image.file_system.get(), path);
          ASSERT_TRUE(found.starts_with(contents))
              << path << " after " << moment.operations << ", " << CrashKindName(image.kind);
        }
        // I2: the image can be made again.
        ASSERT_EQ(fs.MakeCrashImage(moment.operations, image.kind, image.seed).fingerprint,
                  image.fingerprint);
      });
    }
  }
}

}  // namespace
}  // namespace ashlar
