// Tests complete flush and compaction jobs on real tables in memory: against a model, with injected
// errors, interrupted and split.

#include "compact/run/compaction_job.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/random.h"
#include "compact/run/compaction_ranges.h"
#include "compact/run/flush_job.h"
#include "compact/run/job_test_kit.h"
#include "manifest/level_files.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

using OwnedFiles = std::vector<std::unique_ptr<FileMetaData>>;

std::vector<FileMetaData*> Borrow(const OwnedFiles& files) {
  std::vector<FileMetaData*> borrowed;
  for (const auto& file : files) borrowed.push_back(file.get());
  return borrowed;
}

class JobTest : public JobFixture {
 protected:
  Status Flush(const std::string& text, uint64_t expected, TableJobResult* result,
               TableJobArgs job) {
    FlushJobArgs args;
    args.job = std::move(job);
    args.memtables.push_back(std::make_unique<EntryCursor>(comparator_, ParseEntries(text)));
    args.expected_entries = expected;
    return RunFlush(std::move(args), result);
  }
};

TEST_F(JobTest, AFlushWritesOneTable) {
  TableJobResult result;
  FlushJobArgs args;
  args.job = JobArgs();
  args.memtables.push_back(
      std::make_unique<EntryCursor>(comparator_, ParseEntries("a@19 put 5, c@20 del")));
  args.memtables.push_back(std::make_unique<EntryCursor>(
      comparator_, ParseEntries("a@9 put x, a@7 put y, b@8 single, b@4 put w, c@12 put z")));
  args.expected_entries = 7;
  args.job.snapshots = {8};
  ASSERT_TRUE(RunFlush(std::move(args), &result).ok());
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(PrintTable(result.files[0].get()), "a@19 put 5, a@7 put y, c@20 del");
  EXPECT_EQ(result.statistics.entries.entries_in, 7u);
  EXPECT_EQ(result.statistics.output_files, 1u);
  EXPECT_EQ(result.statistics.bytes_written, result.files[0]->file_bytes);
  EXPECT_NE(result.files[0]->reader.load(), nullptr) << "verified by opening it";
  VersionEdit edit;
  Evict(result.files);
  result.AddFilesTo(0, &edit);
  EXPECT_EQ(edit.new_files().size(), 1u);
}

// The count is stored in the table's properties, so that later processes know it.
TEST_F(JobTest, VersionsForSnapshotsAreCountedInTheTable) {
  TableJobArgs job = JobArgs();
  job.snapshots = {8, 15};
  TableJobResult result;
  ASSERT_OK(Flush("a@19 put 1, a@9 put 2, a@7 put 3, b@4 put 4", 4, &result, job));
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(result.files[0]->snapshot_versions, 2u);
  FileMetaData later;
  later.number = result.files[0]->number;
  later.file_bytes = result.files[0]->file_bytes;
  later.smallest = result.files[0]->smallest;
  later.largest = result.files[0]->largest;
  EXPECT_EQ(PrintTable(&later), "a@19 put 1, a@9 put 2, a@7 put 3, b@4 put 4");
  EXPECT_EQ(later.snapshot_versions, 2u);
  tables_.Evict(&later);
  Evict(result.files);
  result.Clear();

  ASSERT_OK(Flush("a@19 put 1, a@9 put 2, b@4 put 4", 3, &result, JobArgs()));
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(result.files[0]->snapshot_versions, 0u);
  Evict(result.files);
}

TEST_F(JobTest, AFlushOfNothingThatCountsWritesNoTable) {
  TableJobResult result;
  ASSERT_TRUE(Flush("b@8 single, b@4 put w", 2, &result, JobArgs()).ok());
  EXPECT_TRUE(result.files.empty());
  EXPECT_EQ(FilesOnDisk(), 0u);
}

TEST_F(JobTest, AFlushThatMissesEntriesFails) {
  TableJobResult result;
  EXPECT_TRUE(Flush("b@8 put x", 2, &result, JobArgs()).IsCorruption());
  EXPECT_TRUE(result.files.empty());
  EXPECT_EQ(FilesOnDisk(), 0u);
  TableJobArgs unchecked = JobArgs();
  unchecked.check_entry_counts = false;
  ASSERT_TRUE(Flush("b@8 put x", 2, &result, unchecked).ok());
  Evict(result.files);
}

