#include "tools/db_bench/keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace ashlar::bench {
namespace {

constexpr size_t kNumberBytes = 8;

// Writes the low `bytes` bytes of the number, most significant first, which is how RocksDB
// truncates. The compiler makes one store of all eight, the usual case.
void PutNumber(uint64_t number, size_t bytes, char* out) {
  const auto byte = [number](int shift) { return static_cast<char>(number >> shift); };
  if (bytes == kNumberBytes) {
    const char all[kNumberBytes] = {byte(56), byte(48), byte(40), byte(32),
                                    byte(24), byte(16), byte(8),  byte(0)};
    memcpy(out, all, kNumberBytes);
    return;
  }
  for (size_t i = 0; i < bytes; ++i) out[i] = byte(static_cast<int>(bytes - i - 1) * 8);
}

}  // namespace

KeyMaker::KeyMaker(const Flags& flags, uint64_t count, const std::vector<std::string>* existing)
    : existing_(existing),
      prefix_bytes_(flags.keys_per_prefix > 0 ? static_cast<size_t>(flags.prefix_size) : 0),
      prefixes_(flags.keys_per_prefix > 0
                    ? std::max<uint64_t>(1, count / static_cast<uint64_t>(flags.keys_per_prefix))
                    : 1),
      number_bytes_(std::min(static_cast<size_t>(flags.key_size) - prefix_bytes_, kNumberBytes)),
      buffer_(static_cast<size_t>(flags.key_size), '0') {}

Slice KeyMaker::Key(uint64_t number) {
  if (existing_ != nullptr) return (*existing_)[number];
  char* const out = buffer_.data();
  if (prefix_bytes_ > 0) PutNumber(number % prefixes_, std::min(prefix_bytes_, kNumberBytes), out);
  PutNumber(number, number_bytes_, out + prefix_bytes_);
  return buffer_;
}

Slice KeyMaker::MissingKey(uint64_t number) {
  (void)Key(number);
  // The ninth byte of every prefix is '0'.
  buffer_[kNumberBytes] = '1';
  return buffer_;
}

KeyPicker::KeyPicker(const Flags& flags, uint64_t count)
    : count_(std::max<uint64_t>(1, count)), exp_range_(flags.read_random_exp_range) {
  if (flags.key_distribution == "zipf") zipf_.emplace(count_, flags.zipf_exponent);
}

uint64_t KeyPicker::Exponential(Random* random) const {
  const double part = std::exp(-random->NextDouble() * exp_range_);
  return Scattered(static_cast<uint64_t>(part * static_cast<double>(count_)));
}

KeySequence::KeySequence(KeyOrder order, uint64_t count, const KeyPicker* picker, uint64_t seed)
    : order_(order), count_(std::max<uint64_t>(1, count)), picker_(picker) {
  if (order != KeyOrder::kUniqueRandom) return;
  shuffled_.resize(count_);
  std::iota(shuffled_.begin(), shuffled_.end(), uint64_t{0});
  Random random(seed);
  for (uint64_t i = count_ - 1; i > 0; --i)
    std::swap(shuffled_[i], shuffled_[random.Uniform(i + 1)]);
}

}  // namespace ashlar::bench
