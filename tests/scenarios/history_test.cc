// Random histories on either engine and on a std::map, in three orders, compared after each step. A
// failure prints the seed, and ASHLAR_SCENARIO_SEED repeats it.
#include <map>

#include "base/random.h"
#include "tests/scenarios/scenario_fixture.h"
#include "tests/support/comparators.h"
#include "tests/support/from_environment.h"

namespace ashlar::scenarios {
namespace {

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, Less>;

class HistoryScenario : public ::testing::TestWithParam<std::tuple<EngineKind, size_t>> {
 protected:
  HistoryScenario() {
    seed_ = FromEnvironment("ASHLAR_SCENARIO_SEED", 900 + order_);
    random_ = Random(seed_);
  }

  std::string RandomKey() {
    if (random_.OneIn(4)) return random_.Bytes(random_.Uniform(6));
    std::string digits = std::to_string(random_.Uniform(3000));
    return std::string(8 - digits.size(), '0') + digits;
  }
  std::string RandomValue() {
    return random_.Bytes(random_.OneIn(20) ? random_.Uniform(3000) : random_.Uniform(40));
  }

  void PutOrDelete(bool growing) {
    const std::string key = RandomKey();
    if (random_.Uniform(100) < (growing ? 75U : 25U)) {
      model_[key] = RandomValue();
      ASSERT_OK(engine_->Put(key, model_[key]));
    } else {
      model_.erase(key);
      ASSERT_OK(engine_->Delete(key));
    }
  }

  void WriteBatchOfMany() {
    WriteBatch batch;
    const uint64_t records = random_.OneIn(10) ? 300 : random_.Uniform(12);
    for (uint64_t i = 0; i < records; ++i) {
      const std::string key = RandomKey();
      if (random_.OneIn(30)) {
        std::string begin = key;
        std::string end = random_.OneIn(3) ? RandomKey() : key + "5";
        if (model_.key_comp()(end, begin)) std::swap(begin, end);
        ASSERT_OK(batch.DeleteRange(begin, end));
        model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
      } else if (random_.OneIn(3)) {
        ASSERT_OK(batch.Delete(key));
        model_.erase(key);
      } else {
        model_[key] = RandomValue();
        ASSERT_OK(batch.Put(key, model_[key]));
      }
    }
    ASSERT_OK(engine_->Write(&batch));
  }

  void Step(uint64_t step) {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 900) {
      PutOrDelete(step / 1500 % 2 == 0);
    } else if (dice < 990) {
      WriteBatchOfMany();
    } else if (dice < 996) {
      ASSERT_OK(engine_->Rearrange(random_.Next()));
    } else {
      ASSERT_OK(engine_->Open(request_));
    }
    const std::string probe = RandomKey();
    const auto expected = model_.find(probe);
    PinnableSlice found;
    const Status status = engine_->Get(ReadOptions(), probe, &found);
    ASSERT_EQ(status.ok(), expected != model_.end()) << status.ToString();
    if (status.ok()) {
      ASSERT_EQ(found, Slice(expected->second));
    }
  }

  void CompareWholeContents() {
    const std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
    it->SeekToFirst();
    for (const auto& [key, value] : model_) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(true), Slice(key).ToString(true));
      ASSERT_EQ(it->value(), Slice(value));
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto entry = model_.rbegin(); entry != model_.rend(); ++entry) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(true), Slice(entry->first).ToString(true));
      it->Prev();
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_OK(it->status());
  }

  // Iterates with random changes of direction, and compares each step with the model.
  void CompareWalk() {
    const std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
    const std::string target = RandomKey();
    auto expected = model_.lower_bound(target);
    if (random_.OneIn(2)) {
      it->Seek(target);
    } else {
      it->SeekForPrev(target);
      expected = model_.upper_bound(target);
      expected = expected == model_.begin() ? model_.end() : std::prev(expected);
    }
    for (int step = 0; step < 60; ++step) {
      ASSERT_EQ(it->Valid(), expected != model_.end()) << it->status().ToString();
      if (!it->Valid()) return;
      ASSERT_EQ(it->key().ToString(true), Slice(expected->first).ToString(true));
      ASSERT_EQ(it->value(), Slice(expected->second));
      if (random_.OneIn(2)) {
        it->Next();
        ++expected;
      } else {
        it->Prev();
        expected = expected == model_.begin() ? model_.end() : std::prev(expected);
      }
    }
  }

  const EngineKind kind_ = std::get<0>(GetParam());
  const size_t order_ = std::get<1>(GetParam());
  uint64_t seed_ = 0;
  Random random_{0};
  ScratchDirectory scratch_;
  OpenRequest request_{.comparator = TestComparators()[order_].comparator};
  Model model_{Less{request_.comparator}};
  std::unique_ptr<Engine> engine_ = kind_.make(scratch_.path());
};

TEST_P(HistoryScenario, AgreesWithAMapAtEveryStep) {
  SCOPED_TRACE("ASHLAR_SCENARIO_SEED=" + std::to_string(seed_));
  ASSERT_OK(engine_->Open(request_));
  for (uint64_t step = 0; step < 12000 && !HasFatalFailure(); ++step) {
    Step(step);
    if (step % 100 == 0) CompareWalk();
    if (step % 1000 == 0) CompareWholeContents();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
  ASSERT_OK(engine_->Open(request_));
  CompareWholeContents();
  ASSERT_OK(engine_->Verify());
}

std::string HistoryName(const ::testing::TestParamInfo<HistoryScenario::ParamType>& history) {
  constexpr const char* kOrders[] = {"Bytewise", "Reverse", "LengthFirst"};
  const auto& [kind, order] = history.param;
  return std::string(kind.name) + kOrders[order];
}

INSTANTIATE_TEST_SUITE_P(Engines, HistoryScenario,
                         ::testing::Combine(::testing::ValuesIn(EngineKinds()),
                                            ::testing::Range(size_t{0}, size_t{3})),
                         HistoryName);

}  // namespace
}  // namespace ashlar::scenarios
