// Tests logs that are read in pieces and logs that cannot be read. persistent_tree_test.cc and
// tests/pool_crash test the logs of crashes and damaged logs.
#include "pmem/redo_log.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/coding.h"
#include "gtest/gtest.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "tests/support/expect_ok.h"
#include "tests/support/memory_log.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

constexpr LogHeader kHeader = {.pool_id = 7, .generation = 1234567, .boot_id = 1};
constexpr size_t kPiece = size_t{1} << 20;

// Records the sizes of the reads.
class MeteredLog final : public LogSource {
 public:
  explicit MeteredLog(const Slice& log) : log_(log) {}

  uint64_t bytes() const override { return log_.bytes(); }
  Status ReadAt(uint64_t offset, size_t n, char* to) const override {
    longest_ = std::max(longest_, n);
    all_ += n;
    return log_.ReadAt(offset, n, to);
  }
  size_t longest() const { return longest_; }
  uint64_t all() const { return all_; }

 private:
  const MemoryLog log_;
  mutable size_t longest_ = 0;
  mutable uint64_t all_ = 0;
};

std::string RedoOf(uint64_t number) { return std::string(100 + number % 300, 'r'); }

std::string LogOf(uint64_t records) {
  std::string log = EncodeLogHeader(kHeader);
  for (uint64_t number = 0; number < records; ++number)
    AppendRecord(kHeader, number, RedoOf(number), &log);
  return log;
}

TEST(RedoLogTest, IsReadInPieces) {
  constexpr uint64_t kRecords = 40'000;
  const std::string log = LogOf(kRecords);
  ASSERT_GT(log.size(), 8 * kPiece);
  const MeteredLog metered(log);
  LogWindow window(&metered);
  const LogScan scan = ScanLog(&window, kHeader, false).value();
  EXPECT_EQ(scan.records, kRecords);
  EXPECT_EQ(scan.end, log.size());
  EXPECT_FALSE(scan.is_damaged);
  EXPECT_FALSE(scan.has_rest);
  uint64_t at = kLogHeaderBytes;
  for (uint64_t number = 0; number < kRecords; ++number) {
    const Slice redo = ReadRedo(&window, at).value();
    ASSERT_EQ(redo.ToString(), RedoOf(number)) << number;
    at += RecordBytesFor(redo);
  }
  EXPECT_EQ(at, log.size());
  EXPECT_EQ(metered.longest(), kPiece);
  EXPECT_LT(metered.all(), 3 * log.size());
}

TEST(RedoLogTest, ARecordMayBeLongerThanAPiece) {
  std::string log = LogOf(2);
  const std::string redo(3 * kPiece, 'l');
  AppendRecord(kHeader, 2, redo, &log);
  AppendRecord(kHeader, 3, RedoOf(3), &log);
  EXPECT_EQ(ScanMemoryLog(log, kHeader, false).records, 4U);
  EXPECT_EQ(ScanMemoryLog(log, kHeader, false).end, log.size());
  log[2 * kPiece] = 'x';
  const LogScan damaged = ScanMemoryLog(log, kHeader, false);
  EXPECT_EQ(damaged.records, 2U);
  EXPECT_TRUE(damaged.is_damaged);
}

// A piece may end in the head of the record, before it or after it.
TEST(RedoLogTest, ARecordAfterAHoleIsFoundWhereverItIs) {
  const std::string before = LogOf(3);
  for (size_t at = kLogHeaderBytes + kPiece - 80; at < kLogHeaderBytes + kPiece + 20; ++at) {
    std::string log = before;
    log.resize(at);
    AppendRecord(kHeader, 4, RedoOf(4), &log);
    const LogScan scan = ScanMemoryLog(log, kHeader, false);
    ASSERT_EQ(scan.end, before.size()) << at;
    ASSERT_TRUE(scan.is_damaged) << at;
    ASSERT_TRUE(scan.has_rest) << at;
  }
}

// The log must not be mapped, or a sector that cannot be read would end the process.
TEST(RedoLogTest, ALogThatCannotBeReadIsAnError) {
  const std::string log = LogOf(12'000);
  ASSERT_GT(log.size(), 2 * kPiece);
  for (size_t bad = kLogHeaderBytes; bad < log.size(); bad += 100'000) {
    const MemoryLog source(log, bad);
    LogWindow window(&source);
    const Status status = ScanLog(&window, kHeader, false).status();
    ASSERT_TRUE(status.IsIOError()) << bad << ": " << status.ToString();
  }
}

TEST(RedoLogTest, ARecordThatChangesAfterTheScanIsAnError) {
  std::string log = LogOf(3);
  for (const size_t at : {size_t{0}, size_t{3}, size_t{7}, size_t{48}, size_t{100}}) {
    SCOPED_TRACE(at);
    char& byte = log[kLogHeaderBytes + at];
    byte = static_cast<char>(byte ^ 0x40);
    const MemoryLog source(log);
    LogWindow window(&source);
    EXPECT_TRUE(ReadRedo(&window, kLogHeaderBytes).status().IsIOError());
    byte = static_cast<char>(byte ^ 0x40);
  }
}

TEST(RedoLogTest, AReplayOfALogThatCannotBeReadChangesNothing) {
  constexpr PoolOffset kWord = kPageBytes - 8;
  TestPool pool(uint64_t{1} << 20);
  const auto log = std::make_shared<std::optional<std::string>>();
  const ReplayConfig config = {.pool_id = TestPool::kId};
  {
    std::unique_ptr<Medium> medium =
        LoggedMedium::Create(std::make_unique<MemoryStorage>(pool.file(), log),
                             {.pool_id = TestPool::kId,
                              .log_bytes_max = uint64_t{1} << 20,
                              .private_bytes_max = uint64_t{1} << 20})
            .value();
    PoolOperation op(*medium);
    op.Store(kWord, 4711);
    op.Commit();
    ASSERT_OK(op.AwaitDurable());
  }
  const auto word = [&] {
    char bytes[8];
    EXPECT_OK(pool.file()->ReadAt(kWord, sizeof(bytes), bytes));
    return DecodeFixed64(bytes);
  };
  const std::string left = log->value();
  MemoryStorage storage(pool.file(), log);
  storage.SetBadByteOfLog(kLogHeaderBytes + 10);
  for (const bool accept_damage : {false, true}) {
    ReplayConfig accepting = config;
    accepting.accept_damage = accept_damage;
    const Status status = ReplayLog(&storage, accepting);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_EQ(*log, left);
    EXPECT_EQ(word(), 0U);
  }
  storage.SetBadByteOfLog(MemoryLog::kNoBadByte);
  ASSERT_OK(ReplayLog(&storage, config));
  EXPECT_EQ(word(), 4711U);
  EXPECT_FALSE(log->has_value());
}

}  // namespace
}  // namespace ashlar::pmem
