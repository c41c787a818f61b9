// The files of the current state, which are listed and are kept while they are copied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/stackable_db.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/file_damage.h"

namespace ashlar {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LiveFilesTest : public DatabaseFixture {
 protected:
  LiveFilesTest() { options_.disable_auto_compactions = true; }

  // Makes new tables, a new MANIFEST and a new OPTIONS file in each round, which replace the
  // earlier ones.
  void Churn() {
    for (int round = 0; round < 4; ++round) {
      Put("key", StrCat("value", round));
      Flush();
      CompactAll();
      ASSERT_OK(db_->SetOptions({{"max_bytes_for_level_multiplier", StrCat(7 + round)}}));
    }
    // A job continues after its waiters are notified, so the end of the last job may make files
    // obsolete.
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  std::vector<std::string> Missing(const std::vector<std::string>& files) const {
    std::vector<std::string> missing;
    for (const std::string& file : files) {
      if (!std::filesystem::exists(path() + file)) missing.push_back(file);
    }
    return missing;
  }
};

}  // namespace

TEST_F(LiveFilesTest, AreTablesCurrentManifestAndOptions) {
  Open();
  Put("key", "value");
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  EXPECT_THAT(files, Contains("/CURRENT"));
  EXPECT_THAT(files, Contains(StartsWith("/MANIFEST-")));
  EXPECT_THAT(files, Contains(StartsWith("/OPTIONS-")));
  EXPECT_EQ(files.size(), 4u);
  EXPECT_THAT(Missing(files), testing::IsEmpty());
  EXPECT_GT(manifest_bytes, 0u);
}

// Copied as specified, with the MANIFEST truncated to its length, they are a database.
TEST_F(LiveFilesTest, OfReadersAreADatabase) {
  Open();
  Put("key", "value");
  Flush();
  vfs::FileSystem* const system = options_.env->EngineFiles().get();
  const std::string copy = scratch_.File("copy");
  for (const bool secondary : {false, true}) {
    SCOPED_TRACE(secondary ? "secondary" : "read-only");
    std::unique_ptr<DB> reader;
    ASSERT_OK(secondary ? DB::OpenAsSecondary(options_, path(), scratch_.File("secondary"), &reader)
                        : DB::OpenForReadOnly(options_, path(), &reader));
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    ASSERT_OK(reader->GetLiveFiles(files, &manifest_bytes));
    std::filesystem::remove_all(copy);
    std::filesystem::create_directory(copy);
    for (const std::string& file : files) {
      std::string bytes = ContentsOf(system, path() + file);
      if (file.starts_with("/MANIFEST-")) bytes.resize(manifest_bytes);
      ReplaceFile(system, copy + file, bytes);
    }
    std::unique_ptr<DB> copied;
    ASSERT_OK(DB::Open(options_, copy, &copied));
    std::string value;
    EXPECT_OK(copied->Get(ReadOptions(), "key", &value));
    EXPECT_EQ(value, "value");
  }
}

TEST_F(LiveFilesTest, StayWhileFileDeletionsAreDisabledAndGoAfterwards) {
  options_.max_manifest_file_size = 1;
  Open();
  Put("key", "value");
  ASSERT_OK(db_->DisableFileDeletions());
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  Churn();
  EXPECT_THAT(Missing(files), testing::IsEmpty());
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(Missing(files).size(), files.size() - 1) << "all but CURRENT";
  size_t manifests = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path()))
    manifests += entry.path().filename().string().starts_with("MANIFEST-");
  EXPECT_EQ(manifests, 1u);
}

TEST_F(LiveFilesTest, TablesWithLevelDBsNameGetTheOtherOne) {
  Open();
  Put("key", "value");
  Flush();
  const std::string table = FileNames(0).at(0);
  Close();
  const std::string legacy = path() + "/" + table.substr(0, table.size() - 4) + ".ldb";
  std::filesystem::rename(path() + "/" + table, legacy);
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Get("key"), "value");
  EXPECT_TRUE(std::filesystem::exists(legacy));
  Open();
  EXPECT_EQ(Get("key"), "value");
  EXPECT_FALSE(std::filesystem::exists(legacy));
  std::vector<LiveFileStorageInfo> files;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files));
  for (const LiveFileStorageInfo& file : files) {
    const std::string name = file.directory + "/" + file.relative_filename;
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
  }
  Put("key", "newer");
  Flush();
  CompactAll();
  EXPECT_EQ(Tables(), 1);
}

TEST_F(LiveFilesTest, HaveNoBlobFilesAmongThem) {
  using Names = DB::Properties;
  Open();
  Put("key", "value");
  Flush();
  for (const std::string& name : {Names::kNumBlobFiles, Names::kTotalBlobFileSize,
                                  Names::kLiveBlobFileSize, Names::kLiveBlobFileGarbageSize}) {
    EXPECT_EQ(Number(name), 0u) << name;
    uint64_t sum = 1;
    EXPECT_TRUE(db_->GetAggregatedIntProperty(name, &sum)) << name;
    EXPECT_EQ(sum, 0u) << name;
  }
  uint64_t cached = 0;
  EXPECT_FALSE(db_->GetIntProperty(Names::kBlobCacheUsage, &cached));
}

