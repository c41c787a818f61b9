// An error in a sync of the directory, which the system reports to only one of two jobs. The names
// of the other job's tables may be lost too, so it does not install them.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
constexpr char kFile[] = "/external.sst";

class DirectorySyncTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(database_.Open());
    ASSERT_OK(database_.CreateFamily(kOther));
    // Makes two tables for a compaction.
    for (const char* const value : {"1", "2"}) {
      Write(kOther, "a", value);
      ASSERT_OK(database_.Flush({kOther}, true));
    }
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(kFile));
    ASSERT_OK(writer.Put("b", "ingested"));
    ASSERT_OK(writer.Finish());
  }
  void Write(const std::string& family, const std::string& key, const std::string& value) {
    const Commit commit = {
        {.kind = Change::Kind::kPut, .family = family, .key = key, .value = value}};
    ASSERT_OK(database_.Write(commit, WriteOptions()));
  }
  Status Compact() {
    return database_.db()->CompactRange(CompactRangeOptions(), database_.family(kOther), nullptr,
                                        nullptr);
  }
  Status Ingest() {
    return database_.db()->IngestExternalFile({kFile}, IngestExternalFileOptions());
  }
  // Runs all of `other` while `job` syncs its first table. The directory sync of `other` fails.
  // Neither error alone makes the database read-only.
  Status RunDuring(const std::function<Status()>& job, const std::function<Status()>& other) {
    FaultRule table;
    table.operations = FaultOperation::kSync;
    table.name_contains = ".sst";
    table.effect = FaultEffect::kRunAction;
    table.action = [&] {
      FaultRule directory;
      directory.operations = FaultOperation::kSyncDirectory;
      directory.error = Status::NoSpace("injected");
      faults_->AddRule(directory);
      const Status failed = other();
      EXPECT_TRUE(failed.IsNoSpace()) << failed.ToString();
    };
    faults_->AddRule(table);
    const Status status = job();
    EXPECT_EQ(faults_->FaultsInjected(), 1u);
    faults_->ClearRules();
    return status;
  }
  Contents Read() const {
    Contents contents;
    EXPECT_OK(database_.Read(&contents));
    return contents;
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
  OpenDatabase database_{faults_, SmallDatabaseOptions(), 5};
  const Options options_ = [this] {
    Options options = SmallDatabaseOptions();
    options.env = database_.env();
    return options;
  }();
};

TEST_F(DirectorySyncTest, AFlushHearsOfTheErrorOfACompaction) {
  Write(kDefaultColumnFamilyName, "a", "value");
  const Status flushed =
      RunDuring([this] { return database_.Flush({kDefaultColumnFamilyName}, true); },
                [this] { return Compact(); });
  EXPECT_TRUE(flushed.IsNoSpace()) << flushed.ToString();
  ASSERT_OK(database_.db()->Resume());
  ASSERT_OK(Compact());
  const Contents written = {{kDefaultColumnFamilyName, {{"a", "value"}}}, {kOther, {{"a", "2"}}}};
  EXPECT_EQ(Read(), written);
}

TEST_F(DirectorySyncTest, AnIngestionHearsOfTheErrorOfACompaction) {
  const Status ingested = RunDuring([this] { return Ingest(); }, [this] { return Compact(); });
  EXPECT_TRUE(ingested.IsNoSpace()) << ingested.ToString();
  EXPECT_EQ(Read(), (Contents{{kDefaultColumnFamilyName, {}}, {kOther, {{"a", "2"}}}}));
  ASSERT_OK(Ingest());
}

TEST_F(DirectorySyncTest, ACompactionHearsOfTheErrorOfAnIngestion) {
  const Status compacted = RunDuring([this] { return Compact(); }, [this] { return Ingest(); });
  EXPECT_TRUE(compacted.IsNoSpace()) << compacted.ToString();
  ASSERT_OK(Compact());
  EXPECT_EQ(Read(), (Contents{{kDefaultColumnFamilyName, {}}, {kOther, {{"a", "2"}}}}));
}

}  // namespace
}  // namespace ashlar