TEST_F(JobTest, VerificationReadsTheBlocksBack) {
  TableJobArgs args = JobArgs();
  args.verification = OutputVerification::kBlocks;
  std::string text;
  for (int i = 100; i < 400; ++i)
    text += (text.empty() ? "k" : ", k") + std::to_string(i) + "@5 put v" + std::to_string(i);
  FaultRule rule;
  rule.operations = FaultOperation::kRead;
  rule.sticky = true;
  rule.nth = 6;  // after footer, index and properties
  rule.effect = FaultEffect::kBitFlip;
  faults_.AddRule(rule);
  TableJobResult result;
  EXPECT_TRUE(Flush(text, 300, &result, args).IsCorruption());
  EXPECT_EQ(FilesOnDisk(), 0u);
  faults_.ClearRules();
  ASSERT_TRUE(Flush(text, 300, &result, args).ok());
  Evict(result.files);
}

// --- compactions ---

struct History {
  std::vector<TextEntry> entries;  // in the order of writing
  SequenceNumber last = 0;
};
History RandomHistory(Random* random, uint64_t writes, uint64_t keys) {
  History history;
  std::map<std::string, bool> has_value;  // of the keys that keep the contract of single deletions
  for (uint64_t i = 0; i < writes; ++i) {
    const uint64_t k = random->Uniform(keys);
    TextEntry entry{"key" + std::to_string(1000 + k), ++history.last, ValueType::kValue,
                    "v" + std::to_string(i) + std::string(random->Uniform(30), '.')};
    if (k % 4 == 0) {
      bool& exists = has_value[entry.user_key];
      if (exists) entry = {entry.user_key, entry.sequence, ValueType::kSingleDeletion, ""};
      exists = !exists;
    } else if (random->OneIn(5)) {
      entry = {entry.user_key, entry.sequence, ValueType::kDeletion, ""};
    } else if (random->OneIn(4)) {
      entry.type = ValueType::kMerge;
    }
    history.entries.push_back(std::move(entry));
  }
  return history;
}

// The value of every key at the sequence `point`. The entries may be in any order.
std::map<std::string, std::string> StateAt(std::vector<TextEntry> entries, SequenceNumber point) {
  std::sort(entries.begin(), entries.end(), InternalLess);
  std::map<std::string, std::string> state;
  std::string done;
  std::map<std::string, std::string> operands;
  for (const TextEntry& entry : entries) {
    if (entry.sequence > point || entry.user_key == done) continue;
    if (entry.type == ValueType::kMerge || entry.type == ValueType::kValue) {
      std::string& value = state[entry.user_key];
      value = entry.value + (value.empty() ? "" : "+") + value;
    }
    if (entry.type != ValueType::kMerge) done = entry.user_key;
  }
  return state;
}

// A tree of real tables, with newer entries in overlapping files of level 0, older entries on level
// 1 and the oldest on level 2.
class TreeTest : public JobTest {
 protected:
  void Build(const History& history, Random* random, uint64_t file_bytes) {
    const auto at = [&](uint64_t percent) {
      return history.entries.begin() +
             static_cast<std::ptrdiff_t>(history.entries.size() * percent / 100);
    };
    levels_.resize(3);
    levels_[2] = random->OneIn(3) ? OwnedFiles() : WriteTables({at(0), at(20)}, file_bytes);
    levels_[1] = WriteTables({levels_[2].empty() ? at(0) : at(20), at(60)}, file_bytes);
    for (uint64_t percent = 60; percent < 100; percent += 10) {
      OwnedFiles files = WriteTables({at(percent), at(percent + 10)});
      levels_[0].insert(levels_[0].begin(), std::move(files[0]));
    }
    for (const auto& level : levels_) {
      for (const auto& file : level) all_.push_back(file.get());
    }
  }

