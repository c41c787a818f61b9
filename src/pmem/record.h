// Records: a key and its value in the pool, as drawn in layout.h. A record is written once, never
// changes, and is found through a slot or a separator.
//
// The bytes of a pool are data from a disk. So readers call ReadRecord, which checks the lengths
// against the pool before anything else is read.
#pragma once

#include <bit>
#include <optional>

#include "ashlar/slice.h"
#include "base/crc32c.h"
#include "pmem/layout.h"
#include "pmem/medium.h"

namespace ashlar::pmem {

static_assert(std::endian::native == std::endian::little,
              "the pool is read in place, as little-endian words");

struct RecordLengths {
  uint32_t checksum;
  uint32_t key_bytes;
  uint32_t value_bytes;
};
static_assert(sizeof(RecordLengths) == kRecordHeaderBytes);

struct Record {
  const char* start;
  uint32_t key_bytes;
  uint32_t value_bytes;

  Slice key() const { return Slice(start + kRecordHeaderBytes, key_bytes); }
  Slice value() const { return Slice(start + kRecordHeaderBytes + key_bytes, value_bytes); }
  uint64_t bytes() const { return kRecordHeaderBytes + key_bytes + value_bytes; }
};

constexpr uint64_t RecordBytes(const Slice& key, const Slice& value) {
  return kRecordHeaderBytes + key.size() + value.size();
}

// The record at `offset`, if one is possible there: inside the pool, at the start of a unit.
inline std::optional<Record> ReadRecord(const Medium& medium, PoolOffset offset) {
  const uint64_t pool_bytes = medium.bytes();
  if (offset % kUnitBytes != 0 || offset < kPageBytes || offset > pool_bytes - kUnitBytes)
      [[unlikely]] {
    return std::nullopt;
  }
  RecordLengths lengths;
  const char* const start = medium.view() + offset;
  memcpy(&lengths, start, sizeof(lengths));
  const uint64_t bytes = kRecordHeaderBytes + lengths.key_bytes + lengths.value_bytes;
  if (bytes > pool_bytes - offset) [[unlikely]] {
    return std::nullopt;
  }
  return Record{.start = start, .key_bytes = lengths.key_bytes, .value_bytes = lengths.value_bytes};
}

inline bool ChecksumMatches(const Record& record) {
  uint32_t stored;
  memcpy(&stored, record.start, sizeof(stored));
  return crc32c::Mask(crc32c::Value(record.start + sizeof(stored),
                                    record.bytes() - sizeof(stored))) == stored;
}

// Writes and flushes a record into space without readers. The caller fences.
inline void WriteRecord(PoolOperation* op, PoolOffset to, const Slice& key, const Slice& value) {
  RecordLengths lengths = {.checksum = 0,
                           .key_bytes = static_cast<uint32_t>(key.size()),
                           .value_bytes = static_cast<uint32_t>(value.size())};
  const char* const after_checksum =
      reinterpret_cast<const char*>(&lengths) + sizeof(lengths.checksum);
  uint32_t crc = crc32c::Value(after_checksum, sizeof(lengths) - sizeof(lengths.checksum));
  crc = crc32c::Extend(crc32c::Extend(crc, key.data(), key.size()), value.data(), value.size());
  lengths.checksum = crc32c::Mask(crc);
  op->Copy(to, &lengths, sizeof(lengths));
  op->Copy(to + kRecordHeaderBytes, key.data(), key.size());
  if (!value.empty()) op->Copy(to + kRecordHeaderBytes + key.size(), value.data(), value.size());
  op->Flush(to, RecordBytes(key, value));
}

}  // namespace ashlar::pmem
