#include "filesystem/filename.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

struct Named {
  std::string path;
  uint64_t number;
  FileType type;
};

// Ashlar writes no blob files, but leaves those of another engine alone.
std::string BlobFileName(uint64_t n) {
  const std::string table = TableFileName("/db", n);
  return table.substr(0, table.size() - 3) + "blob";
}

std::vector<Named> AllNames(uint64_t n) {
  return {{WalFileName("/db", n), n, FileType::kWalFile},
          {TableFileName("/db", n), n, FileType::kTableFile},
          {LegacyTableFileName("/db", n), n, FileType::kTableFile},
          {BlobFileName(n), n, FileType::kBlobFile},
          {DescriptorFileName("/db", n), n, FileType::kDescriptorFile},
          {OptionsFileName("/db", n), n, FileType::kOptionsFile},
          {TempOptionsFileName("/db", n), n, FileType::kTempFile},
          {TempFileName("/db", n), n, FileType::kTempFile},
          {WalFileName("/db", n) + ".dbtmp", n, FileType::kTempFile},
          {TableFileName("/db", n) + ".dbtmp", n, FileType::kTempFile},
          {TrashFileName(TableFileName("/db", n), 0), n, FileType::kTempFile},
          {TrashFileName(WalFileName("/db", n), 0), n, FileType::kTempFile},
          {TrashFileName(BlobFileName(n), 0), n, FileType::kTempFile},
          {StrCat("/db/LOG.old.", n), n, FileType::kInfoLogFile},
          {CurrentFileName("/db"), 0, FileType::kCurrentFile},
          {LockFileName("/db"), 0, FileType::kDBLockFile},
          {IdentityFileName("/db"), 0, FileType::kIdentityFile},
          {"/db/LOG", 0, FileType::kInfoLogFile}};
}

TEST(FileName, NamesAreTheOnesThatOtherToolsKnow) {
  EXPECT_EQ(WalFileName("/db", 7), "/db/000007.log");
  EXPECT_EQ(TableFileName("/db", 1234567), "/db/1234567.sst");
  EXPECT_EQ(LegacyTableFileName("/db", 7), "/db/000007.ldb");
  EXPECT_EQ(DescriptorFileName("/db", 1), "/db/MANIFEST-000001");
  EXPECT_EQ(OptionsFileName("/db", 9), "/db/OPTIONS-000009");
  EXPECT_EQ(TempOptionsFileName("/db", 9), "/db/OPTIONS-000009.dbtmp");
  EXPECT_EQ(TempFileName("/db", 9), "/db/000009.dbtmp");
  EXPECT_EQ(TrashFileName("/db/000009.sst", 0), "/db/000009.sst.trash");
  EXPECT_EQ(TrashFileName("/db/000009.log", 1), "/db/000009.log0.trash");
  EXPECT_EQ(ArchiveDirectory("/db"), "/db/archive");
}

TEST(FileName, EveryNameIsParsedBack) {
  for (const uint64_t n : {uint64_t{1}, uint64_t{999999}, uint64_t{1000000}, kFileNumberMax}) {
    for (const Named& named : AllNames(n)) {
      uint64_t number = 42;
      FileType type = FileType::kBlobFile;
      ASSERT_TRUE(ParseFileName(BaseName(named.path), &number, &type)) << named.path;
      EXPECT_EQ(number, named.number) << named.path;
      EXPECT_EQ(type, named.type) << named.path;
    }
  }
}

