// A program's data stay in its tables and logs: neither LOG nor error messages contain bytes of
// keys or values. Names and paths in files are not followed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";
constexpr char kSecret[] = "hunter2";

std::string Secret(int i) { return StrCat(kSecret, "-", i); }

// Fails for values that contain "bad".
class FailingOperator final : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string*, Logger*) const override {
    return value.ToString().find("bad") == std::string::npos;
  }
  const char* Name() const override { return "FailingOperator"; }
};

class SecretsTest : public ::testing::Test {
 protected:
  SecretsTest()
      : file_system_(std::make_shared<MemoryFileSystem>()),
        env_(std::make_unique<ManualEnv>(file_system_, 1)) {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.info_log_level = DEBUG_LEVEL;
    options_.merge_operator = std::make_shared<FailingOperator>();
    options_.level0_file_num_compaction_trigger = 2;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  void ExpectNoSecretsInTheLog() {
    std::vector<std::string> names;
    ASSERT_OK(file_system_->GetChildren(kPath, &names));
    size_t logs = 0;
    for (const std::string& name : names) {
      if (!name.starts_with("LOG")) continue;
      ++logs;
      const Result<std::string> text =
          ReadFileToString(file_system_.get(), StrCat(kPath, "/", name), 1 << 24);
      ASSERT_OK(text.status());
      EXPECT_EQ(text->find(kSecret), std::string::npos) << name << ":\n" << *text;
      EXPECT_EQ(text->find(Slice(kSecret).ToString(true)), std::string::npos) << name;
    }
    EXPECT_GT(logs, 0U);
  }
  void ExpectNoSecret(const Status& status) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.ToString().find(kSecret), std::string::npos) << status.ToString();
    EXPECT_EQ(status.ToString().find(Slice(kSecret).ToString(true)), std::string::npos)
        << status.ToString();
  }
  void Write(DB* db) {
    for (int i = 0; i < 30; ++i) {
      ASSERT_OK(db->Put({}, Secret(i), Secret(100 + i)));
      ASSERT_OK(db->Delete({}, Secret(i / 2)));
      if (i % 10 == 9) {
        ASSERT_OK(db->Flush(FlushOptions()));
      }
    }
    ASSERT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), Secret(20), Secret(25)));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  std::string NewestTable() {
    std::vector<std::string> names;
    EXPECT_OK(file_system_->GetChildren(kPath, &names));
    std::string newest;
    for (const std::string& name : names) {
      if (name.ends_with(".sst")) newest = std::max(newest, name);
    }
    return StrCat(kPath, "/", newest);
  }

  std::shared_ptr<MemoryFileSystem> file_system_;
  std::unique_ptr<ManualEnv> env_;
  Options options_;
};

TEST_F(SecretsTest, AreNotInTheLogOfADatabaseAtWork) {
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options_, kPath, &db));
  Write(db.get());
  const std::string begin = Secret(3);
  const std::string end = Secret(8);
  const Slice begin_slice(begin);
  const Slice end_slice(end);
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), &begin_slice, &end_slice));
  ASSERT_OK(db->SuggestCompactRange(&begin_slice, &end_slice));
  ASSERT_OK(DeleteFilesInRange(db.get(), db->DefaultColumnFamily(), &begin_slice, &end_slice));
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  std::string stats;
  EXPECT_TRUE(db->GetProperty("rocksdb.stats", &stats));
  EXPECT_EQ(stats.find(kSecret), std::string::npos) << stats;
  ASSERT_OK(db->Put({}, Secret(1), "in the log"));
  ASSERT_OK(db->Close());
  db.reset();
  // A recovery logs too.
  ASSERT_OK(DB::Open(options_, kPath, &db));
  ASSERT_OK(db->Close());
  ExpectNoSecretsInTheLog();
}

TEST_F(SecretsTest, AreNotInTheTextsOfErrors) {
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options_, kPath, &db));
  Write(db.get());
  // A merge that fails in a read and in a compaction.
  ASSERT_OK(db->Merge({}, Secret(50), StrCat("bad ", kSecret)));
  std::string value;
  ExpectNoSecret(db->Get({}, Secret(50), &value));
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  it->Seek(Secret(50));
  ExpectNoSecret(it->status());
  // A damaged batch, a range in the wrong order, a damaged table.
  WriteBatch batch(std::string("\0\0\0\0\0\0\0\0\1\0\0\0\1\7", 14) + kSecret);
  ExpectNoSecret(db->Write({}, &batch));
  ExpectNoSecret(db->DeleteRange({}, db->DefaultColumnFamily(), Secret(9), Secret(1)));
  const std::string table = NewestTable();
  Result<std::string> bytes = ReadFileToString(file_system_.get(), table, 1 << 24);
  ASSERT_OK(bytes.status());
  (*bytes)[10] = static_cast<char>((*bytes)[10] ^ 1);
  ASSERT_OK(WriteStringToFile(file_system_.get(), *bytes, table, Durability::kBuffered));
  ExpectNoSecret(db->VerifyChecksum());
  ExpectNoSecretsInTheLog();
}

// A path in an OPTIONS file is only a claim. Reading the options opens nothing there.
TEST_F(SecretsTest, PathsInAnOptionsFileAreNotFollowed) {
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options_, kPath, &db));
    ASSERT_OK(db->Put({}, "key", "value"));
    ASSERT_OK(db->Close());
  }
  std::string name;
  ASSERT_OK(GetLatestOptionsFileName(kPath, env_.get(), &name));
  const std::string path = StrCat(kPath, "/", name);
  Result<std::string> text = ReadFileToString(file_system_.get(), path, 1 << 20);
  ASSERT_OK(text.status());
  const std::string section = "[DBOptions]\n";
  const size_t at = text->find(section);
  ASSERT_NE(at, std::string::npos);
  text->insert(at + section.size(), "  wal_dir=/elsewhere\n");
  ASSERT_OK(WriteStringToFile(file_system_.get(), *text, path, Durability::kBuffered));

  // An open without the file's options finds the log where it is.
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options_, kPath, &db));
  std::string value;
  EXPECT_OK(db->Get({}, "key", &value));
  ASSERT_OK(db->Close());
  db.reset();
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = env_.get();
  ASSERT_OK(LoadLatestOptions(config, kPath, &loaded, &families));
  EXPECT_TRUE(file_system_->FileExists("/elsewhere").IsNotFound());
}

}  // namespace
}  // namespace ashlar
