// Logs exchanged with RocksDB 7.8's tools, in both directions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/support/tool_runner.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

constexpr size_t kBatchHeaderBytes = 12;

class LogInterchangeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(HaveRocksDbTools()); }

  // Returns the path of the only log in the database directory.
  std::string FindLog() const {
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      if (entry.path().extension() == ".log") return entry.path().string();
    }
    return "";
  }

  std::vector<std::string> ReadAll(const std::string& path, LogReader::Outcome* outcome) {
    const std::shared_ptr<vfs::FileSystem> file_system = vfs::FileSystem::Default();
    uint64_t bytes = 0;
    std::unique_ptr<vfs::SequentialFile> file;
    EXPECT_TRUE(file_system->GetFileSize(path, &bytes).ok());
    EXPECT_TRUE(file_system->NewSequentialFile(path, vfs::FileOptions{}, &file).ok());
    LogReader reader(std::move(file), path, 4, bytes);
    std::vector<std::string> records;
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch)) records.push_back(record.ToString());
    *outcome = reader.outcome();
    return records;
  }

  const ScratchDirectory scratch_;
};

std::string PutBatch(uint64_t sequence, const std::string& key, const std::string& value) {
  std::string batch;
  PutFixed64(&batch, sequence);
  PutFixed32(&batch, 1);
  batch.push_back('\x01');
  PutLengthPrefixedSlice(&batch, key);
  PutLengthPrefixedSlice(&batch, value);
  return batch;
}

size_t CountLines(const std::string& text, const std::string& containing) {
  size_t lines = 0;
  for (size_t at = text.find(containing); at != std::string::npos;
       at = text.find(containing, at + 1))
    ++lines;
  return lines;
}

TEST_F(LogInterchangeTest, TheLogOfLdbIsRead) {
  const ToolRun put =
      RunTool(StrCat("ldb --db=", scratch_.path(), " --create_if_missing put key value"));
  ASSERT_EQ(put.exit_code, 0) << put.output;
  LogReader::Outcome outcome;
  EXPECT_EQ(ReadAll(FindLog(), &outcome), std::vector<std::string>{PutBatch(1, "key", "value")});
  EXPECT_EQ(outcome, LogReader::Outcome::kEnd);
}

TEST_F(LogInterchangeTest, TheLogsOfDbBenchAreReadCompressedToo) {
  for (const char* codec : {"none", "zstd"}) {
    for (const int value_bytes : {0, 100, 100000}) {
      const ToolRun fill = RunTool(StrCat(
          "db_bench --db=", scratch_.path(),
          " --benchmarks=fillseq --num=100 --write_buffer_size=100000000 --wal_compression=", codec,
          " --value_size=", value_bytes));
      ASSERT_EQ(fill.exit_code, 0) << fill.output;
      LogReader::Outcome outcome;
      const std::vector<std::string> records = ReadAll(FindLog(), &outcome);
      ASSERT_EQ(records.size(), 100u) << codec << " " << value_bytes;
      EXPECT_EQ(outcome, LogReader::Outcome::kEnd);
      for (size_t i = 0; i < records.size(); ++i) {
        ASSERT_GT(records[i].size(), kBatchHeaderBytes + static_cast<size_t>(value_bytes));
        EXPECT_EQ(DecodeFixed64(records[i].data()), i + 1);
      }
    }
  }
}

class OurLogTest : public LogInterchangeTest,
                   public testing::WithParamInterface<CompressionType> {};

TEST_P(OurLogTest, LdbReadsIt) {
  const std::string path = scratch_.File("000004.log");
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(vfs::FileSystem::Default()->NewWritableFile(path, vfs::FileOptions{}, &file).ok());
  LogWriter writer(std::move(file), path, 4);
  if (GetParam() != kNoCompression) {
    ASSERT_TRUE(writer.CompressRecords(GetParam()).ok());
  }
  uint64_t sequence = 0;
  Random random(1);
  for (const size_t value_bytes :
       std::initializer_list<size_t>{0, 1, 1000, 32768 - 60, 32768, 100000, 300000, 3}) {
    ++sequence;
    const std::string batch =
        PutBatch(sequence, StrCat("key", sequence), random.Bytes(value_bytes));
    const std::vector<Slice> pieces{
        Slice(batch.data(), kBatchHeaderBytes),
        Slice(batch.data() + kBatchHeaderBytes, batch.size() - kBatchHeaderBytes)};
    ASSERT_TRUE(writer.AddRecord(std::span<const Slice>(pieces)).ok());
  }
  ASSERT_TRUE(writer.Close().ok());
  const ToolRun dump = RunTool(StrCat("ldb dump_wal --walfile=", path, " --header"));
  ASSERT_EQ(dump.exit_code, 0) << dump.output;
  EXPECT_EQ(CountLines(dump.output, "PUT(0)"), sequence) << dump.output;
  for (uint64_t i = 1; i <= sequence; ++i) {
    EXPECT_EQ(
        CountLines(dump.output,
                   Slice(StrCat("PUT(0) : 0x", Slice(StrCat("key", i)).ToString(true))).ToString()),
        1u)
        << dump.output;
  }
  EXPECT_EQ(CountLines(dump.output, "rruption"), 0u) << dump.output;
}

INSTANTIATE_TEST_SUITE_P(Codecs, OurLogTest, testing::Values(kNoCompression, kZSTD),
                         [](const testing::TestParamInfo<CompressionType>& codec) -> std::string {
                           return codec.param == kNoCompression ? "None" : "Zstd";
                         });

}  // namespace
}  // namespace ashlar