TEST(FileName, NothingElseIsAccepted) {
  for (const std::string_view name : {"",
                                      "foo",
                                      "foo-dx-100.log",
                                      ".log",
                                      "log",
                                      "1.log",
                                      "00001.log",
                                      "0000001.log",
                                      "000001.LOG",
                                      "000001.log ",
                                      " 000001.log",
                                      "000001.log\n",
                                      "+00001.log",
                                      "-00001.log",
                                      "0x0001.log",
                                      "000000.log",
                                      "000000.sst",
                                      "18446744073709551616.log",
                                      "99999999999999999999999.sst",
                                      "1.sst.dbtmp",
                                      ".log.dbtmp",
                                      "000001.dbtmp.dbtmp",
                                      "000001.log.dbtmp.dbtmp",
                                      "000001.sst.trash.dbtmp",
                                      "CURRENT.dbtmp",
                                      "MANIFEST-000001.dbtmp",
                                      "000001",
                                      "000001.",
                                      "MANIFEST",
                                      "MANIFEST-",
                                      "MANIFEST-1",
                                      "MANIFEST-000001x",
                                      "MANIFEST-000001\n",
                                      "XMANIFEST-000001",
                                      "MANIFEST-000000",
                                      "MANIFEST--00001",
                                      "CURRENTX",
                                      "CURREN",
                                      "current",
                                      "LOCKX",
                                      "LOGX",
                                      "LOG.old",
                                      "LOG.old.",
                                      "LOG.old.x",
                                      "LOG.old.01",
                                      "OPTIONS-",
                                      "OPTIONS-000001.tmp",
                                      "OPTIONS-000001.dbtmp.dbtmp",
                                      "OPTIONS-.dbtmp",
                                      ".trash",
                                      "7.trash",
                                      "000001.trash",
                                      "000001.sst00.trash",
                                      "000001.sst.trash.trash",
                                      "000001.dbtmp.trash",
                                      "CURRENT.trash",
                                      "MANIFEST-000001.trash",
                                      "../000001.sst",
                                      "a/000001.sst",
                                      "000001.sst/"}) {
    uint64_t number = 42;
    FileType type = FileType::kBlobFile;
    EXPECT_FALSE(ParseFileName(name, &number, &type)) << name;
    EXPECT_EQ(number, 42u);
    EXPECT_EQ(type, FileType::kBlobFile);
  }
  uint64_t number;
  FileType type;
  EXPECT_FALSE(ParseFileName(std::string_view("000001.log\0", 11), &number, &type));
  EXPECT_FALSE(ParseFileName(std::string_view("CURRENT\0", 8), &number, &type));
}

// I2. LOG.old has a time in its name, not a number.
TEST(FileName, NumbersAboveTheHighestAreNotOurs) {
  for (const uint64_t n :
       {kFileNumberMax + 1, uint64_t{1} << 63, std::numeric_limits<uint64_t>::max()}) {
    for (const Named& named : AllNames(n)) {
      if (named.number == 0 || named.type == FileType::kInfoLogFile) continue;
      uint64_t number = 42;
      FileType type;
      EXPECT_FALSE(ParseFileName(BaseName(named.path), &number, &type)) << named.path;
    }
  }
}

// I1: every accepted name is the name made from its number.
TEST(FileName, MutatedNamesAreRefusedOrCanonical) {
  constexpr uint64_t kSeed = 4711;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  for (int i = 0; i < 20000; i++) {
    const std::vector<Named> names = AllNames(1 + random.Skewed(40));
    std::string name(BaseName(names[static_cast<size_t>(random.Uniform(names.size()))].path));
    const size_t at = static_cast<size_t>(random.Uniform(name.size()));
    if (random.OneIn(2)) {
      name[at] = static_cast<char>('-' + random.Uniform(14));
    } else {
      name.insert(at, 1, static_cast<char>('0' + random.Uniform(10)));
    }
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    bool is_canonical = false;
    for (const Named& named : AllNames(number)) {
      is_canonical |= BaseName(named.path) == name && named.type == type;
      for (uint64_t taken = 1; taken <= 10 && type == FileType::kTempFile; ++taken)
        is_canonical |= BaseName(TrashFileName(named.path, taken)) == name;
    }
    EXPECT_TRUE(is_canonical) << name;
  }
}

TEST(FileName, FilesThatWereTakenOut) {
  EXPECT_EQ(LostFileName("/db", "000007.log", 0), "/db/lost/000007.log");
  EXPECT_EQ(LostFileName("/db", "000007.log", 12), "/db/lost/000007.log.12");
  for (const std::string_view name : {"000007.log", "000007.log.1", "1234567.log.12", "000007.sst",
                                      "000007.sst.1", "MANIFEST-000003", "MANIFEST-000003.2"})
    EXPECT_TRUE(IsLostFileName(name)) << name;
  for (const std::string_view name :
       {"", "lost", "CURRENT", "LOCK", "OPTIONS-000007", "000007.log.", "000007.log.0",
        "000007.log.01", "000007.log.x", "7.log.1", "000007.log.1.1", "../000007.log"}) {
    EXPECT_FALSE(IsLostFileName(name)) << name;
  }
}

TEST(FileName, BaseNameIsWhatFollowsTheLastSlash) {
  EXPECT_EQ(BaseName("/a/b"), "b");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(BaseName("/a/"), "");
  EXPECT_EQ(BaseName(""), "");
}

}  // namespace
}  // namespace ashlar
