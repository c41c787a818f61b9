#include "compact/run/compaction_output.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/random.h"
#include "compact/run/job_test_kit.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class CompactionOutputTest : public JobFixture {
 protected:
  static std::string Key(int i) {
    std::string digits = std::to_string(i);
    return "key" + std::string(6 - digits.size(), '0') + digits;
  }
  static std::vector<TextEntry> Entries(int from, int to) {
    Random random(7);
    std::vector<TextEntry> entries;
    for (int i = from; i < to; ++i)
      entries.push_back({Key(i), 100, ValueType::kValue, random.Bytes(90)});
    return entries;
  }
  FileMetaData* Grandparent(int from, int to, uint64_t bytes) {
    grandparents_.push_back(std::make_unique<FileMetaData>());
    FileMetaData* file = grandparents_.back().get();
    file->smallest = MakeInternalKey(Key(from), 1, ValueType::kValue);
    file->largest = MakeInternalKey(Key(to), 1, ValueType::kValue);
    file->file_bytes = bytes;
    return file;
  }
  // Writes the entries and returns the first key number of every file.
  std::vector<int> Cuts(const CompactionOutputArgs& args, const std::vector<TextEntry>& entries) {
    CompactionOutput output(args);
    for (const TextEntry& entry : entries)
      EXPECT_TRUE(output.Add(entry.InternalKey(), entry.value, true).ok());
    EXPECT_TRUE(output.Finish().ok());
    std::vector<int> cuts;
    for (const auto& file : output.TakeFiles())
      cuts.push_back(std::stoi(file->smallest_user_key().ToString().substr(3)));
    return cuts;
  }

  std::vector<std::unique_ptr<FileMetaData>> grandparents_;
};

TEST_F(CompactionOutputTest, NothingInNothingOut) {
  const TableJobArgs args = JobArgs();
  CompactionOutput output(args.output);
  EXPECT_TRUE(output.Finish().ok());
  EXPECT_TRUE(output.TakeFiles().empty());
  EXPECT_EQ(FilesOnDisk(), 0u);
}

TEST_F(CompactionOutputTest, ReportsWhatItWrote) {
  auto files = WriteTables(ParseEntries("a@9 put x, a@7 del, c@12 put z"));
  ASSERT_EQ(files.size(), 1u);
  const FileMetaData& file = *files[0];
  EXPECT_EQ(PrintEntry(file.smallest, ""), "a@9 put");
  EXPECT_EQ(PrintEntry(file.largest, ""), "c@12 put");
  EXPECT_EQ(file.smallest_sequence, 7u);
  EXPECT_EQ(file.largest_sequence, 12u);
  EXPECT_EQ(file.entries, 3u);
  EXPECT_EQ(file.deletions, 1u);
  EXPECT_EQ(file.creation_unix_seconds, 1000u);
  EXPECT_EQ(file.oldest_ancestor_unix_seconds, 1000u);
  uint64_t bytes = 0;
  ASSERT_TRUE(faults_.GetFileSize("db/000010.sst", &bytes).ok());
  EXPECT_EQ(file.file_bytes, bytes);
  EXPECT_EQ(PrintTable(files[0].get()), "a@9 put x, a@7 del, c@12 put z");
  Evict(files);
}

TEST_F(CompactionOutputTest, FilesDenseInDeletionsAreMarkedIfAsked) {
  std::vector<TextEntry> deletions;
  for (int i = 0; i < 5000; ++i) deletions.push_back({Key(i), 100, ValueType::kDeletion, ""});
  const auto marked = [&](const std::vector<TextEntry>& entries, bool asked) {
    TableJobArgs args = JobArgs();
    args.output.marks_dense_files = asked;
    CompactionOutput output(args.output);
    for (const TextEntry& entry : entries)
      EXPECT_OK(output.Add(entry.InternalKey(), entry.value, true));
    EXPECT_OK(output.Finish());
    const auto files = output.TakeFiles();
    return files.size() == 1 && files[0]->marked_for_compaction;
  };
  EXPECT_TRUE(marked(deletions, true));
  EXPECT_FALSE(marked(deletions, false));
  EXPECT_FALSE(marked(Entries(0, 5000), true));
}

TEST_F(CompactionOutputTest, EveryFileIsSyncedAndClosed) {
  const auto files = WriteTables(Entries(0, 300), 10000);
  ASSERT_GT(files.size(), 2u);
  EXPECT_EQ(faults_.CallCount(FaultOperation::kSync), files.size());
  EXPECT_EQ(faults_.CallCount(FaultOperation::kClose), files.size());
}

TEST_F(CompactionOutputTest, CutsAtTheTargetSize) {
  const auto files = WriteTables(Entries(0, 1000), 10000);
  ASSERT_GT(files.size(), 8u);
  ASSERT_LT(files.size(), 13u);
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    EXPECT_GT(files[i]->file_bytes, 10000u);
    EXPECT_LT(files[i]->file_bytes, 13000u);
    EXPECT_LT(files[i]->largest_user_key(), files[i + 1]->smallest_user_key());
  }
}

