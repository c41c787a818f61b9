// Every pair of calls on the whole database, both in loops, while writers and readers work. A test
// is one pair; README.md lists the comparisons.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "base/random.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

constexpr uint64_t kWriters = 2;
constexpr uint64_t kKeysPerWriter = 200;
constexpr uint64_t kPutsPerWriter = 700;
constexpr size_t kValueBytes = 400;
constexpr size_t kVersionDigits = 12;

std::string KeyOf(uint64_t writer, uint64_t i) {
  const std::string digits = std::to_string(i);
  return "w" + std::to_string(writer) + "-" + std::string(4 - digits.size(), '0') + digits;
}
std::string ValueOf(uint64_t version) {
  const std::string digits = std::to_string(version);
  return std::string(kVersionDigits - digits.size(), '0') + digits + std::string(kValueBytes, 'v');
}
uint64_t VersionOf(const Slice& value) {
  return std::stoull(std::string(value.data(), kVersionDigits));
}

struct Call {
  const char* name;
  std::function<void(DB*, Random*)> run;
};

void CompactSomeRange(DB* db, Random* random, CompactRangeOptions options) {
  options.allow_write_stall = true;
  const uint64_t first = random->Uniform(kKeysPerWriter);
  const std::string begin = KeyOf(random->Uniform(kWriters), first);
  const std::string end = KeyOf(kWriters - 1, first + random->Uniform(20));
  const Slice begin_slice(begin);
  const Slice end_slice(end);
  EXPECT_OK(db->CompactRange(options, &begin_slice, random->OneIn(3) ? nullptr : &end_slice));
}

