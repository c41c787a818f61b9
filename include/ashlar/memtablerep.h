// MemTableRepFactory: the structure that stores the entries of a memtable. A factory only names one
// of Ashlar's structures and its parameters. Names and option strings are RocksDB's, so RocksDB's
// tools can read the OPTIONS file.
//
//   factory                 option string      structure
//   SkipListFactory         skip_list          an ordered tree (the default)
//   HashSkipListRepFactory  prefix_hash:N      N buckets by the hash of the key's prefix; a bucket
//                                              is a short list, then an ordered tree
//   HashLinkListRepFactory  hash_linkedlist:N  the same, with longer lists
//   VectorRepFactory        vector:N           entries in insertion order; for bulk loads without
//                                              concurrent reads
//
// The two with buckets need ColumnFamilyOptions::prefix_extractor and use the ordered tree without
// it. A key outside the extractor's domain is its own prefix. Buckets serve Get and iterators
// that stay within a prefix. A flush, or an iterator in total order, first sorts all entries.
// Buckets take 8 * N bytes per memtable with entries, which do not count as part of
// write_buffer_size.
//
// Thread safety: factories are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"

namespace ashlar {

// A factory class that the program defines is refused at open (NotSupported).
class ASHLAR_API MemTableRepFactory : public Customizable {
 public:
  static const char* Type() { return "MemTableRepFactory"; }
  const char* Name() const override = 0;
  // The text that an OPTIONS file contains.
  std::string GetId() const override { return Name(); }
};

class ASHLAR_API SkipListFactory : public MemTableRepFactory {
 public:
  static const char* kClassName() { return "SkipListFactory"; }
  explicit SkipListFactory(size_t lookahead = 0) : lookahead_(lookahead) {}
  const char* Name() const override { return kClassName(); }
  std::string GetId() const override;
  size_t lookahead() const { return lookahead_; }  // accepted

 private:
  size_t lookahead_;
};

class ASHLAR_API VectorRepFactory : public MemTableRepFactory {
 public:
  // count: entries to reserve memory for. Accepted without effect: memory grows with the entries.
  explicit VectorRepFactory(size_t count = 0) : count_(count) {}
  static const char* kClassName() { return "VectorRepFactory"; }
  const char* Name() const override { return kClassName(); }
  std::string GetId() const override;
  size_t count() const { return count_; }

 private:
  size_t count_;
};

// The caller owns the result, here and below. bucket_count: 0 means 1; more than 2^30 are refused
// at open. The skip-list parameters are accepted without effect.
ASHLAR_API MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count = 1000000,
                                                         int32_t skiplist_height = 4,
                                                         int32_t skiplist_branching_factor = 4);
// threshold_use_skiplist: a bucket with more entries becomes an ordered tree. The parameters
// between it and bucket_count are accepted without effect.
ASHLAR_API MemTableRepFactory* NewHashLinkListRepFactory(
    size_t bucket_count = 50000, size_t huge_page_tlb_size = 0,
    int bucket_entries_logging_threshold = 4096, bool if_log_bucket_dist_when_flash = true,
    uint32_t threshold_use_skiplist = 256);

}  // namespace ashlar
