// MANIFESTs exchanged with RocksDB 7.8's tools, in both directions.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "execute/epoch.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/manifest_test_kit.h"
#include "manifest/version_set.h"
#include "tests/support/test_epochs.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class ManifestInterchangeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(HaveRocksDbTools()); }
  void TearDown() override { TestEpochs().Synchronize(); }

  std::string Ldb(const std::string& arguments) {
    const ToolRun run = RunTool(StrCat("ldb --db=", directory_, " ", arguments));
    EXPECT_EQ(run.exit_code, 0) << arguments << "\n" << run.output;
    return run.output;
  }
  std::string DumpManifest(FileNumber number) {
    const ToolRun run = RunTool(
        StrCat("ldb manifest_dump --verbose --path=", DescriptorFileName(directory_, number)));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return run.output;
  }

  std::unique_ptr<VersionSet> Open(const std::vector<std::string>& families, Status* status) {
    std::vector<ColumnFamilySpec> specs;
    for (const std::string& name : families)
      specs.push_back(ColumnFamilySpec{
          .name = name, .comparator = KeyComparator(BytewiseComparator()), .levels = 64});
    auto set = std::make_unique<VersionSet>(VersionSet::Args{
        .file_system = file_system_.get(), .directory = directory_, .drop_file = nullptr});
    *status = set->Recover(specs, false);
    return set;
  }

  static Status Install(VersionSet* set, Result<std::unique_ptr<PendingInstall>> install) {
    ASHLAR_RETURN_IF_ERROR(install.status());
    kManifestMutex.AssertHeld();  // one thread
    kDatabaseMutex.AssertHeld();
    ASHLAR_RETURN_IF_ERROR(set->Write(install->get()));
    for (Version* version : set->Publish(install->get())) version->Unref();
    return Status::OK();
  }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.File("db");
  const std::shared_ptr<vfs::FileSystem> file_system_ = vfs::FileSystem::Default();
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ManifestInterchangeTest, ADatabaseOfLdbIsRecovered) {
  Ldb("--create_if_missing put a 1");
  Ldb("create_column_family other");
  Ldb("--column_family=other put k v");
  Ldb("put b 2");
  Ldb("compact");
  Ldb("--column_family=other put k2 v2");
  Status status;
  const std::unique_ptr<VersionSet> set = Open({"default", "other"}, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  kManifestMutex.AssertHeld();  // one thread
  kDatabaseMutex.AssertHeld();
  const std::string dump = DumpManifest(set->manifest_number());
  EXPECT_EQ(set->Published().families.size(), 2u);
  for (const auto& [id, family] : set->Published().families) {
    EXPECT_TRUE(
        Contains(dump, StrCat("Column family \"", family->name, "\"  (ID ", family->id, ")")))
        << dump;
    for (Level level = 0; level < family->levels; ++level) {
      for (const FileMetaData* file : family->current->files(level)) {
        EXPECT_TRUE(Contains(dump, StrCat("\n ", file->number, ":", file->file_bytes, "[")))
            << file->number << "\n"
            << dump;
      }
    }
    EXPECT_GT(family->current->NumFiles(), 0u);
  }
  EXPECT_TRUE(Contains(dump, StrCat("last_sequence ", set->Published().last_sequence, " ")))
      << dump;
  EXPECT_TRUE(Contains(dump, StrCat("max_column_family ", set->Published().max_column_family, " ")))
      << dump;
  EXPECT_TRUE(Contains(
      dump, StrCat("min_log_number_to_keep ", set->Published().min_log_number_to_keep, "\n")))
      << dump;
  std::vector<std::string> names;
  ASSERT_TRUE(VersionSet::ListColumnFamilies(file_system_.get(), directory_, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "other"}));
}