TEST_F(CompactionOutputTest, NeverCutsBetweenVersionsOfAKey) {
  std::vector<TextEntry> entries = Entries(0, 20);
  for (SequenceNumber sequence = 1; sequence < 300; ++sequence)
    entries.push_back({Key(20), sequence, ValueType::kValue, std::string(100, 'v')});
  entries.push_back({Key(21), 1, ValueType::kValue, "x"});
  const auto files = WriteTables(entries, 2500);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0]->largest_user_key().ToString(), Key(20));
  EXPECT_EQ(files[0]->entries, 319u);
  EXPECT_EQ(files[1]->entries, 1u);
}

TEST_F(CompactionOutputTest, PrefersTheEdgesOfGrandparents) {
  TableJobArgs args = JobArgs();
  args.output.target_file_bytes = 10000;  // about 90 entries
  args.output.grandparents = {Grandparent(0, 40, 1), Grandparent(50, 84, 1),
                              Grandparent(85, 300, 1)};
  // 85 is closest to the target. No edge follows it.
  const std::vector<int> cuts = Cuts(args.output, Entries(0, 300));
  ASSERT_EQ(cuts.size(), 3u);
  EXPECT_EQ(cuts[1], 85);
  EXPECT_NEAR(cuts[2], 85 + 2 * 90, 8);
}

TEST_F(CompactionOutputTest, LimitsTheGrandparentsThatOneFileOverlaps) {
  TableJobArgs args = JobArgs();
  args.output.target_file_bytes = 1000000;
  args.output.max_grandparent_overlap_bytes = 20000;
  for (int i = 0; i < 20; ++i)
    args.output.grandparents.push_back(Grandparent(i * 10, i * 10 + 8, 6000));
  const std::vector<int> cuts = Cuts(args.output, Entries(0, 200));
  // Each file overlaps three grandparents and has some 3000 bytes of its own.
  ASSERT_GT(cuts.size(), 5u);
  for (size_t i = 1; i < cuts.size(); ++i) {
    EXPECT_EQ(cuts[i] % 10, 0) << "cuts lie on edges";
    EXPECT_LE(cuts[i] - cuts[i - 1], 30);
  }
}

