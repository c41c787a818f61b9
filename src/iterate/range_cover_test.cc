// Tests RangeCover where files of a level share a user key. tests/model and
// src/table/blockbased/range_deletion_test.cc compare what iterators show by it with a model.
#include "iterate/range_cover.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "filesystem/filename.h"
#include "table/blockbased/table_test_kit.h"
#include "table/open/table_cache.h"

namespace ashlar::test {
namespace {

const KeyComparator kBytewise{BytewiseComparator()};

std::vector<FileMetaData*> Pointers(std::deque<FileMetaData>* files) {
  std::vector<FileMetaData*> pointers;
  for (FileMetaData& file : *files) pointers.push_back(&file);
  return pointers;
}

// The search continues in the next file without another stack frame.
TEST(RangeCoverTest, AKeyInAnyNumberOfFilesTakesNoStack) {
  constexpr SequenceNumber kFiles = 100'000;
  std::deque<FileMetaData> files(kFiles);
  SequenceNumber sequence = 2 * kFiles;
  for (FileMetaData& file : files) {
    file.smallest = MakeInternalKey("k", sequence--, ValueType::kValue);
    file.largest = MakeInternalKey("k", sequence--, ValueType::kValue);
    file.has_ranges = HasRanges::kNo;
  }
  const std::vector<FileMetaData*> pointers = Pointers(&files);
  RangeCover cover({.comparator = kBytewise,
                    .tables = nullptr,
                    .read_options = {},
                    .visible = kSequenceNumberMax});
  cover.AddFiles(pointers);
  ASSERT_OK(cover.Find("k"));
  EXPECT_EQ(cover.sequence(), 0u);
  EXPECT_FALSE(cover.Contains("k")) << "the answer is for one search";
}

// The files are a..k | k | k..z. Only the third one has a tombstone, which covers k.
TEST(RangeCoverTest, TombstonesOfAllFilesWithTheKeyCount) {
  constexpr const char* kKeys[3][2] = {{"a", "k"}, {"k", "k"}, {"k", "z"}};
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  OpenTables open_tables(&TestEpochs(), 0);
  {
    std::deque<FileMetaData> files(3);
    SequenceNumber sequence = 40;
    for (size_t i = 0; i < files.size(); ++i) {
      FileMetaData& file = files[i];
      file.number = i + 1;
      file.smallest = MakeInternalKey(kKeys[i][0], sequence--, ValueType::kValue);
      file.largest = MakeInternalKey(kKeys[i][1], sequence--, ValueType::kValue);
      TableSpec spec;
      if (i == 2) spec.range_deletions.push_back({.begin = "k", .end = "m", .sequence = 50});
      Entries entries{InternalOrder{kBytewise}};
      entries[file.smallest] = "v";
      entries[file.largest] = "v";
      TableWriteResult result;
      ASSERT_OK(WriteTable(&fs, TableFileName("db", file.number), spec, entries, &result));
      file.file_bytes = result.file_bytes;
    }
    TableCache tables({.file_system = &fs,
                       .epochs = &TestEpochs(),
                       .directory = "db",
                       .comparator = kBytewise,
                       .open_tables = &open_tables});
    const std::vector<FileMetaData*> pointers = Pointers(&files);
    RangeCover cover({.comparator = kBytewise,
                      .tables = &tables,
                      .read_options = {},
                      .visible = kSequenceNumberMax});
    cover.AddFiles(pointers);
    ASSERT_OK(cover.Find("b"));
    EXPECT_EQ(cover.sequence(), 0u);
    EXPECT_TRUE(cover.Contains("j"));
    ASSERT_OK(cover.Find("k"));
    EXPECT_EQ(cover.sequence(), 50u);
    EXPECT_FALSE(cover.Contains("k")) << "the answer is for one search";
    ASSERT_OK(cover.Find("l"));
    EXPECT_EQ(cover.sequence(), 50u);
    ASSERT_OK(cover.Find("m"));
    EXPECT_EQ(cover.sequence(), 0u);
  }
  SettleEpochs();
}

}  // namespace
}  // namespace ashlar::test
