// Zipf: draws ranks 1..n, rank k in proportion to k^-exponent, without a table.
//
// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", 1996). The histogram of the weights is under the curve h(x) =
// x^-exponent, shifted by one half. Its integral H has an inverse, so a point under the curve costs
// one uniform number. It is accepted unless it is in the small area above the histogram.
//
//   H(x) = ∫ t^-exponent dt = (x^(1-exponent) - 1) / (1 - exponent), log x for exponent 1
//
// A draw costs one logarithm and one or two exponentials, for every n. Thread safety: const methods
// may be called by several threads, each with its own Random.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace ashlar::bench {

class Zipf {
 public:
  // n at least 1, exponent above 0.
  Zipf(uint64_t n, double exponent);
  uint64_t Draw(Random* random) const;

 private:
  double Weight(double x) const;           // h
  double WeightIntegral(double x) const;   // H
  double InverseIntegral(double y) const;  // of H

  const double n_;
  const double exponent_;
  const double integral_of_first_;  // H(1.5) - h(1): where the points of rank 1 begin
  const double integral_of_last_;   // H(n + 0.5)
  const double always_within_;  // a point at most this far left of its rank is under the histogram
};

}  // namespace ashlar::bench