  CompactionPlan Plan(uint64_t file_bytes, uint32_t subcompactions) const {
    CompactionPlan plan;
    plan.inputs.push_back({0, Borrow(levels_[0])});
    plan.inputs.push_back({1, Borrow(levels_[1])});
    plan.output_level = 1;
    plan.smallest = "key";
    plan.largest = "key9";
    if (!levels_[2].empty()) plan.older.push_back(Borrow(levels_[2]));
    plan.grandparents = Borrow(levels_[2]);
    plan.bottommost = plan.older.empty();
    plan.max_output_file_bytes = file_bytes;
    plan.max_grandparent_overlap_bytes = UINT64_MAX;
    plan.max_subcompactions = subcompactions;
    return plan;
  }

  // Adds a table that is older than those of level 0.
  void AddToLevel0(const std::string& text) {
    levels_.resize(1);
    OwnedFiles files = WriteTables(ParseEntries(text));
    ASSERT_EQ(files.size(), 1u);
    levels_[0].push_back(std::move(files[0]));
  }
  void MergeNewestOfLevel0(size_t count, TableJobResult* result) {
    const std::vector<FileMetaData*> files = Borrow(levels_[0]);
    const auto older = files.begin() + static_cast<std::ptrdiff_t>(count);
    CompactionPlan plan;
    plan.inputs.push_back({0, {files.begin(), older}});
    for (auto file = older; file != files.end(); ++file) plan.older.push_back({*file});
    plan.smallest = "k";
    plan.largest = "z";
    plan.max_output_file_bytes = UINT64_MAX;
    CompactionJobArgs args;
    args.plan = &plan;
    args.job = JobArgs();
    ASSERT_OK(RunCompaction(args, result));
  }

  std::vector<TextEntry> ReadAll(const OwnedFiles& files) {
    std::vector<TextEntry> all;
    for (const auto& file : files) {
      std::vector<TextEntry> entries = ReadTable(file.get());
      all.insert(all.end(), entries.begin(), entries.end());
    }
    return all;
  }

  void TearDown() override {
    for (const auto& level : levels_) Evict(level);
  }

  std::vector<OwnedFiles> levels_;
  std::vector<FileMetaData*> all_;
  const JoinOperator join_{/*partial=*/true};
  const JoinOperator join_fully_{/*partial=*/false};
};

TEST_F(TreeTest, EverySnapshotReadsTheSameAfterwards) {
  uint64_t split = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const History history = RandomHistory(&random, 1500, random.Between(20, 900));
    const uint64_t file_bytes = random.Between(1500, 12000);
    Build(history, &random, file_bytes);
    CompactionJobArgs args;
    const CompactionPlan plan = Plan(file_bytes, static_cast<uint32_t>(random.Between(1, 4)));
    args.plan = &plan;
    args.job = JobArgs();
    args.job.merge_operator = random.OneIn(2) ? &join_ : &join_fully_;
    std::set<SequenceNumber> snapshots;
    for (uint64_t i = random.Uniform(6); i > 0; --i)
      snapshots.insert(random.Between(1, history.last));
    args.job.snapshots.assign(snapshots.begin(), snapshots.end());

    TableJobResult result;
    const Status status = RunCompaction(args, &result);
    ASSERT_TRUE(status.ok()) << status.ToString();
    split += result.statistics.subcompactions - 1;
    for (size_t i = 1; i < result.files.size(); ++i)
      ASSERT_LT(result.files[i - 1]->largest_user_key(), result.files[i]->smallest_user_key());
    std::vector<TextEntry> after = ReadAll(result.files);
    EXPECT_EQ(after.size(), result.statistics.entries.entries_out);
    EXPECT_LT(after.size(), history.entries.size());
    const std::vector<TextEntry> below = ReadAll(levels_[2]);
    after.insert(after.end(), below.begin(), below.end());
    snapshots.insert(history.last);
    for (const SequenceNumber point : snapshots)
      ASSERT_EQ(StateAt(after, point), StateAt(history.entries, point)) << "at " << point;

    Evict(result.files);
    for (const auto& level : levels_) Evict(level);
    levels_.clear();
  }
  EXPECT_GT(split, 10u) << "subcompactions took part";
}

