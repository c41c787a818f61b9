// Databases whose files were moved, dropped and compacted by name, and tables with properties of
// the program's collectors, read and changed by RocksDB's own tools.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/table_properties_collectors.h"
#include "base/format.h"
#include "tests/interchange/counting_collector.h"
#include "tests/interchange/ldb_fixture.h"

namespace ashlar {
namespace {

class FileCallsInterchangeTest : public LdbFixture {
 protected:
  void SetUp() override {
    LdbFixture::SetUp();
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
  }
  void WriteTable(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) ASSERT_OK(db_->Put(WriteOptions(), key, "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void MoveTo(int level) {
    CompactRangeOptions options;
    options.change_level = true;
    options.target_level = level;
    ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
  }
};

TEST_F(FileCallsInterchangeTest, LevelsThatWereChangedAreRead) {
  Open();
  WriteTable({"a", "b"});
  for (const int level : {5, 2, 0, 6, -1}) {
    MoveTo(level);
    Close();
    EXPECT_EQ(Ldb("scan"), "a : v\nb : v\n") << "level " << level;
    EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos) << "level " << level;
    Open();
  }
  Close();
  Ldb("put c w");
  Open();
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), "c", &value));
  MoveTo(3);
  Close();
  EXPECT_EQ(Ldb("scan"), "a : v\nb : v\nc : w\n");
}

TEST_F(FileCallsInterchangeTest, FilesThatWereDroppedStayAway) {
  Open();
  std::vector<LiveFileMetaData> files;
  WriteTable({"a", "b"});
  WriteTable({"c", "d"});
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 2u);
  for (int i = 1; i >= 0; --i) {
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), {files[static_cast<size_t>(i)].name}, 3));
  }
  const Slice begin("c");
  const Slice end("d");
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, &end));
  Close();
  EXPECT_EQ(Ldb("scan"), "a : v\nb : v\n");
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
}

TEST_F(FileCallsInterchangeTest, PropertiesOfCollectorsAreShown) {
  options_.table_properties_collector_factories.push_back(std::make_shared<CountingFactory>());
  options_.table_properties_collector_factories.push_back(
      NewCompactOnDeletionCollectorFactory(128, 1));
  Open();
  WriteTable({"a", "b", "c"});
  ASSERT_OK(db_->Delete(WriteOptions(), "d"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  const ToolRun run = RunTool(StrCat("sst_dump --file=", path_, " --show_properties"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("program.entries"), std::string::npos) << run.output;
  EXPECT_EQ(Ldb("scan"), "a : v\nb : v\nc : v\n");
}

}  // namespace
}  // namespace ashlar
