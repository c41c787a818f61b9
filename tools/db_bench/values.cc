#include "tools/db_bench/values.h"

#include <algorithm>
#include <cmath>

namespace ashlar::bench {
namespace {

constexpr size_t kTextBytesMin = 1 << 20;
constexpr size_t kPieceBytes = 100;

void AppendPiece(double ratio, Random* random, std::string* text) {
  const double wanted = std::round(ratio * static_cast<double>(kPieceBytes));
  const auto random_bytes =
      static_cast<size_t>(std::clamp(wanted, 1.0, static_cast<double>(kPieceBytes)));
  const size_t begin = text->size();
  // Printable characters, as in texts: ' ' to '~'.
  for (size_t i = 0; i < random_bytes; ++i)
    text->push_back(static_cast<char>(' ' + random->Uniform(95)));
  for (size_t i = random_bytes; i < kPieceBytes; ++i)
    text->push_back((*text)[begin + i % random_bytes]);
}

}  // namespace

ValueMaker::ValueMaker(const Flags& flags, uint64_t seed)
    : size_min_(static_cast<size_t>(flags.value_size)),
      size_max_(size_min_),
      normal_(flags.value_size_distribution_type == "normal"),
      random_(seed) {
  if (flags.value_size_distribution_type != "fixed") {
    size_min_ = static_cast<size_t>(flags.value_size_min);
    size_max_ = static_cast<size_t>(flags.value_size_max);
  }
  const size_t bytes = std::max(kTextBytesMin, size_max_);
  text_.reserve(bytes + kPieceBytes);
  while (text_.size() < bytes) AppendPiece(flags.compression_ratio, &random_, &text_);
}

size_t ValueMaker::DrawSize() {
  if (!normal_) return random_.Between(size_min_, size_max_);
  // All but three in a thousand sizes are within the limits. The sum of twelve uniform numbers has
  // variance 1 and is close enough to normal here.
  double deviations = -6;
  for (int i = 0; i < 12; ++i) deviations += random_.NextDouble();
  const auto low = static_cast<double>(size_min_);
  const auto high = static_cast<double>(size_max_);
  return static_cast<size_t>(
      std::clamp((low + high) / 2 + deviations * (high - low) / 6, low, high));
}

}  // namespace ashlar::bench
