#include "tools/db_bench/zipf.h"

#include <algorithm>
#include <cmath>

namespace ashlar::bench {
namespace {

// log(1 + x) / x and (exp(x) - 1) / x, which both tend to 1 at 0. H and its inverse consist of
// them, even if exponent is 1.
double LogRatio(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }
double ExpRatio(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }

}  // namespace

Zipf::Zipf(uint64_t n, double exponent)
    : n_(static_cast<double>(n)),
      exponent_(exponent),
      integral_of_first_(WeightIntegral(1.5) - 1),
      integral_of_last_(WeightIntegral(n_ + 0.5)),
      always_within_(2 - InverseIntegral(WeightIntegral(2.5) - Weight(2))) {}

double Zipf::Weight(double x) const { return std::exp(-exponent_ * std::log(x)); }

double Zipf::WeightIntegral(double x) const {
  const double log_x = std::log(x);
  return ExpRatio((1 - exponent_) * log_x) * log_x;
}

double Zipf::InverseIntegral(double y) const {
  const double t = std::max(-1.0, y * (1 - exponent_));
  return std::exp(LogRatio(t) * y);
}

uint64_t Zipf::Draw(Random* random) const {
  for (;;) {
    const double u =
        integral_of_last_ + random->NextDouble() * (integral_of_first_ - integral_of_last_);
    const double x = InverseIntegral(u);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, n_);
    if (rank - x <= always_within_ || u >= WeightIntegral(rank + 0.5) - Weight(rank))
      return static_cast<uint64_t>(rank);
  }
}

}  // namespace ashlar::bench