// Ends a table before each key that ends in "5" and checks the requests.
class BeforeFives final : public SstPartitioner {
 public:
  const char* Name() const override { return "BeforeFives"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override {
    EXPECT_LT(*request.prev_user_key, *request.current_user_key);
    EXPECT_GT(request.current_output_file_size, 0u);
    return request.current_user_key->ends_with("5") ? kRequired : kNotRequired;
  }
  bool CanDoTrivialMove(const Slice&, const Slice&) override { return true; }
};

TEST_F(CompactionOutputTest, CutsWhereThePartitionerWants) {
  TableJobArgs args = JobArgs();
  args.output.target_file_bytes = 1000000;
  args.output.new_partitioner = [] { return std::make_unique<BeforeFives>(); };
  EXPECT_EQ(Cuts(args.output, Entries(0, 40)), (std::vector<int>{0, 5, 15, 25, 35}));
  args.output.new_partitioner = [] { return std::unique_ptr<SstPartitioner>(); };
  EXPECT_EQ(Cuts(args.output, Entries(0, 40)), (std::vector<int>{0}));
}

TEST_F(CompactionOutputTest, GrandparentsBetweenTwoKeysCountToo) {
  TableJobArgs args = JobArgs();
  args.output.max_grandparent_overlap_bytes = 5000;
  for (int i = 1; i < 9; ++i)
    args.output.grandparents.push_back(Grandparent(i * 10, i * 10 + 5, 1000));
  std::vector<TextEntry> entries = Entries(0, 2);
  entries.push_back(Entries(95, 96).front());
  EXPECT_EQ(Cuts(args.output, entries), (std::vector<int>{0, 95}));
}

TEST_F(CompactionOutputTest, CutsWhereAFileHasTooManyRangeTombstones) {
  std::vector<std::string> keys;  // outlive the tombstones
  for (int i = 0; i <= 100; ++i) keys.push_back(Key(i));
  std::vector<RangeTombstone> tombstones;
  for (size_t i = 0; i < 100; i += 10) tombstones.push_back({keys[i], keys[i + 5], 50});
  const FragmentedRanges ranges = FragmentedRanges::Make(comparator_, std::move(tombstones));
  const std::vector<TextEntry> two = {{Key(12), 100, ValueType::kValue, "x"},
                                      {Key(95), 100, ValueType::kValue, "y"}};
  // Returns the first key and the number of tombstones of each file.
  const auto written = [&](const std::vector<TextEntry>& entries, uint64_t range_bytes_max) {
    TableJobArgs args = JobArgs();
    args.output.range_bytes_max = range_bytes_max;
    CompactionOutput output(args.output);
    output.WriteRanges(&ranges);
    for (const TextEntry& entry : entries)
      EXPECT_OK(output.Add(entry.InternalKey(), entry.value, true));
    EXPECT_OK(output.Finish());
    const auto files = output.TakeFiles();
    std::vector<std::pair<std::string, size_t>> found;
    for (const auto& file : files) {
      EXPECT_TRUE(found.empty() ||
                  files[found.size() - 1]->EndsBefore(comparator_, file->smallest_user_key()));
      const Result<TableRef> table = tables_.Acquire(file.get(), {});
      EXPECT_OK(table.status());
      if (table.ok())
        found.emplace_back(file->smallest_user_key().ToString(), (*table)->ranges().tombstones());
    }
    Evict(files);
    return found;
  };
  using Found = std::vector<std::pair<std::string, size_t>>;
  const Found pairs = {{Key(0), 2}, {Key(20), 2}, {Key(40), 2}, {Key(60), 2}, {Key(80), 2}};
  EXPECT_EQ(written({}, 100), pairs);
  EXPECT_EQ(written(two, 100), pairs);
  EXPECT_EQ(written({}, UINT64_MAX), (Found{{Key(0), 10}}));
  EXPECT_EQ(written(two, 1000), (Found{{Key(0), 10}}));
}

TEST_F(CompactionOutputTest, LeavesNoFileWhenAbandoned) {
  TableJobArgs args = JobArgs();
  args.output.target_file_bytes = 2000;
  {
    CompactionOutput output(args.output);
    for (const TextEntry& entry : Entries(0, 100))
      ASSERT_TRUE(output.Add(entry.InternalKey(), entry.value, true).ok());
    EXPECT_GT(FilesOnDisk(), 3u);
  }
  EXPECT_EQ(FilesOnDisk(), 0u);
}

TEST_F(CompactionOutputTest, TheDiskBeginsOnAFileBeforeItsEnd) {
  const std::vector<TextEntry> entries = Entries(0, 60'000);  // 6 MB
  TableJobArgs args = JobArgs();
  static_cast<void>(Cuts(args.output, entries));
  EXPECT_EQ(faults_.CallCount(FaultOperation::kRangeSync), 1u);
  args.output.bytes_per_sync = 1'000'000;
  static_cast<void>(Cuts(args.output, entries));
  EXPECT_GE(faults_.CallCount(FaultOperation::kRangeSync), 1u + 4u);

  // Range syncs are advice, so nothing is lost if they fail.
  FaultRule rule;
  rule.operations = FaultOperation::kRangeSync;
  rule.sticky = true;
  faults_.AddRule(rule);
  CompactionOutput output(args.output);
  for (const TextEntry& entry : entries)
    ASSERT_TRUE(output.Add(entry.InternalKey(), entry.value, true).ok());
  EXPECT_TRUE(output.Finish().ok());
  EXPECT_GE(faults_.FaultsInjected(), 4u);
}

TEST_F(CompactionOutputTest, AFailedCallIsFinalAndLeavesNoFile) {
  TableJobArgs args = JobArgs();
  args.output.target_file_bytes = 3000;
  args.output.bytes_per_sync = 1000;
  const std::vector<TextEntry> entries = Entries(0, 100);
  const FaultOperation writes = FaultOperation::kOpenForWriting | FaultOperation::kAppend |
                                FaultOperation::kFlush | FaultOperation::kSync |
                                FaultOperation::kClose;
  static_cast<void>(Cuts(args.output, entries));
  const uint64_t calls = faults_.CallCount(writes);
  const size_t files_before = FilesOnDisk();
  uint64_t failures = 0;
  for (uint64_t call = 1; call <= calls; ++call) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    faults_.ResetCounts();
    faults_.ClearRules();
    FaultRule rule;
    rule.operations = writes;
    rule.nth = call;
    faults_.AddRule(rule);
    {
      CompactionOutput output(args.output);
      Status status;
      for (const TextEntry& entry : entries) {
        const Status added = output.Add(entry.InternalKey(), entry.value, true);
        EXPECT_TRUE(status.ok() || added == status) << "the first error stays";
        status = added;
      }
      const Status finished = output.Finish();
      EXPECT_EQ(finished.ok(), faults_.FaultsInjected() == 0);
      failures += faults_.FaultsInjected();
      EXPECT_TRUE(finished.ok() || finished.IsIOError());
    }
    EXPECT_EQ(FilesOnDisk(), files_before);
  }
  EXPECT_EQ(failures, calls);
  EXPECT_GT(failures, 10u);
}

}  // namespace
}  // namespace ashlar