const std::vector<Call>& Calls() {
  static const std::vector<Call> kCalls = {
      {"Flush", [](DB* db, Random*) { EXPECT_OK(db->Flush(FlushOptions())); }},
      {"FlushWithoutWaiting",
       [](DB* db, Random*) {
         FlushOptions options;
         options.wait = false;
         options.allow_write_stall = true;
         EXPECT_OK(db->Flush(options));
       }},
      {"CompactRange",
       [](DB* db, Random* random) { CompactSomeRange(db, random, CompactRangeOptions()); }},
      {"CompactRangeExclusively",
       [](DB* db, Random* random) {
         CompactRangeOptions options;
         options.exclusive_manual_compaction = true;
         options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
         CompactSomeRange(db, random, options);
       }},
      {"CompactRangeAndChangeLevel",
       [](DB* db, Random* random) {
         CompactRangeOptions options;
         options.allow_write_stall = true;
         options.change_level = true;
         options.target_level = static_cast<int>(random->Uniform(8)) - 1;
         // Whether a level has room depends on the other calls.
         const Status status = db->CompactRange(options, nullptr, nullptr);
         EXPECT_TRUE(status.ok() || status.IsNotSupported() || status.IsAborted() ||
                     status.IsInvalidArgument())
             << status.ToString();
       }},
      {"CompactFiles",
       [](DB* db, Random* random) {
         std::vector<LiveFileMetaData> files;
         db->GetLiveFilesMetaData(&files);
         if (files.empty()) return;
         const LiveFileMetaData& file = files[random->Uniform(files.size())];
         const int level = std::min(file.level + static_cast<int>(random->Uniform(3)), 6);
         // The file may be gone by now, or be in another compaction.
         const Status status = db->CompactFiles(CompactionOptions(), {file.name}, level);
         EXPECT_TRUE(status.ok() || status.IsAborted() || status.IsInvalidArgument())
             << status.ToString();
       }},
      {"SuggestCompactRange",
       [](DB* db, Random*) { EXPECT_OK(db->SuggestCompactRange(nullptr, nullptr)); }},
      {"DeleteFilesInAnEmptyRange",
       [](DB* db, Random*) {
         const Slice begin("zz");
         EXPECT_OK(DeleteFilesInRange(db, db->DefaultColumnFamily(), &begin, nullptr));
       }},
      {"WaitForCompact",
       [](DB* db, Random*) { EXPECT_OK(db->WaitForCompact(WaitForCompactOptions())); }},
      {"GetLiveFiles",
       [](DB* db, Random* random) {
         std::vector<std::string> files;
         uint64_t manifest_bytes = 0;
         EXPECT_OK(db->GetLiveFiles(files, &manifest_bytes, random->OneIn(2)));
         std::vector<LiveFileMetaData> metadata;
         db->GetLiveFilesMetaData(&metadata);
       }},
      {"CreateAndDropFamily",
       [](DB* db, Random* random) {
         ColumnFamilyHandle* family = nullptr;
         static std::atomic<uint64_t> families{0};
         const std::string name = "f" + std::to_string(families.fetch_add(1));
         ASSERT_OK(db->CreateColumnFamily(ColumnFamilyOptions(db->GetOptions()), name, &family));
         EXPECT_OK(db->Put(WriteOptions(), family, "key", "value"));
         if (random->OneIn(2)) {
           EXPECT_OK(db->Flush(FlushOptions(), family));
         }
         std::string value;
         EXPECT_OK(db->Get(ReadOptions(), family, "key", &value));
         EXPECT_OK(db->DropColumnFamily(family));
         EXPECT_OK(db->DestroyColumnFamilyHandle(family));
       }},
      {"SetOptions",
       [](DB* db, Random* random) {
         EXPECT_OK(db->SetOptions(
             {{"write_buffer_size", std::to_string((32 + random->Uniform(64)) << 10)}}));
         EXPECT_OK(
             db->SetDBOptions({{"max_background_jobs", std::to_string(2 + random->Uniform(3))}}));
       }},
      {"SyncWAL",
       [](DB* db, Random* random) {
         EXPECT_OK(db->SyncWAL());
         EXPECT_OK(db->FlushWAL(random->OneIn(4)));
       }},
      {"PauseAndContinue",
       [](DB* db, Random*) {
         EXPECT_OK(db->PauseBackgroundWork());
         EXPECT_OK(db->ContinueBackgroundWork());
       }},
      {"DisableAndEnableFileDeletions",
       [](DB* db, Random*) {
         EXPECT_OK(db->DisableFileDeletions());
         EXPECT_OK(db->EnableFileDeletions());
       }},
      {"Properties",
       [](DB* db, Random*) {
         for (const char* name :
              {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.estimate-num-keys",
               "rocksdb.cur-size-all-mem-tables", "rocksdb.num-entries-active-mem-table",
               "rocksdb.estimate-pending-compaction-bytes"}) {
           std::string text;
           EXPECT_TRUE(db->GetProperty(name, &text)) << name;
         }
         uint64_t bytes = 0;
         const Range all("a", "z");
         SizeApproximationOptions options;
         options.include_memtables = true;
         EXPECT_OK(db->GetApproximateSizes(options, db->DefaultColumnFamily(), &all, 1, &bytes));
       }},
      {"MergeAndReadOperands",
       [](DB* db, Random*) {
         // A key of the thread, so that it knows what is there.
         static std::atomic<int> threads{0};
         thread_local const std::string key = "~" + std::to_string(threads.fetch_add(1));
         std::string expected;
         EXPECT_OK(db->Delete(WriteOptions(), key));
         for (char operand = 'a'; operand < 'k'; ++operand) {
           EXPECT_OK(db->Merge(WriteOptions(), key, std::string(1, operand)));
           expected += (expected.empty() ? "" : ",") + std::string(1, operand);
         }
         GetMergeOperandsOptions wanted;
         wanted.expected_max_number_of_operands = 10;
         std::vector<PinnableSlice> operands(10);
         int count = 0;
         EXPECT_OK(db->GetMergeOperands(ReadOptions(), db->DefaultColumnFamily(), key,
                                        operands.data(), &wanted, &count));
         std::string joined;
         for (size_t i = 0; i < static_cast<size_t>(count); ++i)
           joined += (i == 0 ? "" : ",") + operands[i].ToString();
         EXPECT_EQ(joined, expected);
       }},
      {"VerifyChecksum", [](DB* db, Random*) { EXPECT_OK(db->VerifyChecksum(ReadOptions())); }},
  };
  return kCalls;
}

