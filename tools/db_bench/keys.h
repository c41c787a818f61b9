// Keys: how a number becomes a key, and in which order numbers are used.
//
// The bytes are those of RocksDB's db_bench, so that databases made by either can be read by the
// other:
//
//   without keys_per_prefix   | number, 8 bytes, most significant first | '0' ...            |
//   with keys_per_prefix      | prefix, 8 bytes, ... '0' | number, 8 bytes | '0' ...         |
//                             |<------ prefix_size ----->|
//   A key has key_size bytes, truncated or padded. prefix = number % (count / keys_per_prefix)
//
// Thread safety: none; every thread has its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "base/random.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/zipf.h"

namespace ashlar::bench {

// Writes the key of a number into one buffer.
class KeyMaker {
 public:
  // Makes keys of `count` numbers, 0 to count - 1. If `existing` is not null, its keys are used
  // instead. It must outlive the maker.
  KeyMaker(const Flags& flags, uint64_t count, const std::vector<std::string>* existing);

  // Valid until the next call.
  Slice Key(uint64_t number);
  // Returns a key with a prefix that no key has. REQUIRES: seek_missing_prefix.
  Slice MissingKey(uint64_t number);

 private:
  const std::vector<std::string>* const existing_;
  const size_t prefix_bytes_;  // 0: the key has no prefix of its own
  const uint64_t prefixes_;
  const size_t number_bytes_;
  std::string buffer_;
};

// Draws numbers of keys.
class KeyPicker {
 public:
  KeyPicker(const Flags& flags, uint64_t count);

  // Draws a number as key_distribution says.
  uint64_t Pick(Random* random) const {
    return zipf_ ? Scattered(zipf_->Draw(random) - 1) : random->Uniform(count_);
  }
  // Draws a number for a read. read_random_exp_range takes precedence.
  uint64_t PickForRead(Random* random) const {
    return exp_range_ > 0 ? Exponential(random) : Pick(random);
  }

 private:
  // Keeps frequent keys from being neighbours.
  uint64_t Scattered(uint64_t rank) const { return rank * 0x5bd1e995u % count_; }
  uint64_t Exponential(Random* random) const;

  const uint64_t count_;
  const double exp_range_;
  std::optional<Zipf> zipf_;
};

enum class KeyOrder { kSequential, kRandom, kUniqueRandom };

// The numbers of a fill, in order.
class KeySequence {
 public:
  KeySequence(KeyOrder order, uint64_t count, const KeyPicker* picker, uint64_t seed);

  // After count numbers, kSequential starts again, and kUniqueRandom repeats its order.
  uint64_t Next(Random* random) {
    if (order_ == KeyOrder::kRandom)
      return picker_ != nullptr ? picker_->Pick(random) : random->Uniform(count_);
    if (next_ == count_) next_ = 0;
    return order_ == KeyOrder::kSequential ? next_++ : shuffled_[next_++];
  }

 private:
  const KeyOrder order_;
  const uint64_t count_;
  const KeyPicker* const picker_;  // null: uniform
  std::vector<uint64_t> shuffled_;
  uint64_t next_ = 0;
};

}  // namespace ashlar::bench
