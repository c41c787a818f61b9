// Calls of a DBWithTTL concurrent with its writers, flushes and compactions, and with families that
// are created and dropped.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/utilities/db_ttl.h"
#include "base/random.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeys = 200;
constexpr int kPuts = 6000;

std::string KeyOf(uint64_t i) { return "key" + std::to_string(1000 + i); }

TEST(TtlConcurrencyTest, EveryCallSeesValuesWithoutTimes) {
  const ScratchDirectory scratch;
  Options options;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.info_log_level = FATAL_LEVEL;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  DBWithTTL* opened = nullptr;
  ASSERT_OK(DBWithTTL::Open(options, scratch.File("db"), &opened, 1000000));
  std::unique_ptr<DBWithTTL> db(opened);
  std::vector<std::atomic<uint64_t>> written(kKeys);
  std::atomic<bool> done{false};
  const auto check = [&](uint64_t i, uint64_t at_least, const Slice& value) {
    const std::string text = value.ToString();
    ASSERT_TRUE(text.ends_with("!")) << KeyOf(i);
    ASSERT_GE(std::stoull(text), at_least) << KeyOf(i);
  };
  std::vector<std::thread> threads;
  const auto loop = [&](uint64_t seed, const auto& call) {
    threads.emplace_back([&done, seed, call] {
      Random random(seed);
      while (!done.load() && !testing::Test::HasFatalFailure()) call(&random);
    });
  };
  loop(1, [&](Random* random) {
    const uint64_t i = random->Uniform(kKeys);
    const uint64_t at_least = written[i].load();
    if (at_least == 0) return;
    std::string value;
    ASSERT_OK(db->Get(ReadOptions(), KeyOf(i), &value));
    check(i, at_least, value);
    std::vector<std::string> values;
    ASSERT_OK(db->MultiGet(ReadOptions(), {KeyOf(i)}, &values)[0]);
    check(i, at_least, values[0]);
    GetMergeOperandsOptions wanted;
    wanted.expected_max_number_of_operands = 1;
    PinnableSlice operand;
    int count = 0;
    ASSERT_OK(db->GetMergeOperands(ReadOptions(), db->DefaultColumnFamily(), KeyOf(i), &operand,
                                   &wanted, &count));
    check(i, at_least, operand);
    bool found = false;
    ASSERT_TRUE(db->KeyMayExist(ReadOptions(), KeyOf(i), &value, &found));
    if (found) check(i, at_least, value);
  });
  loop(2, [&](Random*) {
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      ASSERT_TRUE(it->value().ends_with("!")) << it->key().ToString();
    ASSERT_OK(it->status());
  });
  loop(3, [&](Random* random) {
    if (random->OneIn(2)) {
      ASSERT_OK(db->Flush(FlushOptions()));
    } else {
      ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    }
  });
  loop(4, [&](Random* random) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db->CreateColumnFamilyWithTtl(options, "family", &family, 1));
    ASSERT_OK(db->Put(WriteOptions(), family, "key", "value"));
    ASSERT_OK(db->Merge(WriteOptions(), family, "key", "more"));
    std::string value;
    ASSERT_OK(db->Get(ReadOptions(), family, "key", &value));
    ASSERT_EQ(value, "value,more");
    const auto ttl = static_cast<int32_t>(1000 + random->Uniform(1000));
    db->SetTtl(family, ttl);
    int32_t set = 0;
    ASSERT_OK(db->GetTtl(family, &set));
    ASSERT_EQ(set, ttl);
    ASSERT_OK(db->DropColumnFamily(family));
    ASSERT_OK(db->DestroyColumnFamilyHandle(family));
  });
  Random random(5);
  for (int n = 1; n <= kPuts; ++n) {
    const uint64_t i = random.Uniform(kKeys);
    WriteBatch batch;
    ASSERT_OK(batch.Put(KeyOf(i), std::to_string(n) + std::string(100, '!')));
    ASSERT_OK(db->Write(WriteOptions(), &batch));
    written[i].store(static_cast<uint64_t>(n));
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db->Close());
  db.reset();
  ASSERT_OK(DBWithTTL::Open(options, scratch.File("db"), &opened, 0));
  db.reset(opened);
  for (uint64_t i = 0; i < kKeys; ++i) {
    std::string value;
    const Status got = db->Get(ReadOptions(), KeyOf(i), &value);
    ASSERT_EQ(got.IsNotFound(), written[i].load() == 0);
    if (got.ok()) check(i, written[i].load(), value);
  }
}

}  // namespace
}  // namespace ashlar
