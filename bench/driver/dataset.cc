#include "bench/driver/dataset.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "bench/driver/fail.h"

namespace ashlar::bench {

namespace {

// Small enough to stay in the second-level cache.
constexpr size_t kPoolBytes = 256 << 10;
// Half of each piece is random, the other half repeats it.
constexpr size_t kPieceBytes = 100;

void PutBigEndian(uint64_t number, char* to) {
  if constexpr (std::endian::native == std::endian::little) number = __builtin_bswap64(number);
  std::memcpy(to, &number, sizeof(number));
}

}  // namespace

uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = seed = Mix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t limit) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * limit) >> 64);
}

double Random::Fraction() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

Dataset::Dataset(const DatasetOptions& options) : options_(options) {
  const size_t key_bytes_min = options.layout == KeyLayout::kGrouped ? options.prefix_bytes + 8 : 8;
  if (options.key_bytes < key_bytes_min)
    Fail("keys of this layout need at least " + std::to_string(key_bytes_min) + " bytes");
  if (options.layout == KeyLayout::kGrouped && options.prefix_bytes < 8)
    Fail("a prefix needs at least 8 bytes");
  if (options.num == 0 || options.num > UINT32_MAX) Fail("--num must be between 1 and 2^32 - 1");
  if (options.group == 0) Fail("--group must be at least 1");

  key_template_.assign(options.key_bytes, options.layout == KeyLayout::kPrefixed ? 'p' : '0');

  Random random(options.seed + 0x706f6f6c);
  std::string piece(kPieceBytes, '\0');
  while (pool_.size() < kPoolBytes + options.value_bytes) {
    for (size_t i = 0; i < kPieceBytes / 2; i++)
      piece[i] = piece[i + kPieceBytes / 2] = static_cast<char>(random.Next());
    pool_ += piece;
  }
}

void Dataset::MakeDoubledKey(uint64_t doubled, char* key) const {
  std::memcpy(key, key_template_.data(), key_template_.size());
  switch (options_.layout) {
    case KeyLayout::kPlain: PutBigEndian(doubled, key); break;
    case KeyLayout::kPrefixed: PutBigEndian(doubled, key + options_.key_bytes - 8); break;
    case KeyLayout::kGrouped:
      // The odd numbers, of missing keys, get an existing prefix and a missing ending.
      PutBigEndian(doubled / 2 / options_.group, key);
      PutBigEndian(doubled / 2 % options_.group * 2 + doubled % 2, key + options_.key_bytes - 8);
      break;
    case KeyLayout::kRandom: {
      uint64_t bits = doubled;
      size_t at = 0;
      for (; at + 8 <= options_.key_bytes; at += 8) {
        bits = Mix(bits);  // one to one, so that no two keys begin alike
        PutBigEndian(bits, key + at);
      }
      std::memset(key + at, static_cast<int>(bits & 0xff), options_.key_bytes - at);
      break;
    }
  }
}

void Dataset::MakeKey(uint64_t number, char* key) const { MakeDoubledKey(2 * number, key); }

void Dataset::MakeMissingKey(uint64_t number, char* key) const {
  MakeDoubledKey(2 * number + 1, key);
}

std::string_view Dataset::Value(uint64_t number, uint64_t generation) const {
  const uint64_t at = Mix(number * 2 + generation) % kPoolBytes;
  return {pool_.data() + at, options_.value_bytes};
}

std::vector<uint32_t> InOrder(uint64_t num) {
  std::vector<uint32_t> numbers(num);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

std::vector<uint32_t> Shuffled(uint64_t num, uint64_t seed) {
  std::vector<uint32_t> numbers = InOrder(num);
  Random random(seed);
  for (size_t i = numbers.size(); i > 1; i--) std::swap(numbers[i - 1], numbers[random.Below(i)]);
  return numbers;
}

std::vector<uint32_t> Uniform(uint64_t num, uint64_t count, uint64_t seed) {
  std::vector<uint32_t> numbers(count);
  Random random(seed);
  for (uint32_t& number : numbers) number = static_cast<uint32_t>(random.Below(num));
  return numbers;
}

// Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
std::vector<uint32_t> Skewed(uint64_t num, uint64_t count, uint64_t seed) {
  constexpr double kTheta = 0.99;
  double zeta = 0;
  for (uint64_t i = 1; i <= num; i++) zeta += 1 / std::pow(static_cast<double>(i), kTheta);
  const double zeta_of_two = 1 + std::pow(0.5, kTheta);
  const double alpha = 1 / (1 - kTheta);
  const double n = static_cast<double>(num);
  const double eta = (1 - std::pow(2 / n, 1 - kTheta)) / (1 - zeta_of_two / zeta);

  const std::vector<uint32_t> scatter = Shuffled(num, seed + 1);
  std::vector<uint32_t> numbers(count);
  Random random(seed);
  for (uint32_t& number : numbers) {
    const double u = random.Fraction();
    uint64_t rank = 0;
    if (u * zeta >= zeta_of_two) {
      rank = static_cast<uint64_t>(n * std::pow(eta * u - eta + 1, alpha));
    } else if (u * zeta >= 1) {
      rank = 1;
    }
    number = scatter[std::min(rank, num - 1)];
  }
  return numbers;
}

}  // namespace ashlar::bench
