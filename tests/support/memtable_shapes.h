// The shapes of memtables with which tests run: every kind, with and without a bloom filter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "memtable/memtable.h"

namespace ashlar {

struct NamedShape {
  const char* name;
  MemTableShape shape;
};

inline const std::vector<NamedShape>& TestShapes() {
  static const std::vector<NamedShape> shapes = {
      {"tree", {}},
      {"tree_bloom", {.bloom_bytes = 4096}},
      {"tree_bloom_whole_keys", {.bloom_bytes = 4096, .bloom_whole_keys = true}},
      {"buckets", {.kind = MemTableKind::kBuckets, .bucket_count = 1000, .list_entries_max = 16}},
      {"few_buckets_short_lists",
       {.kind = MemTableKind::kBuckets,
        .bucket_count = 3,
        .list_entries_max = 2,
        .bloom_bytes = 4096}},
      {"long_lists",
       {.kind = MemTableKind::kBuckets,
        .bucket_count = 50,
        .list_entries_max = 256,
        .bloom_bytes = 4096,
        .bloom_whole_keys = true}},
      {"log", {.kind = MemTableKind::kLog}},
      {"log_bloom", {.kind = MemTableKind::kLog, .bloom_bytes = 4096}},
  };
  return shapes;
}

}  // namespace ashlar
