#include "tools/db_bench/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace ashlar::bench {
namespace {

TEST(KeysTest, AKeyIsItsNumberAndZeros) {
  Flags flags;
  flags.key_size = 12;
  KeyMaker maker(flags, 1000, nullptr);
  EXPECT_EQ(maker.Key(0x0102030405060708u).ToString(),
            std::string("\x01\x02\x03\x04\x05\x06\x07\x08"
                        "0000"));
  EXPECT_EQ(maker.Key(7).ToString(), std::string("\0\0\0\0\0\0\0\x07"
                                                 "0000",
                                                 12));
}

TEST(KeysTest, AShortKeyIsTheNumbersLowBytes) {
  Flags flags;
  flags.key_size = 3;
  KeyMaker maker(flags, 1000, nullptr);
  EXPECT_EQ(maker.Key(0x01020304u).ToString(), "\x02\x03\x04");
}

TEST(KeysTest, KeysShareTheirPrefix) {
  Flags flags;
  flags.key_size = 20;
  flags.prefix_size = 10;
  flags.keys_per_prefix = 10;
  KeyMaker maker(flags, 1000, nullptr);
  EXPECT_EQ(maker.Key(203).ToString(), std::string("\0\0\0\0\0\0\0\x03"
                                                   "00"
                                                   "\0\0\0\0\0\0\0\xcb"
                                                   "00",
                                                   20));
  std::set<std::string> prefixes;
  for (uint64_t i = 0; i < 1000; ++i) prefixes.insert(maker.Key(i).ToString().substr(0, 10));
  EXPECT_EQ(prefixes.size(), 100u);
  EXPECT_FALSE(prefixes.contains(maker.MissingKey(203).ToString().substr(0, 10)));
}

TEST(KeysTest, ExistingKeysAreTakenAsTheyAre) {
  const std::vector<std::string> existing = {"a", "bb"};
  KeyMaker maker(Flags(), 2, &existing);
  EXPECT_EQ(maker.Key(1).ToString(), "bb");
}

TEST(KeysTest, AUniqueRandomFillWritesEveryKeyOnce) {
  Random random(1);
  KeySequence sequence(KeyOrder::kUniqueRandom, 1000, nullptr, 17);
  std::vector<uint64_t> numbers(1000);
  for (uint64_t& number : numbers) number = sequence.Next(&random);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(numbers.begin(), numbers.end());
  std::vector<uint64_t> all(1000);
  std::iota(all.begin(), all.end(), uint64_t{0});
  EXPECT_EQ(numbers, all);
}

TEST(KeysTest, ASequenceLongerThanItsKeysBeginsAnew) {
  Random random(1);
  KeySequence sequence(KeyOrder::kSequential, 3, nullptr, 17);
  std::vector<uint64_t> numbers(7);
  for (uint64_t& number : numbers) number = sequence.Next(&random);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{0, 1, 2, 0, 1, 2, 0}));
}

// Returns the share of the most frequent number among the numbers that the picker draws.
double ShareOfMostFrequent(const KeyPicker& picker, uint64_t count) {
  constexpr int kDraws = 200'000;
  Random random(42);
  std::vector<int> drawn(count);
  for (int i = 0; i < kDraws; ++i) ++drawn.at(picker.PickForRead(&random));
  return static_cast<double>(*std::max_element(drawn.begin(), drawn.end())) / kDraws;
}

TEST(KeysTest, DistributionsDifferInTheirMostFrequentKey) {
  Flags flags;
  EXPECT_NEAR(ShareOfMostFrequent(KeyPicker(flags, 1009), 1009), 1.0 / 1009, 0.0005);
  flags.key_distribution = "zipf";
  flags.zipf_exponent = 1;
  EXPECT_NEAR(ShareOfMostFrequent(KeyPicker(flags, 1009), 1009), 1 / 7.4943,
              0.005);  // 7.4943 is the sum of 1/k for k up to 1009
  flags.key_distribution = "uniform";
  flags.read_random_exp_range = 10;
  // The share of draws whose exp(-10u) is below 1/1009.
  EXPECT_NEAR(ShareOfMostFrequent(KeyPicker(flags, 1009), 1009), 1 - std::log(1009) / 10, 0.005);
}

}  // namespace
}  // namespace ashlar::bench