TEST_F(TreeTest, SequencesBecomeZeroOnTheLastLevelOnly) {
  for (const bool last : {true, false}) {
    levels_.resize(3);
    levels_[0] = WriteTables(ParseEntries("a@19 put 5, c@20 del, d@18 put 6"));
    levels_[1] = WriteTables(ParseEntries("b@9 put x, c@7 put y"));
    if (!last) levels_[2] = WriteTables(ParseEntries("a@1 put z, z@2 put z"));
    const CompactionPlan plan = Plan(4000, 1);
    CompactionJobArgs args;
    args.plan = &plan;
    args.job = JobArgs();
    args.job.snapshots = {18};
    TableJobResult result;
    ASSERT_TRUE(RunCompaction(args, &result).ok());
    ASSERT_EQ(result.files.size(), 1u);
    EXPECT_EQ(PrintTable(result.files[0].get()),
              last ? "a@19 put 5, b@0 put x, c@20 del, c@0 put y, d@0 put 6"
                   : "a@19 put 5, b@9 put x, c@20 del, c@7 put y, d@18 put 6");
    Evict(result.files);
    for (const auto& level : levels_) Evict(level);
    levels_.clear();
  }
}

// The older file has x@4, which was ingested while k@3 was in a memtable and merged with k@1 after
// the flush of k@3. The only entry that is left has a smaller sequence than that file.
TEST_F(TreeTest, AMergeWithinLevel0KeepsItsPlaceThere) {
  for (const char* const text : {"z@6 del", "k@3 put new, z@5 put 1", "k@1 put old, x@4 put 1"})
    AddToLevel0(text);
  TableJobResult result;
  MergeNewestOfLevel0(2, &result);
  ASSERT_EQ(result.files.size(), 1u);
  const FileMetaData* const merged = result.files[0].get();
  EXPECT_EQ(PrintTable(result.files[0].get()), "k@3 put new");
  EXPECT_EQ(merged->smallest_sequence, 3u);
  EXPECT_EQ(merged->largest_sequence, 6u);
  EXPECT_TRUE(LevelFiles::NewerFirst(merged, levels_[0][2].get()));
  Evict(result.files);
}

// Otherwise the outputs of two such merges would begin with 0, which RocksDB 7.8 refuses.
TEST_F(TreeTest, AMergeWithinLevel0OfTablesWithoutSequencesHasThoseOfItsEntries) {
  for (const char* const text : {"k@9 put new", "k@7 put old, z@8 put 1"}) AddToLevel0(text);
  for (const auto& file : levels_[0]) file->smallest_sequence = file->largest_sequence = 0;
  TableJobResult result;
  MergeNewestOfLevel0(2, &result);
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(PrintTable(result.files[0].get()), "k@9 put new, z@8 put 1");
  EXPECT_EQ(result.files[0]->smallest_sequence, 8u);
  EXPECT_EQ(result.files[0]->largest_sequence, 9u);
  Evict(result.files);
}

TEST_F(TreeTest, AKeyWhereRangesMeetIsReadOnce) {
  // The files have no anchors inside, so the only place to split is k, which is the last key of one
  // file and the first of the other.
  levels_.resize(3);
  OwnedFiles newer = WriteTables(ParseEntries("k@9 put 3, z@8 put 4"));
  OwnedFiles older = WriteTables(ParseEntries("a@5 put 1, k@6 put 2"));
  levels_[0].push_back(std::move(newer[0]));
  levels_[0].push_back(std::move(older[0]));
  CompactionPlan plan = Plan(1, 2);
  plan.inputs.resize(1);
  plan.smallest = "a";
  plan.largest = "z";
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  args.job.snapshots = {7};
  TableJobResult result;
  ASSERT_TRUE(RunCompaction(args, &result).ok());
  EXPECT_EQ(result.statistics.subcompactions, 2u);
  std::string text;
  for (const auto& file : result.files) text += PrintTable(file.get()) + "; ";
  EXPECT_EQ(text, "a@0 put 1; k@9 put 3, k@0 put 2; z@8 put 4; ");
  Evict(result.files);
}

