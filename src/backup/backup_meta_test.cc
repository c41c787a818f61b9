#include "backup/backup_meta.h"

#include <gtest/gtest.h>

#include <random>

#include "base/format.h"

namespace ashlar {
namespace {

BackupMeta Example() {
  BackupMeta meta;
  meta.timestamp = 1700000000;
  meta.sequence = 4711;
  meta.app_metadata = std::string("hello\0\n", 7);
  meta.files = {
      {.path = "shared_checksum/000012_305419896_4096.sst", .name = "000012.sst", .crc = 305419896},
      {.path = "private/7/MANIFEST-000009", .name = "MANIFEST-000009", .crc = 42},
      {.path = "private/7/CURRENT", .name = "CURRENT", .crc = 4294967295U},
      {.path = "shared/000003.sst", .name = "000003.sst", .crc = 0}};
  return meta;
}

TEST(BackupMeta, ReadsBackWhatItPrints) {
  const Result<BackupMeta> parsed = ParseBackupMeta(PrintBackupMeta(Example()), 7);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(*parsed, Example());
  EXPECT_EQ(SharedPath("000012.sst", 305419896, 4096), "shared_checksum/000012_305419896_4096.sst");
}

TEST(BackupMeta, TakesWhatRocksDbWrites) {
  const std::string_view text =
      "schema_version 2.1\n1700000000\n5\nmetadata 6869\nother field\n2\n"
      "shared_checksum/000012_s0ABCDEFG_4096.sst crc32 1 size 4096 temp hot\nprivate/3/CURRENT "
      "crc32 2\n// FOOTER\nmore 1\n";
  const Result<BackupMeta> parsed = ParseBackupMeta(text, 3);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->app_metadata, "hi");
  ASSERT_EQ(parsed->files.size(), 2U);
  EXPECT_EQ(parsed->files[0].name, "000012.sst");
}

TEST(BackupMeta, RefusesWhatItMustNotPassOver) {
  EXPECT_TRUE(ParseBackupMeta("schema_version 3\n1\n1\n0\n", 1).status().IsNotSupported());
  EXPECT_TRUE(
      ParseBackupMeta("schema_version 2\n1\n1\nni::new x\n0\n", 1).status().IsNotSupported());
  EXPECT_TRUE(ParseBackupMeta("schema_version 2\n1\n1\n1\nprivate/1/CURRENT crc32 1 ni::x y\n", 1)
                  .status()
                  .IsNotSupported());
}

TEST(BackupMeta, NoPathLeadsOutsideItsFolder) {
  for (const std::string& path : std::vector<std::string>{
           "private/2/CURRENT", "private/1/../CURRENT", "private/1/passwd", "/etc/passwd",
           "../CURRENT", "CURRENT", "shared/../private/1/CURRENT",
           "shared_checksum/../000012_1.sst", std::string("shared_checksum/000012_1\0_9.sst", 31),
           "shared_checksum/000012_1:9_9.sst", "shared_checksum/000012_1\\9_9.sst",
           "shared_checksum/000012.sst", "shared_checksum/x_1_2.sst", "shared/CURRENT",
           "shared_checksum/000012_1", ""}) {
    const Result<BackupMeta> parsed = ParseBackupMeta(StrCat("1\n1\n1\n", path, " crc32 1\n"), 1);
    EXPECT_TRUE(parsed.status().IsCorruption()) << path;
  }
}

TEST(BackupMeta, ANameMayHaveTheSizeOfItsFile) {
  EXPECT_EQ(BytesInPath(SharedPath("000012.sst", 305419896, 4096)), 4096U);
  EXPECT_EQ(BytesInPath("shared_checksum/000012_sAB12CD_77.sst"), 77U);
  for (const std::string_view path :
       {"shared_checksum/000012_sAB12CD.sst", "shared_checksum/000012_77.sst",
        "shared_checksum/000012_1_AB.sst", "shared/000012.sst", "private/7/CURRENT",
        "private/1/a_b_c_4.sst"})
    EXPECT_EQ(BytesInPath(path), std::nullopt) << path;
}

TEST(BackupMeta, EveryCutIsCorruption) {
  const std::string text = PrintBackupMeta(Example());
  for (size_t n = 0; n < text.size(); ++n)
    EXPECT_TRUE(ParseBackupMeta(text.substr(0, n), 7).status().IsCorruption()) << n;
}

TEST(BackupMeta, ChangedBytesGiveADescriptionOrAnError) {
  const std::string text = PrintBackupMeta(Example());
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(StrCat("seed ", seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (uint32_t n = random() % 4; n < 4; ++n)
      changed[random() % changed.size()] = static_cast<char>(random());
    const Result<BackupMeta> parsed = ParseBackupMeta(changed, 7);
    if (!parsed.ok()) continue;
    for (const BackupFile& file : parsed->files) {
      EXPECT_EQ(file.path.find("../"), std::string::npos);
      EXPECT_EQ(file.name.find('/'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ashlar
