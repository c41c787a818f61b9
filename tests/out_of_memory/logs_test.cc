// Allocation failure while a log is begun, and while a log is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "filesystem/memory_file_system.h"
#include "lsm/log_set.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/expect_ok.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

// Fails an allocation after the creation of a file. One during it may leave an empty file, which
// the next open releases.
class ArmingFileSystem final : public MemoryFileSystem {
 public:
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* file) override {
    const Status created = MemoryFileSystem::NewWritableFile(path, options, file);
    FailingNew::Arm(fails_at, FailingNew::Kind::kOnce);
    return created;
  }

  uint64_t fails_at = 0;
};

class LogsOutOfMemory : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(files_.CreateDirIfMissing("/db")); }
  std::vector<std::string> Children() {
    std::vector<std::string> names;
    EXPECT_OK(files_.GetChildren("/db", &names));
    std::sort(names.begin(), names.end());
    return names;
  }

  ArmingFileSystem files_;
};

TEST_F(LogsOutOfMemory, ALogThatWasNotBegunLeavesNoFile) {
  const std::shared_ptr<SyncedDirectory> directory = SyncedDirectory::Open(&files_, "/db").value();
  LogSet logs({.file_system = &files_, .directory = "/db", .file_options = {}});
  ASSERT_OK(logs.StartNewLog({.number = 1, .directory_handle = directory.get()}));
  uint64_t log = 2;
  bool has_failed = true;
  for (uint64_t allocation = 1; has_failed; ++allocation, ++log) {
    SCOPED_TRACE(allocation);
    const std::string record = "record " + std::to_string(allocation);
    const Slice piece(record);
    ASSERT_OK(logs.Append({&piece, 1}));
    ASSERT_OK(logs.FlushCurrent());
    logs.EndGroup();
    const std::vector<std::string> before = Children();
    files_.fails_at = allocation;
    FailingNew::Arm(0, FailingNew::Kind::kOnce);
    const Status status = CatchBadAlloc([&] {
      const FailingNew::Scope scope;
      return logs.StartNewLog({.number = log, .directory_handle = directory.get()});
    });
    has_failed = FailingNew::HasFailed();
    ASSERT_EQ(status.ok(), !has_failed) << status.ToString();
    if (has_failed) {
      EXPECT_EQ(Children(), before);
    }
    ASSERT_OK(logs.SyncDuringAppends());
  }
  EXPECT_GT(log, 4u);
  ASSERT_OK(logs.SyncAll());
}

// Fails every allocation of the reader once. The reader stops there, and reads the rest after it is
// moved back to the end of the last record.
void ReadWithoutMemory(MemoryFileSystem* files, CompressionType compression) {
  const std::string name = "/db/000007.log";
  std::unique_ptr<vfs::WritableFile> written;
  ASSERT_OK(files->NewWritableFile(name, vfs::FileOptions(), &written));
  LogWriter writer(std::move(written), name, 7);
  if (compression != kNoCompression) {
    ASSERT_OK(writer.CompressRecords(compression));
  }
  std::vector<std::string> records;
  for (const size_t bytes : {10u, 70000u, 200000u, 20u, 150000u}) {
    for (std::string& record = records.emplace_back(); record.size() < bytes;)
      record += std::to_string(record.size() * record.size()) + "x";
    ASSERT_OK(writer.AddRecord(records.back()));
  }
  writer.MarkCommitted();
  ASSERT_OK(writer.Close());
  bool has_failed = true;
  for (uint64_t allocation = 1; has_failed; ++allocation) {
    SCOPED_TRACE(allocation);
    const auto open = [&] {
      std::unique_ptr<vfs::SequentialFile> file;
      EXPECT_OK(files->NewSequentialFile(name, vfs::FileOptions(), &file));
      return file;
    };
    LogReader reader(open(), name, 7, writer.bytes());
    Slice record;
    std::string scratch;
    size_t found = 0;
    FailingNew::Arm(allocation, FailingNew::Kind::kOnce);
    const auto read = [&] {
      const FailingNew::Scope scope;
      return reader.ReadRecord(&record, &scratch);
    };
    while (true) {
      if (read()) {
        ASSERT_LT(found, records.size());
        ASSERT_EQ(record, records[found]) << found;
        ++found;
        continue;
      }
      if (reader.outcome() == LogReader::Outcome::kEnd) break;
      ASSERT_EQ(reader.outcome(), LogReader::Outcome::kIoError);
      ASSERT_TRUE(reader.status().IsMemoryLimit()) << reader.status().ToString();
      ASSERT_FALSE(read());
      ASSERT_OK(reader.ContinueAt(reader.last_good_offset(), open(), writer.bytes()));
    }
    EXPECT_EQ(found, records.size());
    has_failed = FailingNew::HasFailed();
    if (!has_failed) {
      EXPECT_GT(allocation, 3u);
    }
  }
  ASSERT_OK(files->DeleteFile(name));
}

TEST_F(LogsOutOfMemory, AReaderPassesNoRecordThatFoundNoMemory) {
  ReadWithoutMemory(&files_, kNoCompression);
}

TEST_F(LogsOutOfMemory, AReaderPassesNoCompressedRecordThatFoundNoMemory) {
  ReadWithoutMemory(&files_, kZSTD);
}

}  // namespace
}  // namespace ashlar