// Each subcompaction runs on a thread of its own.
TEST_F(TreeTest, WithoutMemoryTheJobFailsAndLeavesNoFile) {
  Random random(5);
  const History history = RandomHistory(&random, 5000, 3000);
  Build(history, &random, 8000);
  const CompactionPlan plan = Plan(8000, 4);
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  const size_t files_before = FilesOnDisk();
  for (const FaultOperation at : {FaultOperation::kOpenForWriting, FaultOperation::kAppend,
                                  FaultOperation::kClose, FaultOperation::kRead}) {
    SCOPED_TRACE(static_cast<uint32_t>(at));
    for (const uint64_t nth : {uint64_t{1}, uint64_t{5}}) {
      FaultRule rule;
      rule.operations = at;
      rule.nth = nth;
      rule.sticky = true;
      rule.effect = FaultEffect::kThrowBadAlloc;
      faults_.AddRule(rule);
      TableJobResult result;
      const Status status = RunCompaction(args, &result);
      EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
      EXPECT_TRUE(result.files.empty());
      faults_.ClearRules();
      EXPECT_EQ(FilesOnDisk(), files_before);
    }
  }
  TableJobResult result;
  EXPECT_TRUE(RunCompaction(args, &result).ok());
  Evict(result.files);
}

TEST_F(TreeTest, SplitsIntoEvenRanges) {
  Random random(5);
  const History history = RandomHistory(&random, 5000, 3000);
  Build(history, &random, 8000);
  const CompactionPlan plan = Plan(8000, 4);
  const auto cuts = SplitRanges(plan, 4, comparator_, &tables_);
  ASSERT_TRUE(cuts.ok());
  ASSERT_EQ(cuts->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const auto k = static_cast<uint64_t>(std::stoi((*cuts)[i].substr(3)) - 1000);
    EXPECT_NEAR(static_cast<double>(k), 750.0 * static_cast<double>(i + 1), 250)
        << "keys are spread evenly, so ranges are about a quarter each";
  }
}

TEST_F(TreeTest, TheEditTakesInputsOutAndOutputsIn) {
  Random random(5);
  Build(RandomHistory(&random, 300, 50), &random, 4000);
  const CompactionPlan plan = Plan(4000, 1);
  TableJobResult result;
  ASSERT_TRUE(RunCompaction({.plan = &plan,
                             .job =
                                 [&] {
                                   TableJobArgs job = JobArgs();
                                   job.merge_operator = &join_;
                                   return job;
                                 }()},
                            &result)
                  .ok());
  const size_t outputs = result.files.size();
  Evict(result.files);
  VersionEdit edit = MakeEdit(plan);
  result.AddFilesTo(plan.output_level, &edit);
  EXPECT_EQ(edit.deleted_files().size(), plan.InputFiles());
  EXPECT_EQ(edit.new_files().size(), outputs);
  EXPECT_EQ(edit.new_files().front().level, 1u);
  EXPECT_EQ(result.statistics.bytes_read, plan.InputBytes());
}

TEST_F(TreeTest, CallsOnFilesAreTimedIfTheyAreToBe) {
  Random random(5);
  Build(RandomHistory(&random, 5000, 3000), &random, 8000);
  const CompactionPlan plan = Plan(8000, 2);
  const auto times = [&](bool times_files) {
    CompactionJobArgs args;
    args.plan = &plan;
    args.job = JobArgs();
    args.job.merge_operator = &join_;
    args.job.output.times_files = times_files;
    TableJobResult result;
    EXPECT_TRUE(RunCompaction(args, &result).ok());
    EXPECT_EQ(result.statistics.subcompactions, 2u);
    Evict(result.files);
    return result.statistics.file_times;
  };
  EXPECT_GT(times(true).write_nanos, 0u);
  const FileTimes unmeasured = times(false);
  EXPECT_EQ(unmeasured.write_nanos, 0u);
  EXPECT_EQ(unmeasured.range_sync_nanos, 0u);
  EXPECT_EQ(unmeasured.sync_nanos, 0u);
}