TEST_F(LiveFilesTest, DeletionsAreEnabledInTheFormOfOlderReleases) {
  Open();
  StackableDB around(std::shared_ptr<DB>(std::shared_ptr<DB>(), db_.get()));
  const auto disable = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_OK(around.DisableFileDeletions());
  };
  disable(3);
  ASSERT_OK(around.EnableFileDeletions(/*force=*/false));
  ASSERT_OK(around.EnableFileDeletions());
  EXPECT_EQ(Number(DB::Properties::kIsFileDeletionsEnabled), 0u) << "one is missing";
  ASSERT_OK(db_->EnableFileDeletions(/*force=*/false));
  EXPECT_EQ(Number(DB::Properties::kIsFileDeletionsEnabled), 1u);
  ASSERT_OK(db_->EnableFileDeletions(/*force=*/false)) << "they are not disabled";
  EXPECT_TRUE(db_->EnableFileDeletions().IsInvalidArgument());
  disable(3);
  ASSERT_OK(around.EnableFileDeletions(/*force=*/true));
  EXPECT_EQ(Number(DB::Properties::kIsFileDeletionsEnabled), 1u);
}

TEST_F(LiveFilesTest, TheLimitOfTheManifestMayChange) {
  Open();
  const auto manifest_after_a_flush = [this] {
    Put("key", "value");
    Flush();
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    EXPECT_OK(db_->GetLiveFiles(files, &manifest_bytes));
    const auto found = std::find_if(files.begin(), files.end(), [](const std::string& file) {
      return file.find("MANIFEST-") != std::string::npos;
    });
    return found == files.end() ? std::string() : *found;
  };
  const std::string first = manifest_after_a_flush();
  EXPECT_EQ(manifest_after_a_flush(), first);
  ASSERT_OK(db_->SetDBOptions({{"max_manifest_file_size", "1"}}));
  EXPECT_NE(manifest_after_a_flush(), first);
  ASSERT_OK(db_->SetDBOptions({{"max_manifest_file_size", "1g"}}));
  const std::string second = manifest_after_a_flush();
  EXPECT_EQ(manifest_after_a_flush(), second);
  EXPECT_EQ(db_->GetDBOptions().max_manifest_file_size, uint64_t{1} << 30);
}

TEST_F(LiveFilesTest, AnOpenIsSilentAboutTablesThatWentLongAgo) {
  options_.max_manifest_file_size = 1 << 20;
  Open();
  Churn();
  Close();
  Open();
  Close();
  std::ifstream file(path() + "/LOG");
  const std::string log(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(log, HasSubstr("recovery_finished"));
  EXPECT_THAT(log, Not(HasSubstr("could not be deleted")));
}

TEST_F(LiveFilesTest, EntriesAreCountedAfterAReopen) {
  Open();
  for (int i = 0; i < 1000; ++i) Put(StrCat("key", i), "value");
  Flush();
  for (int i = 0; i < 100; ++i) Delete(StrCat("key", i));
  Flush();
  Open();
  uint64_t keys = 0;
  ASSERT_TRUE(db_->GetIntProperty(DB::Properties::kEstimateNumKeys, &keys));
  EXPECT_EQ(keys, 900u);
  Open();
  ASSERT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kEstimateNumKeys, &keys));
  EXPECT_EQ(keys, 900u);
  Open();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].num_entries + files[1].num_entries, 1100u);
  EXPECT_EQ(files[0].num_deletions + files[1].num_deletions, 100u);
}

// Through a StackableDB.
TEST_F(LiveFilesTest, AreReportedByLevelAndAge) {
  options_.level0_stop_writes_trigger = 77;
  Open();
  StackableDB around(std::shared_ptr<DB>(std::shared_ptr<DB>(), db_.get()));
  EXPECT_EQ(around.Level0StopWriteTrigger(), 77);
  EXPECT_EQ(around.MaxMemCompactionLevel(), 0);
  uint64_t created = 0;
  ASSERT_OK(around.GetCreationTimeOfOldestFile(&created));
  EXPECT_EQ(created, std::numeric_limits<uint64_t>::max()) << "there is no table";

  int64_t before = 0;
  ASSERT_OK(db_->GetEnv()->GetCurrentTime(&before));
  Put("a", "1");
  Flush();
  CompactAll();
  Put("a", "2");
  Put("b", "3");
  Flush();
  int64_t after = 0;
  ASSERT_OK(db_->GetEnv()->GetCurrentTime(&after));
  ASSERT_OK(around.GetCreationTimeOfOldestFile(&created));
  EXPECT_GE(created, static_cast<uint64_t>(before));
  EXPECT_LE(created, static_cast<uint64_t>(after));

  std::vector<std::unique_ptr<TablePropertiesCollection>> levels(1);
  ASSERT_OK(around.GetPropertiesOfTablesByLevel(db_->DefaultColumnFamily(), &levels));
  ASSERT_EQ(levels.size(), static_cast<size_t>(db_->NumberLevels()));
  size_t tables = 0;
  for (size_t level = 0; level < levels.size(); ++level) {
    EXPECT_EQ(levels[level]->size(), FilesAtLevel(static_cast<int>(level))) << level;
    tables += levels[level]->size();
  }
  EXPECT_EQ(tables, 2u);
  ASSERT_EQ(levels[0]->size(), 1u);
  EXPECT_EQ(levels[0]->begin()->second->num_entries, 2u);
}

}  // namespace ashlar
