// MemTableRepFactory: which structure holds the entries of a memtable.
#pragma once

#include <cstddef>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_API MemTableRepFactory {
 public:
  virtual ~MemTableRepFactory() = default;
  virtual const char* Name() const = 0;
  // As an OPTIONS file writes it.
  virtual std::string GetId() const { return Name(); }
};

// The default. The name is RocksDB's, so that its tools read the OPTIONS file; the structure is Ashlar's ordered tree.
class ASHLAR_API SkipListFactory : public MemTableRepFactory {
 public:
  explicit SkipListFactory(size_t lookahead = 0) : lookahead_(lookahead) {}
  const char* Name() const override { return "SkipListFactory"; }
  size_t lookahead() const { return lookahead_; }  // accepted

 private:
  size_t lookahead_;
};

}  // namespace ashlar
