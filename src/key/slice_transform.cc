// The built-in prefixes.
//
// Names and ids are RocksDB's: "rocksdb.FixedPrefix.8", "rocksdb.CappedPrefix.8", "rocksdb.Noop".
#include "ashlar/slice_transform.h"

#include <algorithm>

#include "base/format.h"

namespace ashlar {
namespace {

class FixedPrefix final : public SliceTransform {
 public:
  explicit FixedPrefix(size_t bytes)
      : bytes_(bytes), name_(StrCat("rocksdb.FixedPrefix.", bytes)) {}
  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), bytes_); }
  bool InDomain(const Slice& key) const override { return key.size() >= bytes_; }
  bool FullLengthEnabled(size_t* len) const override {
    *len = bytes_;
    return true;
  }
  bool SameResultWhenAppended(const Slice& prefix) const override { return InDomain(prefix); }

 private:
  const size_t bytes_;
  const std::string name_;
};

class CappedPrefix final : public SliceTransform {
 public:
  explicit CappedPrefix(size_t bytes_max)
      : bytes_max_(bytes_max), name_(StrCat("rocksdb.CappedPrefix.", bytes_max)) {}
  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), std::min(key.size(), bytes_max_));
  }
  bool InDomain(const Slice& /*key*/) const override { return true; }
  bool FullLengthEnabled(size_t* len) const override {
    *len = bytes_max_;
    return true;
  }
  bool SameResultWhenAppended(const Slice& prefix) const override {
    return prefix.size() >= bytes_max_;
  }

 private:
  const size_t bytes_max_;
  const std::string name_;
};

class WholeKey final : public SliceTransform {
 public:
  const char* Name() const override { return "rocksdb.Noop"; }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice& /*key*/) const override { return true; }
};

}  // namespace

const SliceTransform* NewFixedPrefixTransform(size_t prefix_len) {
  return new FixedPrefix(prefix_len);
}
const SliceTransform* NewCappedPrefixTransform(size_t cap_len) { return new CappedPrefix(cap_len); }
const SliceTransform* NewNoopTransform() { return new WholeKey; }

}  // namespace ashlar
