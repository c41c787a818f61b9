// Files that a process left when it died: deleted at the next open if they are the database's and
// nothing needs them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

// Logs in a directory of their own were left there for ever once a process had died.
TEST(OrphanTest, OldLogsOfADeadProcessAreDeletedInADirectoryOfTheirOwn) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  OpenDatabase dying(disk, options, 1);
  ASSERT_TRUE(dying.Open().ok());
  ASSERT_TRUE(dying.db()->DisableFileDeletions().ok());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(dying.db()->Put(WriteOptions(), "key", StrCat(i)).ok());
    ASSERT_TRUE(dying.Flush({kDefaultColumnFamilyName}, true).ok());
  }
  const auto left = std::make_shared<MemoryFileSystem>(disk->Snapshot());
  std::unique_ptr<vfs::WritableFile> foreign;
  ASSERT_TRUE(left->NewWritableFile("/logs/notes.log", vfs::FileOptions(), &foreign).ok());
  OpenDatabase database(left, options, 1);
  ASSERT_TRUE(database.Open().ok());
  std::string value;
  ASSERT_TRUE(database.db()->Get(ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value, "3");
  std::vector<std::string> names;
  ASSERT_TRUE(left->GetChildren("/logs", &names).ok());
  EXPECT_EQ(names.size(), 2u) << "the log that is written to, and the file that is no log";
}

}  // namespace
}  // namespace ashlar
