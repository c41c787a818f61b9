#include "tools/db_bench/zipf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ashlar::bench {
namespace {

// Every rank is drawn in proportion to its weight, within five standard deviations.
TEST(ZipfTest, RanksComeInProportionToTheirWeights) {
  constexpr uint64_t kSeed = 4711;
  constexpr int kDraws = 400'000;
  for (const double exponent : {0.5, 0.99, 1.0, 1.2, 2.0}) {
    for (const uint64_t n : {1u, 2u, 3u, 50u}) {
      SCOPED_TRACE(testing::Message()
                   << "exponent " << exponent << " n " << n << " seed " << kSeed);
      const Zipf zipf(n, exponent);
      Random random(kSeed);
      std::vector<int> drawn(n + 1);
      for (int i = 0; i < kDraws; ++i) {
        const uint64_t rank = zipf.Draw(&random);
        ASSERT_GE(rank, 1u);
        ASSERT_LE(rank, n);
        ++drawn[rank];
      }
      double weights = 0;
      for (uint64_t k = 1; k <= n; ++k) weights += std::pow(static_cast<double>(k), -exponent);
      for (uint64_t k = 1; k <= n; ++k) {
        const double p = std::pow(static_cast<double>(k), -exponent) / weights;
        EXPECT_NEAR(drawn[k], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p)) + 1e-9)
            << "rank " << k;
      }
    }
  }
}

TEST(ZipfTest, ManyRanksNeedNoTable) {
  const Zipf zipf(1'000'000'000'000, 0.99);
  Random random(1);
  uint64_t largest = 0;
  for (int i = 0; i < 1000; ++i) largest = std::max(largest, zipf.Draw(&random));
  EXPECT_GT(largest, 1'000'000'000u);
  EXPECT_LE(largest, 1'000'000'000'000u);
}

}  // namespace
}  // namespace ashlar::bench
