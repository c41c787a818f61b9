// Real threads on few keys: every call on a key takes effect at one moment between its begin and
// its end, and what one batch wrote to two families is seen together, while memtables are flushed,
// tables compacted, and other families made and dropped.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/support/expect_ok.h"
#include "tests/support/linearizability.h"
#include "tests/support/manual_env.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

using test::CallsByKey;
using test::CheckLinearizable;
using test::HistoryRecorder;
using test::RecordedCall;
using Kind = RecordedCall::Kind;
using Value = std::optional<std::string>;

constexpr uint64_t kSeed = 20261125;
constexpr int kRounds = 40;
constexpr int kThreads = 3;
constexpr int kCallsPerThread = 250;
constexpr uint64_t kKeys = 4;

class LinearizabilityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.create_if_missing = true;
    options.info_log = std::make_shared<SilentLogger>();
    options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options.write_buffer_size = 64 << 10;
    options.level0_file_num_compaction_trigger = 2;
    options.target_file_size_base = 16 << 10;
    options.max_bytes_for_level_base = 32 << 10;
    ASSERT_OK(DB::Open(options, scratch_.File("db"), &db_));
    ASSERT_OK(db_->CreateColumnFamily(options, "second", &second_));
    options_ = options;
  }
  void TearDown() override {
    delete second_;
    ASSERT_OK(db_->Close());
  }

  // Calls of one kind after another on keys drawn at random, and what they returned.
  class Client;

  // Flushes, compactions and families that come and go, until the clients are done.
  void Churn(const std::atomic<bool>* stop) {
    int round = 0;
    while (!stop->load()) {
      EXPECT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), second_}));
      if (round % 3 == 0) {
        EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      }
      ColumnFamilyHandle* other = nullptr;
      ASSERT_OK(db_->CreateColumnFamily(options_, StrCat("other", round++), &other));
      EXPECT_OK(db_->Put(WriteOptions(), other, "key", "value"));
      EXPECT_OK(db_->DropColumnFamily(other));
      delete other;
    }
  }

  ScratchDirectory scratch_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* second_ = nullptr;
  Options options_;
};

class LinearizabilityTest::Client {
 public:
  Client(LinearizabilityTest* test, HistoryRecorder* recorder, uint64_t seed)
      : db_(test->db_.get()),
        families_{db_->DefaultColumnFamily(), test->second_},
        log_(recorder),
        random_(seed),
        name_(std::to_string(seed)) {}

  void Run() {
    for (int i = 0; i < kCallsPerThread; ++i) {
      const std::string key = StrCat("key", random_.Uniform(kKeys));
      const std::string value = StrCat(name_, ".", i);
      switch (random_.Uniform(12)) {
        case 0:
        case 1: Record(key, Kind::kPut, value, [&] { Expect(db_->Put({}, key, value)); }); break;
        case 2: Record(key, Kind::kDelete, {}, [&] { Expect(db_->Delete({}, key)); }); break;
        case 3:
          Record(key, Kind::kMerge, value, [&] { Expect(db_->Merge({}, key, value)); });
          break;
        case 4:
        case 5: WritePair(key, value); break;
        case 6: ReadPair(key); break;
        case 7: ReadByIterators(); break;
        case 8: ReadAtSnapshot(key); break;
        case 9: ReadMany(); break;
        default: ReadOne(key); break;
      }
    }
  }
  const CallsByKey& calls() const { return log_.calls(); }

 private:
  static std::string PairOf(const std::string& key) { return "pair of " + key; }
  static void Expect(const Status& status) { EXPECT_OK(status); }

  template <typename Call>
  void Record(const std::string& key, Kind kind, Value value, const Call& call) {
    const uint64_t begin = log_.Begin();
    call();
    log_.Add(key, {kind, std::move(value), begin, log_.End()});
  }
  static Value Found(const Status& status, const Slice& value) {
    if (status.ok()) return value.ToString();
    EXPECT_TRUE(status.IsNotFound()) << status.ToString();
    return {};
  }

