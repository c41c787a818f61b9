// A database with each kind of memtable. The same writes and reads have the same results as with
// the default kind, through flushes, replays and reopening.
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
    "memtable_factory=prefix_hash:2;prefix_extractor=fixed:6;memtable_prefix_bloom_size_ratio=0.25;"
    "memtable_whole_key_filtering=true",
    "memtable_factory=hash_linkedlist:10;prefix_extractor=capped:4;memtable_prefix_bloom_size_"
    "ratio=0.05",
    "memtable_factory={id=hash_linkedlist;bucket_count=3;threshold=4};prefix_extractor=noop",
    "memtable_factory=vector",
    "memtable_factory=vector:100;memtable_whole_key_filtering=true;memtable_prefix_bloom_size_"
    "ratio=0.1",
};

class MemTableKindTest : public MemTableKindsTest, public testing::WithParamInterface<const char*> {
 protected:
  // Gets every key of the model, and some keys that do not exist.
  void CheckGets(const Model& model, const Snapshot* snapshot, Random* random) {
    for (const auto& [key, value] : model) ASSERT_EQ(Get(key, snapshot), value) << key;
    for (int i = 0; i < 50; ++i) {
      const std::string key = SomeKey(random);
      const auto expected = model.find(key);
      ASSERT_EQ(Get(key, snapshot), expected == model.end() ? "NOT_FOUND" : expected->second)
          << key;
    }
  }
  std::string Walk(const ReadOptions& options) {
    std::string text;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    EXPECT_OK(it->status());
    return text;
  }
  // Returns a random key. Some are shorter than the prefixes.
  static std::string SomeKey(Random* random) {
    const std::string key =
        "k" + std::to_string(random->Uniform(40)) + "/" + std::to_string(random->Uniform(12));
    return random->OneIn(20) ? key.substr(0, random->Uniform(4)) : key;
  }
};

TEST_P(MemTableKindTest, WhatIsWrittenIsReadFlushedReplayedAndReopened) {
  const uint64_t seed = 20261121;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << seed);
  UseKind(GetParam());
  options_.write_buffer_size = 64 << 10;  // so that flushes happen during the test
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

// Iterates from a target and back in each mode that uses prefixes, and finds exactly the keys with
// the target's prefix. With auto_prefix_mode and a bound, it finds all keys.
TEST_P(MemTableKindTest, PrefixesAreWalkedExactlyInBothDirections) {
  const uint64_t seed = 20261122;
  SCOPED_TRACE(testing::Message() << GetParam() << ", seed " << seed);
  UseKind(GetParam());
  options_.write_buffer_size = 64 << 10;
  Open();
  const SliceTransform* const transform = options_.prefix_extractor.get();
  Random random(seed);
  Model model;
  for (int round = 0; round < 1200 && !HasFailure(); ++round) {
    const std::string key = SomeKey(&random);
    if (random.OneIn(4)) {
      Delete(key);
      model.erase(key);
    } else {
      model[key] = std::string(random.Uniform(50), 'v');
      Put(key, model[key]);
    }
    if (round % 10 != 0) continue;
    const std::string target = SomeKey(&random);
    const bool in_domain = transform != nullptr && transform->InDomain(target);
    const auto is_within = [&](const Slice& k) {
      return !in_domain ||
             (transform->InDomain(k) && transform->Transform(k) == transform->Transform(target));
    };
    std::vector<std::string> expected;
    for (auto it = model.lower_bound(target); it != model.end() && is_within(it->first); ++it)
      expected.push_back(it->first);

    for (const bool same_as_start : {false, true}) {
      ReadOptions options;
      options.prefix_same_as_start = same_as_start;
      const std::unique_ptr<Iterator> it(db_->NewIterator(options));
      std::vector<std::string> met;
      for (it->Seek(target); it->Valid() && is_within(it->key()); it->Next())
        met.push_back(it->key().ToString());
      ASSERT_EQ(met, expected) << target;
      if (met.empty()) continue;
      it->Seek(target);
      for (size_t i = 1; i < met.size(); ++i) it->Next();
      for (size_t i = met.size(); i-- > 0; it->Prev()) {
        ASSERT_TRUE(it->Valid()) << target;
        ASSERT_EQ(it->key().ToString(), met[i]);
      }
      it->SeekForPrev(met.back());
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), met.back());
      it->SeekToFirst();
      if (!same_as_start) {
        std::string text;
        for (; it->Valid(); it->Next())
          text += it->key().ToString() + "=" + it->value().ToString() + " ";
        EXPECT_EQ(text, Print(model));
      }
    }

    std::string bound = SomeKey(&random);
    if (random.OneIn(2) && in_domain) {
      bound = transform->Transform(target).ToString();
      if (!bound.empty()) ++bound.back();
    }
    const Slice upper_bound = bound;
    ReadOptions options;
    options.auto_prefix_mode = true;
    options.iterate_upper_bound = &upper_bound;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    auto at = model.lower_bound(target);
    it->Seek(target);
    for (int step = 0; step < 30 && it->Valid(); ++step) {
      ASSERT_TRUE(at != model.end() && at->first < bound);
      ASSERT_EQ(it->key().ToString(), at->first);
      if (at == model.begin() || random.OneIn(2)) {
        it->Next();
        ++at;
      } else {
        it->Prev();
        --at;
      }
    }
    if (!it->Valid()) {
      EXPECT_TRUE(at == model.end() || at->first >= bound) << target << " below " << bound;
    }
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
  EXPECT_NE(Log().find("memtable_factory={id=HashSkipListRepFactory;branching_factor=4;skiplist_"
                       "height=4;bucket_count=100;} of column family default "
                       "for want of a "
                       "prefix_extractor"),
            std::string::npos)
      << Log();
}

TEST_F(MemTableKindsTest, AFilterIsTurnedOnWhileTheDatabaseIsOpen) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->SetOptions(
      {{"memtable_prefix_bloom_size_ratio", "0.1"}, {"memtable_whole_key_filtering", "true"}}));
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
