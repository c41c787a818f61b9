// Checksums of complete tables in the MANIFEST, and copies of databases made from their lists of
// files. RocksDB's own tools read those of Ashlar, and Ashlar reads theirs.
#include "ashlar/file_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/copy_live_file.h"

namespace ashlar {
namespace {

class FileChecksumInterchangeTest : public LdbFixture {
 protected:
  void SetUp() override {
    LdbFixture::SetUp();
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  }
  void WriteTable(int i) {
    ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", i), "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  // Lines such as "12, FileChecksumCrc32c, 0x0A1B2C3D".
  std::set<std::string> Recorded() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::set<std::string> lines;
    for (const LiveFileMetaData& file : files) {
      lines.insert(StrCat(file.file_number, ", ", file.file_checksum_func_name, ", 0x",
                          Slice(file.file_checksum).ToString(/*hex=*/true)));
    }
    return lines;
  }
  std::set<std::string> Dumped() const {
    std::set<std::string> lines;
    const std::string text = Ldb("file_checksum_dump --hex");
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      if (line.find(", ") != std::string::npos) lines.insert(line);
      begin = end + 1;
    }
    return lines;
  }
};

TEST_F(FileChecksumInterchangeTest, LdbPrintsOurs) {
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < 3; ++i) WriteTable(i);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
  WriteTable(3);
  const std::set<std::string> recorded = Recorded();
  EXPECT_EQ(recorded.size(), 2u);
  Close();
  EXPECT_EQ(Dumped(), recorded);
  EXPECT_EQ(Ldb("--try_load_options scan"), "key0 : v\nkey1 : v\nkey2 : v\nkey3 : v\n")
      << "with our OPTIONS file";
}

TEST_F(FileChecksumInterchangeTest, TheirsAreVerified) {
  const ToolRun bench = RunTool(
      StrCat("db_bench --db=", path_, " --benchmarks=fillseq,flush --num=20000 --value_size=100",
             " --file_checksum=true --write_buffer_size=500000 --disable_auto_compactions=true"));
  ASSERT_EQ(bench.exit_code, 0) << bench.output;
  const std::set<std::string> dumped = Dumped();
  EXPECT_GT(dumped.size(), 1u);
  options_.create_if_missing = false;
  options_.disable_auto_compactions = true;
  Open();
  EXPECT_EQ(Recorded(), dumped);
  ASSERT_OK(db_->VerifyFileChecksums(ReadOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->VerifyFileChecksums(ReadOptions()));
  const std::set<std::string> ours = Recorded();
  Close();
  EXPECT_EQ(Dumped(), ours);
}

TEST_F(FileChecksumInterchangeTest, LdbReadsACopyMadeByTheListOfFiles) {
  options_.disable_auto_compactions = true;
  Open();
  WriteTable(0);
  ASSERT_OK(db_->Put(WriteOptions(), "key1", "in the log"));
  LiveFilesStorageInfoOptions how;
  how.include_checksum_info = true;
  how.wal_size_for_flush = UINT64_MAX;
  std::vector<LiveFileStorageInfo> files;
  ASSERT_OK(db_->DisableFileDeletions());
  ASSERT_OK(db_->GetLiveFilesStorageInfo(how, &files));
  ASSERT_OK(db_->Put(WriteOptions(), "key2", "too late"));
  WriteTable(3);
  const std::string copy = scratch_.File("copy");
  std::filesystem::create_directory(copy);
  for (const LiveFileStorageInfo& file : files)
    CopyLiveFile(vfs::FileSystem::Default().get(), file, copy);
  ASSERT_OK(db_->EnableFileDeletions());
  Close();
  EXPECT_EQ(RunCommand(StrCat("ldb --db=", copy, " scan")), "key0 : v\nkey1 : in the log\n");
}

TEST_F(FileChecksumInterchangeTest, LdbSeesThatATableWasDeletedByName) {
  options_.disable_auto_compactions = true;
  Open();
  WriteTable(0);
  WriteTable(1);
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const LiveFileMetaData& file : files) {
    if (file.smallestkey != "key0") continue;
    ASSERT_OK(db_->DeleteFile(file.name));
  }
  Close();
  EXPECT_EQ(Ldb("scan"), "key1 : v\n");
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
