// The files of the current state, listed and kept while somebody copies them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {

namespace {

using ::testing::Contains;
using ::testing::StartsWith;

class LiveFilesTest : public DatabaseFixture {
 protected:
  LiveFilesTest() { options_.disable_auto_compactions = true; }

  // New tables, a new MANIFEST, and a new OPTIONS file for each round; what was there before is replaced.
  void Churn() {
    for (int round = 0; round < 4; ++round) {
      Put("key", StrCat("value", round));
      Flush();
      CompactAll();
      ASSERT_OK(db_->SetOptions({{"max_bytes_for_level_multiplier", StrCat(7 + round)}}));
    }
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
  for (const auto& entry : std::filesystem::directory_iterator(path())) manifests += entry.path().filename().string().starts_with("MANIFEST-");
  EXPECT_EQ(manifests, 1u);
}

}  // namespace ashlar
