// ValueMaker: values that compress to a given part of their size.
//
// Values are windows into one megabyte that is made in advance. Each piece of 100 bytes begins with
// random letters, compression_ratio of the piece, which repeat to its end. So a value costs an
// addition, and the measured time is not the generator's. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "base/random.h"
#include "tools/db_bench/flags.h"

namespace ashlar::bench {

class ValueMaker {
 public:
  ValueMaker(const Flags& flags, uint64_t seed);

  // A value as long as value_size_distribution_type says. It is valid as long as the maker exists.
  Slice Next() { return Next(size_min_ == size_max_ ? size_min_ : DrawSize()); }
  // REQUIRES: bytes is at most value_size or value_size_max.
  Slice Next(size_t bytes) {
    if (bytes > text_.size() - position_) position_ = 0;
    const Slice value(text_.data() + position_, bytes);
    position_ += bytes;
    return value;
  }

 private:
  size_t DrawSize();

  size_t size_min_;
  size_t size_max_;
  const bool normal_;
  Random random_;
  std::string text_;
  size_t position_ = 0;
};

}  // namespace ashlar::bench
