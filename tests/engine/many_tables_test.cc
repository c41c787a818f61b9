// A database with more tables than the process may have open files.
#include <sys/resource.h>

#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Lowers the process's limit of open files while it lives.
class FewerOpenFiles {
 public:
  explicit FewerOpenFiles(rlim_t files) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lower{.rlim_cur = files, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  ~FewerOpenFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewerOpenFiles(const FewerOpenFiles&) = delete;
  FewerOpenFiles& operator=(const FewerOpenFiles&) = delete;

 private:
  rlimit before_{};
};

using ManyTablesTest = DatabaseFixture;

TEST_F(ManyTablesTest, AllOpenMeansAsManyAsTheProcessMayOpen) {
  const FewerOpenFiles fewer(100);
  options_.max_open_files = -1;
  options_.target_file_size_base = 1000;
  options_.disable_auto_compactions = true;
  Open();
  constexpr int kEntries = 5000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kEntries; ++i) Put("key" + std::to_string(10000 + i), std::string(90, 'v'));
    Flush();
  }
  CompactAll();
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level6", &tables));
  EXPECT_GT(std::stoi(tables), 300);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kEntries; ++i) ASSERT_EQ(Get("key" + std::to_string(10000 + i)).size(), 90u) << i;
    Open();
  }
  std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
  int entries = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++entries;
  EXPECT_OK(iterator->status());
  EXPECT_EQ(entries, kEntries);
}

}  // namespace
}  // namespace ashlar
