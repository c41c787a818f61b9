#include "tools/db_bench/keys.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ashlar::bench {
namespace {

constexpr size_t kNumberBytes = 8;

// The first `bytes` bytes of the number's eight, most significant first, cut as RocksDB cuts: the low ones stay.
void PutNumber(uint64_t number, size_t bytes, char* out) {
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(number >> ((bytes - i - 1) * 8));
}

}  // namespace

KeyMaker::KeyMaker(const Flags& flags, uint64_t count, const std::vector<std::string>* existing)
    : existing_(existing),
      prefix_bytes_(flags.keys_per_prefix > 0 ? static_cast<size_t>(flags.prefix_size) : 0),
      prefixes_(flags.keys_per_prefix > 0 ? std::max<uint64_t>(1, count / static_cast<uint64_t>(flags.keys_per_prefix)) : 1),
      buffer_(static_cast<size_t>(flags.key_size), '0') {}

Slice KeyMaker::Key(uint64_t number) {
  if (existing_ != nullptr) return (*existing_)[number];
  if (prefix_bytes_ > 0) PutNumber(number % prefixes_, std::min(prefix_bytes_, kNumberBytes), buffer_.data());
  PutNumber(number, std::min(buffer_.size() - prefix_bytes_, kNumberBytes), buffer_.data() + prefix_bytes_);
  return buffer_;
}

Slice KeyMaker::MissingKey(uint64_t number) {
  (void)Key(number);
  // The ninth byte of every prefix is '0'.
  buffer_[kNumberBytes] = '1';
  return buffer_;
}

KeyPicker::KeyPicker(const Flags& flags, uint64_t count) : count_(std::max<uint64_t>(1, count)), exp_range_(flags.read_random_exp_range) {
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
  for (uint64_t i = count_ - 1; i > 0; --i) std::swap(shuffled_[i], shuffled_[random.Uniform(i + 1)]);
}

}  // namespace ashlar::bench