TEST_F(TreeTest, AnErrorAnywhereLeavesNothingBehind) {
  Random random(11);
  const History history = RandomHistory(&random, 400, 100);
  Build(history, &random, 3000);
  const CompactionPlan plan = Plan(3000, 2);
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  args.job.merge_operator = &join_;
  args.job.verification = OutputVerification::kBlocks;
  const size_t files_before = FilesOnDisk();

  const FaultOperation all = FaultOperation::kOpenForReading | FaultOperation::kRead |
                             FaultOperation::kOpenForWriting | FaultOperation::kAppend |
                             FaultOperation::kFlush | FaultOperation::kSync |
                             FaultOperation::kClose;
  tables_.Close();
  faults_.ResetCounts();
  TableJobResult undisturbed;
  ASSERT_TRUE(RunCompaction(args, &undisturbed).ok());
  const uint64_t calls = faults_.CallCount(all);
  DiscardTableJob(args.job, &undisturbed);
  uint64_t failed = 0;
  for (uint64_t call = 1; call <= calls; ++call) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    for (const FaultEffect effect :
         {FaultEffect::kFailBefore, FaultEffect::kBitFlip, FaultEffect::kShortRead}) {
      tables_.Close();
      faults_.ClearRules();
      faults_.ResetCounts();
      FaultRule rule;
      rule.operations = effect == FaultEffect::kFailBefore ? all : FaultOperation::kRead;
      rule.nth = call;
      rule.effect = effect;
      rule.seed = call;
      faults_.AddRule(rule);
      TableJobResult result;
      const Status status = RunCompaction(args, &result);
      faults_.ClearRules();
      if (status.ok()) {
        // A flipped bit may be in bytes that the job does not need. Its output must be correct
        // nevertheless.
        std::vector<TextEntry> after = ReadAll(result.files);
        const std::vector<TextEntry> below = ReadAll(levels_[2]);
        after.insert(after.end(), below.begin(), below.end());
        ASSERT_EQ(StateAt(after, history.last), StateAt(history.entries, history.last));
        DiscardTableJob(args.job, &result);
      } else {
        ++failed;
        EXPECT_TRUE(status.IsIOError() || status.IsCorruption() || status.IsNotSupported())
            << status.ToString();
      }
      EXPECT_TRUE(result.files.empty());
      EXPECT_EQ(FilesOnDisk(), files_before);
    }
  }
  EXPECT_GT(failed, 100u);
}

TEST_F(TreeTest, StopsEarly) {
  Random random(5);
  Build(RandomHistory(&random, 300, 50), &random, 4000);
  const size_t files_before = FilesOnDisk();
  const CompactionPlan plan = Plan(4000, 2);
  const std::atomic<bool> yes{true};
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  args.job.merge_operator = &join_;
  args.job.stop.canceled = &yes;
  TableJobResult result;
  const Status canceled = RunCompaction(args, &result);
  EXPECT_TRUE(canceled.IsIncomplete());
  EXPECT_EQ(canceled.subcode(), Status::kManualCompactionPaused);
  args.job.stop.aborted = &yes;
  EXPECT_TRUE(RunCompaction(args, &result).IsCompactionAborted());
  args.job.stop.shutting_down = &yes;
  EXPECT_TRUE(RunCompaction(args, &result).IsShutdownInProgress());
  EXPECT_EQ(FilesOnDisk(), files_before);
}

TEST_F(TreeTest, TheModeOfTheLimiterDecidesWhetherInputsOrOutputsWait) {
  Random random(5);
  Build(RandomHistory(&random, 3000, 500), &random, 8000);
  const CompactionPlan plan = Plan(8000, 1);
  uint64_t written = 0;
  const auto limited_bytes = [&](RateLimiter::Mode mode) {
    GenericRateLimiter limiter({.bytes_per_second = 1'000'000,
                                .refill_period_us = 1000,
                                .fairness = 10,
                                .mode = mode,
                                .clock = std::make_shared<ManualClock>(0)});
    CompactionJobArgs args;
    args.plan = &plan;
    args.job = JobArgs();
    args.job.merge_operator = &join_;
    args.job.input_reads.limit.limiter = &limiter;
    args.job.output.table.rate_limiter = &limiter;
    TableJobResult result;
    EXPECT_TRUE(RunCompaction(args, &result).ok());
    written = result.statistics.bytes_written;
    Evict(result.files);
    EXPECT_EQ(limiter.GetTotalBytesThrough(IO_TOTAL), limiter.GetTotalBytesThrough(IO_LOW));
    return static_cast<uint64_t>(limiter.GetTotalBytesThrough(IO_LOW));
  };
  const uint64_t read = limited_bytes(RateLimiter::Mode::kReadsOnly);
  // Indexes and properties were read when the tables were opened.
  EXPECT_GT(read, plan.InputBytes() / 2);
  EXPECT_LT(read, plan.InputBytes());
  EXPECT_EQ(limited_bytes(RateLimiter::Mode::kWritesOnly), written);
  EXPECT_EQ(limited_bytes(RateLimiter::Mode::kAllIo), read + written);
}

