// Damage to a pool of class `logged`: to each word of the pool's header, of the log's header and of
// the log's records. Open refuses, or the tree holds exactly the acknowledged entries.
#include <cstdio>

#include "base/coding.h"
#include "gtest/gtest.h"
#include "pmem/layout.h"
#include "pmem/redo_log.h"
#include "tests/pool_crash/disk_proof.h"
#include "tests/support/memory_log.h"

namespace ashlar::pmem {
namespace {

class DiskDamageTest : public ::testing::Test {
 protected:
  explicit DiskDamageTest(const DiskProofOptions& options = {}) : proof_(Few(options)) {}

  void Write() {
    const std::string value(15, 'v');
    for (uint64_t i = 0; i < 30; ++i) Run(PutOf(NumberKey(i), value));
    Run(BatchOf({{BatchItem::Kind::kPut, NumberKey(71), value},
                 {BatchItem::Kind::kDelete, NumberKey(8), ""}}));
  }
  void Run(const Change& change) {
    const Problem problem = proof_.Run(change);
    ASSERT_FALSE(problem) << *problem;
  }

  // Damages one word in each way. A tree that opens must have no problem.
  void DamageWordOf(const char* where, size_t offset,
                    const std::function<std::string*(DiskContents*)>& file) {
    std::vector<std::function<uint64_t(uint64_t)>> ways = {
        [](uint64_t) { return uint64_t{0}; }, [](uint64_t) { return ~uint64_t{0}; },
        [](uint64_t word) { return ~word; }, [](uint64_t word) { return word + 1; },
        [](uint64_t word) { return word - 1; }};
    for (int bit = 0; bit < 64; bit += 7)
      ways.push_back([bit](uint64_t word) { return word ^ uint64_t { 1 } << bit; });
    for (size_t way = 0; way < ways.size(); ++way) {
      Problem problem;
      const Status status = proof_.OpenDamaged(
          [&](DiskContents* disk) {
            char* const word = file(disk)->data() + offset;
            EncodeFixed64(word, ways[way](DecodeFixed64(word)));
          },
          &problem);
      ASSERT_FALSE(problem) << where << " offset " << offset << " way " << way << ": " << *problem;
      ASSERT_TRUE(status.ok() || status.IsCorruption() || status.IsNotSupported() ||
                  status.IsInvalidArgument())
          << where << " offset " << offset << " way " << way << ": " << status.ToString();
      (status.ok() ? harmless_ : refused_)++;
    }
  }
  static std::string* PoolOf(DiskContents* disk) { return &disk->pool; }
  static std::string* LogOf(DiskContents* disk) { return &*disk->log; }

  // Other tests cover power cuts.
  static DiskProofOptions Few(DiskProofOptions options) {
    options.images_per_epoch_max = 2;
    options.samples_per_epoch = 1;
    options.bytes_per_cut = 4096;
    return options;
  }

  DiskProof proof_;
  uint64_t harmless_ = 0;
  uint64_t refused_ = 0;
};

TEST_F(DiskDamageTest, OfEachWordOfThePoolsHeaderIsRefusedOrHarmless) {
  Write();
  for (size_t offset = 0; offset < kPageBytes; offset += 8) DamageWordOf("pool", offset, PoolOf);
  // Only the header, link, name and batch mark of the page matter.
  EXPECT_GT(refused_, 100U);
  printf("pool_crash: pool header damaged: %llu refused, %llu harmless\n",
         static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(harmless_));
}

TEST_F(DiskDamageTest, OfEachWordOfTheLogsHeaderIsRefusedOrHarmless) {
  Write();
  for (size_t offset = 0; offset < kLogHeaderBytes; offset += 8) DamageWordOf("log", offset, LogOf);
  EXPECT_GT(refused_, 50U);
}

// The last record is left out, because damage to it looks like an interrupted write.
TEST_F(DiskDamageTest, OfEachWordOfTheRecordsIsRefused) {
  Write();
  const size_t end = proof_.durable().log->find_last_not_of('\0');
  const std::string last_key = NumberKey(99);
  Run(PutOf(last_key, "the last record"));
  for (size_t offset = kLogHeaderBytes; offset + 8 <= end; offset += 8)
    DamageWordOf("record", offset, LogOf);
  // Some ways to damage a word leave it as it was.
  EXPECT_GT(refused_, 20 * harmless_);
}

class DiskDamageAfterCheckpointTest : public DiskDamageTest {
 protected:
  DiskDamageAfterCheckpointTest() : DiskDamageTest({.log_bytes_max = 12000, .pages_per_step = 1}) {}
};

// The records that a checkpoint copies into the next log were durable before that log had its name.
// No record after them says so.
TEST_F(DiskDamageAfterCheckpointTest, OfEachWordOfTheRecordsThatTheLogBeginsWithIsRefused) {
  LogHeader header;
  for (uint64_t i = 0; header.whole_end < kLogHeaderBytes + 400; ++i) {
    ASSERT_LT(i, 200U) << "no checkpoint took records over";
    Run(PutOf(NumberKey(i), std::string(15, 'v')));
    ASSERT_TRUE(DecodeLogHeader(*proof_.durable().log, &header));
  }
  for (size_t offset = kLogHeaderBytes; offset + 8 <= header.whole_end; offset += 8)
    DamageWordOf("record", offset, LogOf);
  EXPECT_GT(refused_, 20 * harmless_);
}

class DiskDamageWithoutSyncsTest : public DiskDamageTest {
 protected:
  DiskDamageWithoutSyncsTest()
      : DiskDamageTest({.log_bytes_max = 4000, .pages_per_step = 1, .sync = false}) {}

  // A durable log, and the end of its records.
  struct Log {
    LogHeader header;
    uint64_t end = 0;
  };
  Log DurableLog() const {
    Log log;
    EXPECT_TRUE(DecodeLogHeader(*proof_.durable().log, &log.header));
    log.end = ScanMemoryLog(*proof_.durable().log, log.header, true).end;
    return log;
  }
};

// A step of a checkpoint syncs the log and then writes pages, which need the records before it. It
// must be recorded that they are durable. Otherwise damage to them looks like the log's end after a
// reboot, and the tree is opened with pages of later changes.
TEST_F(DiskDamageWithoutSyncsTest, OfEachWordThatAStepOfACheckpointHasSyncedIsRefused) {
  Log before;  // as a step left it
  for (uint64_t i = 0;; ++i) {
    ASSERT_LT(i, 200U) << "no log has two steps of one checkpoint";
    const std::string pool = proof_.durable().pool;
    Run(PutOf(NumberKey(i), std::string(15 + 60 * (i % 4), 'v')));
    // The first page has the link to the log.
    if (pool.compare(kPageBytes, std::string::npos, proof_.durable().pool, kPageBytes,
                     std::string::npos) == 0)
      continue;
    const Log now = DurableLog();
    if (before.header.generation == now.header.generation && now.header.whole_end < before.end &&
        before.end < now.end)
      break;
    before = now;
  }
  for (size_t offset = before.header.whole_end; offset + 8 <= before.end; offset += 8)
    DamageWordOf("record", offset, LogOf);
  EXPECT_GT(refused_, 20 * harmless_);
}

TEST_F(DiskDamageTest, OfAMissingLogIsRefused) {
  Write();
  Problem problem;
  const Status status = proof_.OpenDamaged([](DiskContents* disk) { disk->log.reset(); }, &problem);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

}  // namespace
}  // namespace ashlar::pmem
