// A database with each kind of memtable: the same writes and reads give what the default gives, through flushes, replays and reopening.
#include <fstream>
#include <iterator>

#include "ashlar/convenience.h"
#include "ashlar/slice_transform.h"
#include "base/random.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class MemTableKindsTest : public DatabaseFixture {
 protected:
  void UseKind(const std::string& text) {
    const Status parsed = GetOptionsFromString(options_, text, &options_);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.ToString();
  }
  std::string Log() const {
    std::ifstream file(path() + "/LOG");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
};

using Model = std::map<std::string, std::string>;

std::string Print(const Model& model) {
  std::string text;
  for (const auto& [key, value] : model) text += key + "=" + value + " ";
  return text;
}

const char* const kKinds[] = {
    "memtable_factory=skip_list",
    "memtable_factory=skip_list;prefix_extractor=fixed:3;memtable_prefix_bloom_size_ratio=0.1",
    "memtable_factory=prefix_hash:1000;prefix_extractor=fixed:3",
    "memtable_factory=prefix_hash:2;prefix_extractor=fixed:6;memtable_prefix_bloom_size_ratio=0.25;memtable_whole_key_filtering=true",
    "memtable_factory=hash_linkedlist:10;prefix_extractor=capped:4;memtable_prefix_bloom_size_ratio=0.05",
    "memtable_factory={id=hash_linkedlist;bucket_count=3;threshold=4};prefix_extractor=noop",
    "memtable_factory=vector",
    "memtable_factory=vector:100;memtable_whole_key_filtering=true;memtable_prefix_bloom_size_ratio=0.1",
};

class MemTableKindTest : public MemTableKindsTest, public testing::WithParamInterface<const char*> {
 protected:
  // Every key of the model by Get, and some that are not there.
  void CheckGets(const Model& model, const Snapshot* snapshot, Random* random) {
    for (const auto& [key, value] : model) ASSERT_EQ(Get(key, snapshot), value) << key;
    for (int i = 0; i < 50; ++i) {
      const std::string key = SomeKey(random);
      const auto expected = model.find(key);
      ASSERT_EQ(Get(key, snapshot), expected == model.end() ? "NOT_FOUND" : expected->second) << key;
    }
  }
  std::string Walk(const ReadOptions& options) {
    std::string text;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (it->SeekToFirst(); it->Valid(); it->Next()) text += it->key().ToString() + "=" + it->value().ToString() + " ";
    EXPECT_OK(it->status());
    return text;
  }
  // Keys shorter than the prefixes among them.
  static std::string SomeKey(Random* random) {
    const std::string key = "k" + std::to_string(random->Uniform(40)) + "/" + std::to_string(random->Uniform(12));
    return random->OneIn(20) ? key.substr(0, random->Uniform(4)) : key;
  }
};

TEST_P(MemTableKindTest, WhatIsWrittenIsReadFlushedReplayedAndReopened) {
  const uint64_t seed = 20261121;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << seed);
  UseKind(GetParam());
  options_.write_buffer_size = 64 << 10;  // flushes happen on the way
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  Open();
  Random random(seed);
  ReadOptions total_order;
  total_order.total_order_seek = true;
  Model model;
  for (int round = 0; round < 4 && !HasFailure(); ++round) {
    Model at_snapshot;
    const Snapshot* snapshot = nullptr;
    for (int i = 0; i < 1500; ++i) {
      if (i == 700) {
        snapshot = db_->GetSnapshot();
        at_snapshot = model;
      }
      const std::string key = SomeKey(&random);
      if (random.OneIn(4)) {
        Delete(key);
        model.erase(key);
      } else if (random.OneIn(6)) {
        Merge(key, "m");
        std::string& value = model[key];
        value += value.empty() ? "m" : ",m";
      } else {
        const std::string value = std::to_string(i) + random.Bytes(random.Uniform(60));
        Put(key, value);
        model[key] = value;
      }
    }
    CheckGets(model, nullptr, &random);
    CheckGets(at_snapshot, snapshot, &random);
    EXPECT_EQ(Walk(total_order), Print(model));
    total_order.snapshot = snapshot;
    EXPECT_EQ(Walk(total_order), Print(at_snapshot));
    total_order.snapshot = nullptr;
    db_->ReleaseSnapshot(snapshot);
    if (round == 1) Flush();
    if (round == 2) CompactAll();
    Open();
    CheckGets(model, nullptr, &random);
    EXPECT_EQ(Walk(total_order), Print(model));
  }
}

TEST_P(MemTableKindTest, ARefreshedIteratorSeesWhatWasWrittenMeanwhile) {
  UseKind(GetParam());
  Open();
  Put("key/1", "a");
  ReadOptions total_order;
  total_order.total_order_seek = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(total_order));
  for (int i = 2; i < 20; ++i) {
    int entries = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++entries;
    EXPECT_EQ(entries, i - 1);
    Put("key/" + std::to_string(i), "a");
    ASSERT_OK(it->Refresh());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemTableKindTest, testing::ValuesIn(kKinds));

TEST_F(MemTableKindsTest, WithoutPrefixesBucketsAreATreeAndTheLogSaysSo) {
  UseKind("memtable_factory=prefix_hash:100");
  Open();
  Put("b", "2");
  Put("a", "1");
  EXPECT_EQ(Contents(), "a=1 b=2 ");
  EXPECT_NE(Log().find("memtable_factory={id=HashSkipListRepFactory;branching_factor=4;skiplist_height=4;bucket_count=100;} (default) for want of a "
                       "prefix_extractor"),
            std::string::npos)
      << Log();
}

TEST_F(MemTableKindsTest, AFilterIsTurnedOnWhileTheDatabaseIsOpen) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->SetOptions({{"memtable_prefix_bloom_size_ratio", "0.1"}, {"memtable_whole_key_filtering", "true"}}));
  Flush();
  Put("b", "2");
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
  EXPECT_EQ(Get("c"), "NOT_FOUND");
}

TEST_F(MemTableKindsTest, AFactoryOfTheProgramIsRefused) {
  class Own final : public MemTableRepFactory {
   public:
    const char* Name() const override { return "SkipListFactory"; }
  };
  options_.memtable_factory = std::make_shared<Own>();
  const Status status = TryOpen();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("memtable_factory"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