TEST_F(TreeTest, ACompactionStandsBackWhileAFlushRuns) {
  // Runs a compaction during the flush that it observes.
  class MidFlush final : public CompactionOutputObserver {
   public:
    explicit MidFlush(std::function<void()> run) : run_(std::move(run)) {}
    void TableBegun(const std::string&) override { run_(); }
    void TableEnded(const Ended&) override {}

   private:
    const std::function<void()> run_;
  };

  Random random(5);
  Build(RandomHistory(&random, 300, 50), &random, 4000);
  const CompactionPlan plan = Plan(4000, 1);
  FlushPriorityThrottle turns(2, /*longest_wait_nanos=*/2'000'000);
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  args.job.merge_operator = &join_;
  args.job.turns = &turns;
  MidFlush observer([&] {
    TableJobResult compacted;
    EXPECT_TRUE(RunCompaction(args, &compacted).ok());
  });
  TableJobArgs flush = JobArgs();
  flush.turns = &turns;
  flush.output.observer = &observer;
  TableJobResult flushed;
  ASSERT_TRUE(Flush("b@8 put x", 1, &flushed, flush).ok());
  EXPECT_EQ(turns.waits(), 1u);

  TableJobResult compacted;
  EXPECT_TRUE(RunCompaction(args, &compacted).ok());
  EXPECT_EQ(turns.waits(), 1u) << "the flush is over";
}

TEST_F(TreeTest, ACompactionThatMissesEntriesFails) {
  // The metadata of the newer file gives a wrong largest key, so that no range reads its end.
  levels_.resize(3);
  OwnedFiles newer = WriteTables(ParseEntries("k@9 put 3, z@8 put 4"));
  OwnedFiles older = WriteTables(ParseEntries("a@5 put 1, k@6 put 2"));
  newer[0]->largest = MakeInternalKey("a", 1, ValueType::kValue);
  levels_[0].push_back(std::move(newer[0]));
  levels_[0].push_back(std::move(older[0]));
  CompactionPlan plan = Plan(1, 2);
  plan.inputs.resize(1);
  plan.smallest = "a";
  plan.largest = "z";
  CompactionJobArgs args;
  args.plan = &plan;
  args.job = JobArgs();
  const size_t files_before = FilesOnDisk();
  TableJobResult result;
  const Status status = RunCompaction(args, &result);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("hold 4 entries, 2 were read"), std::string::npos)
      << status.ToString();
  EXPECT_EQ(FilesOnDisk(), files_before);
}

// RocksDB leaves such files if it cuts a run between versions of one key. The tombstone [z, b)@6 is
// not truncated, although the file's largest key is an entry.
class CrossedFileTest : public JobFixture {
 protected:
  CrossedFileTest() : JobFixture(ReverseBytewiseComparator()) {}
  void TearDown() override {
    Evict(files_);
    Evict(result_.files);
  }