  void ReadOne(const std::string& key) {
    const uint64_t begin = log_.Begin();
    std::string value;
    const Status status = db_->Get({}, key, &value);
    log_.Add(key, {Kind::kGet, Found(status, value), begin, log_.End()});
  }
  // One batch puts the same value under a name of its own into both families.
  void WritePair(const std::string& key, const std::string& value) {
    WriteBatch batch;
    for (ColumnFamilyHandle* family : families_) EXPECT_OK(batch.Put(family, PairOf(key), value));
    Record(PairOf(key), Kind::kPut, value, [&] { Expect(db_->Write({}, &batch)); });
  }
  void ReadPair(const std::string& key) {
    const std::string pair = PairOf(key);
    const uint64_t begin = log_.Begin();
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        db_->MultiGet({}, {families_[0], families_[1]}, {Slice(pair), Slice(pair)}, &values);
    const uint64_t end = log_.End();
    const Value first = Found(statuses[0], values[0]);
    EXPECT_EQ(first, Found(statuses[1], values[1])) << "MultiGet saw half of a batch";
    log_.Add(pair, {Kind::kGet, first, begin, end});
  }
  // What the iterators show is the state at a moment of their creation.
  void ReadByIterators() {
    const uint64_t begin = log_.Begin();
    std::vector<Iterator*> made;
    EXPECT_OK(db_->NewIterators({}, {families_[0], families_[1]}, &made));
    const uint64_t end = log_.End();
    const std::unique_ptr<Iterator> first(made[0]);
    const std::unique_ptr<Iterator> second(made[1]);
    const auto at = [](Iterator* it, const std::string& key) {
      it->Seek(key);
      EXPECT_OK(it->status());
      return it->Valid() && it->key() == Slice(key) ? Value(it->value().ToString()) : Value();
    };
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string key = StrCat("key", i);
      log_.Add(key, {Kind::kGet, at(first.get(), key), begin, end});
      const Value pair = at(first.get(), PairOf(key));
      EXPECT_EQ(pair, at(second.get(), PairOf(key))) << "iterators saw half of a batch";
      log_.Add(PairOf(key), {Kind::kGet, pair, begin, end});
    }
  }
  void ReadAtSnapshot(const std::string& key) {
    const uint64_t begin = log_.Begin();
    const Snapshot* const snapshot = db_->GetSnapshot();
    const uint64_t end = log_.End();
    ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const Status status = db_->Get(options, key, &value);
    log_.Add(key, {Kind::kGet, Found(status, value), begin, end});
    std::string values[2];
    Value pair[2];
    for (int i = 0; i < 2; ++i) {
      const Status read = db_->Get(options, families_[i], PairOf(key), &values[i]);
      pair[i] = Found(read, values[i]);
    }
    EXPECT_EQ(pair[0], pair[1]) << "a snapshot saw half of a batch";
    log_.Add(PairOf(key), {Kind::kGet, pair[0], begin, end});
    db_->ReleaseSnapshot(snapshot);
  }
  void ReadMany() {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; ++i) keys.push_back(StrCat("key", i));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    const uint64_t begin = log_.Begin();
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet({}, slices, &values);
    const uint64_t end = log_.End();
    for (size_t i = 0; i < keys.size(); ++i)
      log_.Add(keys[i], {Kind::kGet, Found(statuses[i], values[i]), begin, end});
  }

  DB* const db_;
  ColumnFamilyHandle* const families_[2];
  HistoryRecorder::Log log_;
  Random random_;
  const std::string name_;
};

TEST_F(LinearizabilityTest, OfEveryKeyWhileEverythingElseGoesOn) {
  std::map<std::string, Value> initial;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << ", seed " << kSeed);
    HistoryRecorder recorder;
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < kThreads; ++i)
      clients.push_back(std::make_unique<Client>(
          this, &recorder, kSeed + static_cast<uint64_t>(round * kThreads + i)));
    std::atomic<bool> stop{false};
    std::thread churn([&] { Churn(&stop); });
    std::vector<std::thread> threads;
    for (const auto& client : clients) threads.emplace_back([&client] { client->Run(); });
    for (std::thread& thread : threads) thread.join();
    stop.store(true);
    churn.join();

    CallsByKey calls;
    for (const auto& client : clients) {
      for (const auto& [key, own] : client->calls())
        calls[key].insert(calls[key].end(), own.begin(), own.end());
    }
    for (const auto& [key, of_key] : calls) {
      SCOPED_TRACE(key);
      EXPECT_EQ(CheckLinearizable(of_key, initial[key]), "") << of_key.size() << " calls";
      std::string value;
      const Status status = db_->Get({}, key, &value);
      initial[key] = status.ok() ? Value(value) : Value();
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ashlar