TEST_F(ManifestInterchangeTest, ADatabaseOfDbBenchIsRecovered) {
  const ToolRun fill = RunTool(StrCat(
      "db_bench --db=", directory_,
      " --benchmarks=fillrandom,compact --num=5000 --write_buffer_size=65536 ",
      "--target_file_size_base=65536 --max_bytes_for_level_base=262144 --max_background_jobs=1"));
  ASSERT_EQ(fill.exit_code, 0) << fill.output;
  Status status;
  const std::unique_ptr<VersionSet> set = Open({"default"}, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  kDatabaseMutex.AssertHeld();  // one thread
  EXPECT_GT(set->Published().FindFamily(0)->current->NumFiles(), 2u);
  set->Published().FindFamily(0)->current->CheckInvariants();
}

TEST_F(ManifestInterchangeTest, LdbOpensANewDatabase) {
  ASSERT_TRUE(file_system_->CreateDirIfMissing(directory_).ok());
  ASSERT_TRUE(VersionSet::CreateNewDatabase(file_system_.get(), directory_,
                                            "01234567-89ab-cdef-0123-456789abcdef")
                  .ok());
  const std::string dump = DumpManifest(1);
  EXPECT_TRUE(Contains(dump,
                       "next_file_number 3 last_sequence 0  prev_log_number 0 max_column_family 0 "
                       "min_log_number_to_keep 0"))
      << dump;
  Ldb("put a 1");
  EXPECT_EQ(Ldb("get a"), "1\n");
}

TEST_F(ManifestInterchangeTest, LdbReadsADatabaseThatWeInstalledInto) {
  Ldb("--create_if_missing put a 1");
  Ldb("put b 2");
  Ldb("put c 3");
  Status status;
  std::unique_ptr<VersionSet> set = Open({"default"}, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  // Every table is moved to the last level. A family is added, and another is added and dropped.
  VersionEdit move;
  kDatabaseMutex.AssertHeld();  // one thread
  ASSERT_GT(set->Published().FindFamily(0)->current->NumFiles(0), 0u);
  for (FileMetaData* file : set->Published().FindFamily(0)->current->files(0))
    move.MoveFile(0, 6, file);
  std::vector<VersionEdit> edits(2);
  edits[0] = std::move(move);
  edits[0].last_sequence = 9;
  edits[1].log_additions.push_back(LogAddition{.number = 4, .synced_bytes = std::nullopt});
  kManifestMutex.AssertHeld();  // one thread
  ASSERT_TRUE(Install(set.get(), set->Prepare(std::move(edits))).ok());
  ASSERT_TRUE(Install(set.get(), set->PrepareAddFamily(ColumnFamilySpec{.name = "ours",
                                                                        .comparator = KeyComparator(
                                                                            BytewiseComparator())},
                                                       0, nullptr))
                  .ok());
  ASSERT_TRUE(Install(set.get(), set->PrepareAddFamily(ColumnFamilySpec{.name = "gone",
                                                                        .comparator = KeyComparator(
                                                                            BytewiseComparator())},
                                                       0, nullptr))
                  .ok());
  ASSERT_TRUE(Install(set.get(), set->PrepareDropFamily(2)).ok());
  VersionEdit forget;
  forget.log_deletion = 100;
  std::vector<VersionEdit> last(1);
  last[0] = std::move(forget);
  ASSERT_TRUE(Install(set.get(), set->Prepare(std::move(last))).ok());
  const FileNumber manifest = set->manifest_number();
  const size_t tables = set->Published().FindFamily(0)->current->NumFiles(6);
  ASSERT_TRUE(set->Close().ok());
  set.reset();

  const std::string dump = DumpManifest(manifest);
  EXPECT_TRUE(Contains(dump, "Column family \"ours\"  (ID 1)")) << dump;
  EXPECT_TRUE(Contains(dump, "max_column_family 2 ")) << dump;
  EXPECT_TRUE(Contains(dump, "last_sequence 9 ")) << dump;
  const std::string level_six = dump.substr(
      dump.find("--- level 6 ---"), dump.find("--- level 7 ---") - dump.find("--- level 6 ---"));
  EXPECT_EQ(static_cast<size_t>(std::count(level_six.begin(), level_six.end(), '[')), 2 * tables)
      << level_six;
  EXPECT_TRUE(Contains(Ldb("list_column_families"), "{default, ours}"));
  EXPECT_EQ(Ldb("scan"), "a : 1\nb : 2\nc : 3\n");
  Ldb("checkconsistency");
}

}  // namespace
}  // namespace ashlar