  FileMetaData* Write(const std::string& entries, std::vector<RangeTombstone> tombstones) {
    const FragmentedRanges ranges = FragmentedRanges::Make(comparator_, std::move(tombstones));
    const TableJobArgs args = JobArgs();
    CompactionOutput output(args.output);
    output.WriteRanges(&ranges);
    std::string last = "none";
    for (const TextEntry& entry : ParseEntries(entries)) {
      EXPECT_TRUE(output.Add(entry.InternalKey(), entry.value, entry.user_key != last).ok());
      last = entry.user_key;
    }
    EXPECT_TRUE(output.Finish().ok());
    files_.push_back(std::move(output.TakeFiles()[0]));
    return files_.back().get();
  }
  FileMetaData* WriteCrossed() {
    FileMetaData* const file = Write("y@8 put a, m@4 put b", {{"z", "b", 6}});
    file->largest = MakeInternalKey("m", 4, ValueType::kValue);
    return file;
  }
  // Returns the output as text, entries first and then fragments.
  std::string Compact(std::vector<FileMetaData*> inputs, std::vector<FileMetaData*> older,
                      std::vector<SequenceNumber> snapshots) {
    CompactionPlan plan;
    plan.inputs.push_back({1, std::move(inputs)});
    plan.output_level = 1;
    plan.smallest = "z";
    plan.largest = "b";
    plan.bottommost = older.empty();
    if (!older.empty()) plan.older.push_back(std::move(older));
    plan.max_output_file_bytes = UINT64_MAX;
    plan.max_grandparent_overlap_bytes = UINT64_MAX;
    CompactionJobArgs args;
    args.plan = &plan;
    args.job = JobArgs();
    args.job.check_entry_counts = true;
    args.job.snapshots = std::move(snapshots);
    Evict(result_.files);
    const Status status = RunCompaction(args, &result_);
    if (!status.ok()) return status.ToString();
    std::string text;
    for (const auto& file : result_.files) {
      text += PrintTable(file.get()) + ";";
      const Result<TableRef> table = tables_.Acquire(file.get(), {});
      FragmentedRanges::Cursor at(&(*table)->ranges());
      for (at.SeekToFirst(); at.Valid(); at.Next())
        text += " [" + at.begin().ToString() + "," + at.end().ToString() + ")";
    }
    return text;
  }

  std::vector<std::unique_ptr<FileMetaData>> files_;
  TableJobResult result_;
};

TEST_F(CrossedFileTest, TheLargestKeyStaysDeletedInOlderRuns) {
  FileMetaData* const crossed = WriteCrossed();
  FileMetaData* const older = Write("n@3 put under, m@2 put old, l@0 put other", {});
  EXPECT_EQ(Compact({crossed}, {older}, {}), "y@8 put a, m@6 del; [z,m)");
  EXPECT_EQ(Compact({crossed}, {older}, {5}), "y@8 put a, m@6 del, m@4 put b; [z,m)");
  EXPECT_EQ(Compact({crossed}, {}, {5}), "y@8 put a, m@6 del, m@0 put b; [z,m)");
  EXPECT_EQ(Compact({crossed}, {}, {}), "y@0 put a;");
}

TEST_F(CrossedFileTest, TheTombstoneOfTheNextFileNeedsNoDeletion) {
  FileMetaData* const crossed = WriteCrossed();
  FileMetaData* const next = Write("m@2 put c, d@7 put d", {{"m", "b", 6}});
  FileMetaData* const older = Write("m@1 put old, e@1 put other", {});
  EXPECT_EQ(Compact({crossed, next}, {older}, {}), "y@8 put a, d@7 put d; [z,b)");
}

// Otherwise a table with many tombstones at each key and a table with many ranges would yield a
// tombstone for each pair.
TEST(MetTombstones, HaveOneOfEachTableAndStripeAtAKey) {
  const KeyComparator comparator(BytewiseComparator());
  const FragmentedRanges stacked = FragmentedRanges::Make(
      comparator, {{"a", "z", 7}, {"a", "z", 6}, {"a", "m", 5}, {"a", "z", 3}});
  const FragmentedRanges flat = FragmentedRanges::Make(comparator, {{"b", "c", 9}, {"d", "e", 8}});
  const auto met = [&](const std::vector<SequenceNumber>& snapshots) {
    MetTombstones tombstones(snapshots);
    for (const FragmentedRanges* ranges : {&stacked, &flat, &stacked}) tombstones.Add(*ranges);
    std::string text;
    for (const RangeTombstone& tombstone : tombstones.Take())
      text += StrCat(tombstone.begin.ToString(), "-", tombstone.end.ToString(), "@",
                     tombstone.sequence, " ");
    return text;
  };
  EXPECT_EQ(met({}), "a-z@7 b-c@9 d-e@8 a-z@7 ");
  EXPECT_EQ(met({4}), "a-z@7 a-z@3 b-c@9 d-e@8 a-z@7 a-z@3 ");
}

TEST_F(JobTest, AResultThatNobodyTakesLeavesNoOpenTable) {
  {
    TableJobResult result;
    ASSERT_TRUE(Flush("b@8 put x", 1, &result, JobArgs()).ok());
    EXPECT_EQ(open_tables_.Count(), 1u);
  }
  EXPECT_EQ(open_tables_.Count(), 0u);
}

}  // namespace
}  // namespace ashlar