using Pair = std::pair<size_t, size_t>;
std::vector<Pair> AllPairs() {
  std::vector<Pair> pairs;
  for (size_t a = 0; a < Calls().size(); ++a) {
    for (size_t b = a; b < Calls().size(); ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

class PairsTest : public testing::TestWithParam<Pair> {
 protected:
  PairsTest() {
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 4;
    options_.max_bytes_for_level_base = 128 << 10;
    options_.max_bytes_for_level_multiplier = 4;
    options_.target_file_size_base = 32 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_background_jobs = 4;
    options_.info_log_level = FATAL_LEVEL;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.max_successive_merges = 4;
    options_.strict_max_successive_merges = true;
  }

  void Open() { ASSERT_OK(DB::Open(options_, scratch_.File("db"), &db_)); }

  void WriteAll(uint64_t writer) {
    Random random(GetParam().first * 1000 + GetParam().second * 10 + writer);
    for (uint64_t version = 1; version <= kPutsPerWriter; ++version) {
      const uint64_t i = random.Uniform(kKeysPerWriter);
      ASSERT_OK(db_->Put(WriteOptions(), KeyOf(writer, i), ValueOf(version)));
      acknowledged_[writer][i].store(version, std::memory_order_release);
    }
  }
  void ReadUntilDone() {
    Random random(7);
    while (!done_.load()) {
      const uint64_t writer = random.Uniform(kWriters);
      const uint64_t i = random.Uniform(kKeysPerWriter);
      const uint64_t at_least = acknowledged_[writer][i].load(std::memory_order_acquire);
      if (at_least == 0) continue;
      PinnableSlice value;
      ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(writer, i), &value));
      ASSERT_GE(VersionOf(value), at_least) << KeyOf(writer, i);
    }
  }
  void CallUntilDone(size_t call) {
    Random random(call + 1);
    while (!done_.load() && !HasFatalFailure()) Calls()[call].run(db_.get(), &random);
  }

  void CheckContents() {
    // From "~" on are the keys of MergeAndReadOperands.
    const Slice end("~");
    ReadOptions of_writers;
    of_writers.iterate_upper_bound = &end;
    const std::unique_ptr<Iterator> it(db_->NewIterator(of_writers));
    it->SeekToFirst();
    for (uint64_t writer = 0; writer < kWriters; ++writer) {
      for (uint64_t i = 0; i < kKeysPerWriter; ++i) {
        const uint64_t version = acknowledged_[writer][i].load();
        if (version == 0) continue;
        ASSERT_TRUE(it->Valid()) << it->status().ToString();
        ASSERT_EQ(it->key().ToString(), KeyOf(writer, i));
        ASSERT_EQ(it->value().ToString(), ValueOf(version)) << KeyOf(writer, i);
        std::string value;
        ASSERT_OK(db_->Get(ReadOptions(), KeyOf(writer, i), &value));
        ASSERT_EQ(value, ValueOf(version)) << KeyOf(writer, i);
        it->Next();
      }
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_OK(it->status());
  }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> acknowledged_{};
  std::atomic<bool> done_{false};
};

TEST_P(PairsTest, KeepsWhatWasAcknowledged) {
  Open();
  std::vector<std::thread> helpers;
  helpers.emplace_back([this] { ReadUntilDone(); });
  helpers.emplace_back([this] { CallUntilDone(GetParam().first); });
  helpers.emplace_back([this] { CallUntilDone(GetParam().second); });
  std::vector<std::thread> writers;
  for (uint64_t writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([this, writer] { WriteAll(writer); });
  for (std::thread& writer : writers) writer.join();
  done_.store(true);
  for (std::thread& helper : helpers) helper.join();
  CheckContents();
  db_.reset();
  Open();
  CheckContents();
}

INSTANTIATE_TEST_SUITE_P(Calls, PairsTest, testing::ValuesIn(AllPairs()),
                         [](const testing::TestParamInfo<Pair>& pair) {
                           return std::string(Calls()[pair.param.first].name) + "And" +
                                  Calls()[pair.param.second].name;
                         });

}  // namespace
}  // namespace ashlar
