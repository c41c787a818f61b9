// Prefixes against a std::map. Random histories over keys whose prefixes collide, nest and end in
// 0xff run with prefix extractors that change while the database is open, and are read in every
// mode. A failure prints the seed, which ASHLAR_MODEL_SEED repeats.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "base/random.h"
#include "tests/support/check_invariants.h"
#include "tests/support/from_environment.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

// The key up to and including the first '/'. Keys without '/' are outside the domain.
class FirstPart final : public SliceTransform {
 public:
  const char* Name() const override { return "test.FirstPart"; }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), key.ToStringView().find('/') + 1);
  }
  bool InDomain(const Slice& key) const override {
    return key.ToStringView().find('/') != std::string_view::npos;
  }
};

using TransformPtr = std::shared_ptr<const SliceTransform>;

struct KeyOrder {
  const Comparator* comparator = BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, KeyOrder>;

struct Scenario {
  const char* name;
  std::vector<std::string> extractors;  // ids; "FirstPart" is the test's own
  bool whole_keys = true;
  bool reverse = false;
  bool settable = true;  // SetOptions may change the extractor
  // memtable_factory, with a bloom filter. Null: the default without one.
  const char* memtable = nullptr;
};

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> kScenarios = {
      {.name = "Fixed", .extractors = {"fixed:2"}},
      {.name = "FixedWithoutWholeKeys", .extractors = {"fixed:3"}, .whole_keys = false},
      {.name = "Capped", .extractors = {"capped:2"}},
      {.name = "WholeKeysAsPrefixes", .extractors = {"noop"}, .whole_keys = false},
      {.name = "OfTheProgram", .extractors = {"FirstPart"}, .whole_keys = false, .settable = false},
      {.name = "Reverse",
       .extractors = {"fixed:2", "capped:3"},
       .whole_keys = false,
       .reverse = true},
      {.name = "FilteredTrees", .extractors = {"fixed:2", "capped:3"}, .memtable = "skip_list"},
      {.name = "Buckets",
       .extractors = {"fixed:2", "fixed:1", "capped:3", "noop"},
       .memtable = "prefix_hash:10"},
      {.name = "BucketLists",
       .extractors = {"fixed:3", "capped:2"},
       .whole_keys = false,
       .reverse = true,
       .memtable = "hash_linkedlist"},
      {.name = "Changing",
       .extractors = {"fixed:1", "fixed:2", "fixed:3", "capped:2", "nullptr"},
       .whole_keys = false},
      {.name = "ChangingWithTheProgramsOwn",
       .extractors = {"FirstPart", "fixed:2", "nullptr"},
       .settable = false},
  };
  return kScenarios;
}

TransformPtr MakeTransform(const std::string& id) {
  if (id == "FirstPart") return std::make_shared<FirstPart>();
  TransformPtr made;
  EXPECT_TRUE(SliceTransform::CreateFromString(ConfigOptions(), id, &made).ok()) << id;
  return made;
}

std::optional<std::string> PrefixOf(const SliceTransform* transform, const std::string& key) {
  if (transform == nullptr || !transform->InDomain(key)) return std::nullopt;
  return transform->Transform(key).ToString();
}

enum class Mode { kTotalOrder, kAuto, kPrefix, kSameAsStart };

class PrefixModelTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    seed_ = FromEnvironment("ASHLAR_MODEL_SEED", 20261121 + GetParam());
    random_ = std::make_unique<Random>(seed_);
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 4 << 10;
    options_.max_bytes_for_level_base = 16 << 10;
    options_.max_bytes_for_level_multiplier = 3;
    options_.compression = kNoCompression;
    options_.max_sequential_skip_in_iterations = 2;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.statistics = CreateDBStatistics();
    if (scenario().reverse) options_.comparator = ReverseBytewiseComparator();
    if (scenario().memtable != nullptr) {
      ASSERT_TRUE(GetOptionsFromString(
                      options_, std::string("memtable_factory=") + scenario().memtable, &options_)
                      .ok());
      options_.memtable_prefix_bloom_size_ratio = 0.1;
    }
    BlockBasedTableOptions table;
    table.block_size = 256;
    table.filter_policy.reset(NewBloomFilterPolicy(12));
    table.whole_key_filtering = scenario().whole_keys;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    model_ = Model(KeyOrder{options_.comparator});
    Reopen();
  }
  void TearDown() override { ReleaseSnapshot(); }

  const Scenario& scenario() const { return Scenarios()[GetParam()]; }
  const std::string& RandomExtractor() {
    return scenario().extractors[random_->Uniform(scenario().extractors.size())];
  }
  void Reopen() {
    ReleaseSnapshot();
    db_.reset();
    extractor_ = MakeTransform(RandomExtractor());
    options_.prefix_extractor = extractor_;
    const Status opened = DB::Open(options_, scratch_.File("db"), &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    CheckInvariants(db_.get());
  }
  void ReleaseSnapshot() {
    if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
    snapshot_ = nullptr;
  }
  void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  std::string RandomKey() {
    static const std::string kBytes = std::string("\x00", 1) + "ab/\xfe\xff";
    std::string key;
    for (uint64_t n = random_->Uniform(6); n > 0; --n)
      key += kBytes[random_->Uniform(kBytes.size())];
    return key;
  }

  // Deletes mostly the keys that begin with this one.
  void DeleteSomeRange(const std::string& key) {
    if (key.empty() && !random_->OneIn(8)) return;
    std::string begin = key;
    std::string end = random_->OneIn(8) ? RandomKey() : key + "\xff\xff";
    if (options_.comparator->Compare(begin, end) > 0) begin.swap(end);
    Check(db_->DeleteRange(WriteOptions(), begin, end));
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }

  void WriteSomething() {
    const std::string key = RandomKey();
    switch (random_->Uniform(7)) {
      case 6: DeleteSomeRange(key); break;
      case 0:
      case 1:
        Check(db_->Delete(WriteOptions(), key));
        model_.erase(key);
        break;
      case 2: {
        const std::string operand = std::to_string(random_->Uniform(100));
        Check(db_->Merge(WriteOptions(), key, operand));
        const auto [found, inserted] = model_.try_emplace(key, operand);
        if (!inserted) found->second += "," + operand;
        break;
      }
      default: {
        const std::string value =
            std::to_string(random_->Next()) + std::string(random_->Uniform(60), 'v');
        Check(db_->Put(WriteOptions(), key, value));
        model_[key] = value;
      }
    }
  }

  void Upheaval() {
    switch (random_->Uniform(6)) {
      case 0:
      case 1: Check(db_->Flush(FlushOptions())); break;
      case 2: Check(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); break;
      case 3: Reopen(); break;
      case 4:
        ReleaseSnapshot();
        snapshot_ = db_->GetSnapshot();
        snapshot_model_ = model_;
        break;
      default:
        if (!scenario().settable) break;
        const std::string& id = RandomExtractor();
        Check(db_->SetOptions({{"prefix_extractor", id}}));
        extractor_ = MakeTransform(id);
        ASSERT_EQ(db_->GetOptions().prefix_extractor == nullptr, extractor_ == nullptr);
    }
    CheckInvariants(db_.get());
  }

  void CompareGets() {
    for (int i = 0; i < 20; ++i) {
      const std::string key = RandomKey();
      std::string value;
      const Status status = db_->Get(ReadOptions(), key, &value);
      const auto expected = model_.find(key);
      ASSERT_EQ(status.ok(), expected != model_.end())
          << Slice(key).ToString(true) << " " << status.ToString();
      if (status.ok()) {
        ASSERT_EQ(value, expected->second);
      }
    }
  }

  // Uses one iterator in one mode, with random bounds, for several scans, some of them after a
  // refresh.
  void CompareMode(Mode mode) {
    ReadOptions read;
    read.total_order_seek = mode == Mode::kTotalOrder;
    read.auto_prefix_mode = mode == Mode::kAuto;
    read.prefix_same_as_start = mode == Mode::kSameAsStart;
    const bool old = snapshot_ != nullptr && random_->OneIn(3);
    if (old) read.snapshot = snapshot_;
    std::string lower = RandomKey();
    std::string upper = RandomKey();
    Slice lower_slice;
    Slice upper_slice;
    const auto draw_bounds = [&](const std::string& target) {
      lower = RandomKey();
      upper = RandomKey();
      // Filters can be used with bounds near the target.
      if (random_->OneIn(2)) {
        upper = target + static_cast<char>(random_->Next());
        if (random_->OneIn(2)) upper.resize(random_->Uniform(upper.size() + 1));
        if (!upper.empty() && random_->OneIn(2)) upper.back() = static_cast<char>(upper.back() + 1);
      }
      lower_slice = lower;
      upper_slice = upper;
    };
    if (random_->OneIn(3)) read.iterate_lower_bound = &lower_slice;
    if (random_->OneIn(2)) read.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    TransformPtr extractor = extractor_;
    Model model = old ? snapshot_model_ : model_;
    for (int walk = 0; walk < 6 && !HasFailure(); ++walk) {
      if (!old && random_->OneIn(4)) {
        for (int i = 0; i < 3; ++i) WriteSomething();
        if (random_->OneIn(4)) Check(db_->Flush(FlushOptions()));
        Check(it->Refresh());
        model = model_;
        extractor = extractor_;
      }
      const std::string target = RandomKey();
      draw_bounds(target);
      Model seen(model.key_comp());
      for (const auto& [key, value] : model) {
        if (read.iterate_lower_bound != nullptr &&
            options_.comparator->Compare(key, lower_slice) < 0)
          continue;
        if (read.iterate_upper_bound != nullptr &&
            options_.comparator->Compare(key, upper_slice) >= 0)
          continue;
        seen.emplace(key, value);
      }
      Walk(it.get(), mode, seen, extractor.get(), target);
    }
  }

  // Moves in random directions, and compares each step with the model.
  void Walk(Iterator* it, Mode mode, const Model& model, const SliceTransform* extractor,
            const std::string& target) {
    auto expected = model.end();
    std::optional<std::string> prefix;  // outside it the mode shows nothing, or anything
    const auto before = [&](Model::const_iterator i) {
      return i == model.begin() ? model.end() : std::prev(i);
    };
    const uint64_t start = random_->Uniform(6);
    if (start == 0) {
      it->SeekToFirst();
      expected = model.begin();
    } else if (start == 1) {
      it->SeekToLast();
      expected = before(model.end());
    } else if (start < 5) {
      it->Seek(target);
      expected = model.lower_bound(target);
    } else {
      it->SeekForPrev(target);
      expected = before(model.upper_bound(target));
    }
    if (mode == Mode::kPrefix && start >= 2) prefix = PrefixOf(extractor, target);
    if (mode == Mode::kSameAsStart) {
      if (start >= 2) prefix = PrefixOf(extractor, target);
      if (start < 2 && expected != model.end()) prefix = PrefixOf(extractor, expected->first);
    }
    const bool turns = random_->OneIn(2);
    for (int step = 0; step < 40; ++step) {
      const bool inside =
          expected != model.end() && (!prefix || PrefixOf(extractor, expected->first) == prefix);
      if (!inside && prefix && mode == Mode::kPrefix) return WalkOnInOrder(it);
      ASSERT_EQ(it->Valid(), inside)
          << Describe(it, target) << " start " << start << " step " << step;
      Check(it->status());
      if (!it->Valid()) return;
      ASSERT_EQ(it->key().ToString(true), Slice(expected->first).ToString(true))
          << Describe(it, target) << " start " << start << " step " << step;
      ASSERT_EQ(it->value().ToString(), expected->second);
      const bool back = turns ? random_->OneIn(3) : start == 1 || start == 5;
      if (back) {
        it->Prev();
        expected = before(expected);
      } else {
        it->Next();
        ++expected;
      }
    }
  }

  // Outside the prefix, any keys may be shown, but in order.
  void WalkOnInOrder(Iterator* it) {
    const bool forward = random_->OneIn(2);
    std::optional<std::string> last;
    for (int step = 0; step < 20 && it->Valid(); ++step) {
      const std::string key = it->key().ToString();
      if (last) {
        ASSERT_TRUE((options_.comparator->Compare(*last, key) < 0) == forward && *last != key);
      }
      last = key;
      forward ? it->Next() : it->Prev();
    }
    Check(it->status());
  }

  std::string Describe(Iterator* it, const std::string& target) const {
    return "target " + Slice(target).ToString(true) +
           (it->Valid() ? " at " + it->key().ToString(true) : " not valid") + " extractor " +
           (extractor_ == nullptr ? "none" : extractor_->GetId());
  }

  ScratchDirectory scratch_;
  uint64_t seed_ = 0;
  std::unique_ptr<Random> random_;
  Options options_;
  TransformPtr extractor_;
  Model model_;
  std::unique_ptr<DB> db_;
  const Snapshot* snapshot_ = nullptr;
  Model snapshot_model_;
};

TEST_P(PrefixModelTest, HistoriesAgree) {
  SCOPED_TRACE("ASHLAR_MODEL_SEED=" + std::to_string(seed_));
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    WriteSomething();
    if (random_->OneIn(60)) Upheaval();
    if (random_->OneIn(20)) {
      for (const Mode mode : {Mode::kTotalOrder, Mode::kAuto, Mode::kPrefix, Mode::kSameAsStart})
        CompareMode(mode);
      CompareGets();
    }
  }
  // The filters were used.
  EXPECT_GT(options_.statistics->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 50u);
}

INSTANTIATE_TEST_SUITE_P(Extractors, PrefixModelTest,
                         ::testing::Range<size_t>(0, Scenarios().size()),
                         [](const ::testing::TestParamInfo<size_t>& scenario) {
                           return Scenarios()[scenario.param].name;
                         });

}  // namespace
}  // namespace ashlar
