// DBOptions::recycle_log_file_num: logs that one store has overwritten are read by the other, in
// the state that a crash leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/file_helpers.h"
#include "tests/interchange/ldb_fixture.h"
#include "wal/log_format.h"

namespace ashlar {
namespace {

class RecycledInterchangeTest : public LdbFixture {
 protected:
  static std::string NewestLog(const std::string& directory) {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".log")
        newest = std::max(newest, entry.path().generic_string());
    }
    return newest;
  }
  static bool IsNumbered(const std::string& log) {
    char header[log_format::kHeaderBytes] = {};
    std::ifstream(log, std::ios::binary).read(header, sizeof(header));
    return log_format::IsRecyclable(static_cast<uint8_t>(header[sizeof(header) - 1]));
  }
  // On Windows, an open database's LOCK cannot be read, and a reader of a log must share writes.
  void CopyOpenDatabase(const std::string& to) const {
    const std::shared_ptr<vfs::FileSystem> system = vfs::FileSystem::Default();
    ASSERT_OK(system->CreateDir(to));
    std::vector<std::string> names;
    ASSERT_OK(system->GetChildren(path_, &names));
    for (const std::string& name : names) {
      if (name == "LOCK") continue;
      const Result<std::string> bytes =
          ReadFileToString(system.get(), StrCat(path_, "/", name), size_t{64} << 20);
      ASSERT_OK(bytes.status());
      ASSERT_OK(
          WriteStringToFile(system.get(), *bytes, StrCat(to, "/", name), Durability::kBuffered));
    }
  }
  static size_t Count(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }
};

TEST_F(RecycledInterchangeTest, LdbReadsOurs) {
  options_.recycle_log_file_num = 3;
  Open();
  int writes = 0;
  const auto put = [&](int times) {
    for (int i = 0; i < times; ++i, ++writes) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", 1000 + writes % 500),
                         StrCat(std::string(static_cast<size_t>(writes * 7 % 300), 'v'), writes)));
    }
  };
  for (int i = 0; i < 6; ++i) {
    put(300);
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  put(40);
  // As after kill -9.
  const std::string crashed = scratch_.File("crashed");
  ASSERT_NO_FATAL_FAILURE(CopyOpenDatabase(crashed));
  const std::string log = NewestLog(crashed);
  ASSERT_TRUE(IsNumbered(log));
  std::unique_ptr<WalFile> current;
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  ASSERT_GT(std::filesystem::file_size(log), current->SizeFileBytes()) << "of an older log";
  const std::string expected = Scan();
  Close();
  const std::string dump = RunCommand(StrCat("ldb dump_wal --walfile=", log, " --header"));
  EXPECT_EQ(Count(dump, "PUT(0)"), 40u) << dump;
  EXPECT_EQ(RunCommand(StrCat("ldb --db=", crashed, " scan")), expected);
  EXPECT_EQ(Ldb("scan"), expected);
}

TEST_F(RecycledInterchangeTest, WeReadThoseOfDbBench) {
  constexpr int kKeys = 20000;
  // db_bench has no flag for the option. RocksDB 7.8 recycles only in this recovery mode.
  options_.recycle_log_file_num = 4;
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  options_.write_buffer_size = 200000;
  Open();
  Close();
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().filename().string().starts_with("OPTIONS-"))
      file = std::max(file, entry.path().generic_string());
  }
  const std::string made = scratch_.File("made");
  RunCommand(StrCat("db_bench --db=", made, " --options_file=", file,
                    " --benchmarks=fillseq --value_size=100 --num=", kKeys));
  ASSERT_TRUE(IsNumbered(NewestLog(made)));
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    const std::string copy = scratch_.File(StrCat("copy", static_cast<int>(mode)));
    std::filesystem::copy(made, copy, std::filesystem::copy_options::recursive);
    Options options;
    options.wal_recovery_mode = mode;
    ASSERT_OK(DB::Open(options, copy, &db_));
    int keys = 0;
    {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
      EXPECT_OK(it->status());
    }
    EXPECT_EQ(keys, kKeys);
    Close();
    EXPECT_FALSE(std::filesystem::exists(copy + "/lost")) << "nothing was damaged";
  }
}

}  // namespace
}  // namespace ashlar
