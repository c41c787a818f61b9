// The bytes of a pool, without behaviour. Each section below has its picture.
//
//   page 0     header: identity (written once), log link, batch mark, room for a small batch log
//   page 1 ..  span map: 8 bytes for every page of the pool
//   then       pages, in spans: records of one size class, leaves, or one large record
//
// All numbers are little-endian. A pool is not opened on a machine of the other byte order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::pmem {

// Bytes from the start of the pool. 0, the offset of the header, means none.
using PoolOffset = uint64_t;

inline constexpr uint32_t kPoolVersion = 4;
inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kLineBytes = 64;
inline constexpr uint64_t kPoolBytesMin = uint64_t{1} << 20;
// Slots hold 40 bits of 16-byte units.
inline constexpr uint64_t kPoolBytesMax = uint64_t{1} << 44;

inline constexpr char kPoolMagic[8] = {'A', 's', 'h', 'l', 'P', 'o', 'o', 'l'};
inline constexpr uint32_t kByteOrderMark = 0x01020304;

struct PoolHeader {
  char magic[8];
  uint32_t version;
  uint32_t byte_order;
  uint64_t pool_bytes;
  uint64_t pool_id;  // random: ties a log to its pool
  uint64_t map_offset;
  uint64_t first_page;  // the first page that spans may use
  PoolOffset first_leaf;
  uint32_t comparator_name_bytes;
  uint32_t checksum;  // crc32c, masked, of all bytes before it and of the name
};
static_assert(sizeof(PoolHeader) == 64);

// The link to the pool's redo log (class logged; see redo_log.h). It is in the header's sector of
// 512 bytes, so a power cut leaves either the link before a change or the one after it.
struct LogLink {
  uint64_t state;       // LogState
  uint64_t generation;  // of the log that is open, or of the last one that was
  uint64_t checksum;    // crc32c, masked, of the two preceding words
};
enum class LogState : uint64_t {
  kClosed = 1,  // the pool has every change, so no log belongs to it
  kOpen = 2,    // changes may be in the log of this generation and nowhere else
  kNext = 3,    // the same, and the log of the next generation may have taken its place
};
inline constexpr PoolOffset kLogLinkOffset = 64;

inline constexpr PoolOffset kComparatorNameOffset = 128;
inline constexpr size_t kComparatorNameBytesMax = 1024;
// The batch mark (see below), alone on its line.
inline constexpr PoolOffset kBatchMarkOffset = 2048;
// Room for a small batch log, so that entries of a full pool can be deleted.
inline constexpr PoolOffset kSmallBatchLogOffset = kBatchMarkOffset + kLineBytes;
inline constexpr uint64_t kSmallBatchLogBytes = kPageBytes - kSmallBatchLogOffset;

// ---- Batch mark: which batch log is committed.
//
//   63 .. 44   43 .. 4                                             3 .. 0
//   check      offset of the log's first piece / 16, 0: no batch   check
//
// The check covers the offset and the first piece's checksum. The mark of no batch has a check too
// and is not 0. So a zeroed mark and a mark with a flipped bit are recognized as damage, and one
// store of one word commits a batch.

inline constexpr uint64_t kBatchMarkLogBits = (kPoolBytesMax - 1) & ~uint64_t{15};

constexpr uint64_t EncodeBatchMark(PoolOffset log, uint64_t log_checksum) {
  uint64_t mixed = (log ^ 0x6d61726bu) * 0x9e3779b97f4a7c15u;
  mixed = ((mixed ^ mixed >> 32) + log_checksum) * 0x165667b19e3779f9u;
  mixed ^= mixed >> 32;
  return log | (mixed & ~kBatchMarkLogBits);
}
constexpr PoolOffset BatchMarkLog(uint64_t mark) { return mark & kBatchMarkLogBits; }
inline constexpr uint64_t kNoBatchMark = EncodeBatchMark(0, 0);
static_assert(kNoBatchMark != 0 && BatchMarkLog(kNoBatchMark) == 0);
static_assert(BatchMarkLog(EncodeBatchMark(kSmallBatchLogOffset, 0)) == kSmallBatchLogOffset);

// ---- Span map.
//
//   63 .. 32   31 .. 10   9 .. 3   2 .. 0
//   pages      check      class    kind         at the span's first page in the map
//
// The check covers the other fields and the page. The words of a span's other pages have no
// meaning. The entry of kind kEnd is at the high-water mark: no page from there on was ever used.

enum class SpanKind : uint8_t {
  kEnd = 0,  // no pages: from here on the pool was never used
  kFree = 1,
  kRecords = 2,  // of one size class
  kLeaves = 3,
  kLarge = 4,  // one record or batch log
};

struct SpanEntry {
  SpanKind kind;
  uint16_t size_class;
  uint32_t pages;
};

// `page`: the first page of the span.
constexpr uint64_t SpanCheck(uint64_t page, const SpanEntry& entry) {
  const uint64_t fields = static_cast<uint64_t>(entry.pages) << 10 |
                          static_cast<uint64_t>(entry.size_class) << 3 |
                          static_cast<uint64_t>(entry.kind);
  const uint64_t mixed = (fields ^ page * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  return mixed >> 42;
}
constexpr uint64_t EncodeSpanEntry(uint64_t page, const SpanEntry& entry) {
  return static_cast<uint64_t>(entry.pages) << 32 | SpanCheck(page, entry) << 10 |
         static_cast<uint64_t>(entry.size_class) << 3 | static_cast<uint64_t>(entry.kind);
}
// Returns false for a word that EncodeSpanEntry did not produce for this page.
constexpr bool DecodeSpanEntry(uint64_t page, uint64_t word, SpanEntry* entry) {
  *entry = {.kind = static_cast<SpanKind>(word & 7),
            .size_class = static_cast<uint16_t>(word >> 3 & 0x7f),
            .pages = static_cast<uint32_t>(word >> 32)};
  return (word & 7) <= static_cast<uint64_t>(SpanKind::kLarge) &&
         EncodeSpanEntry(page, *entry) == word;
}

// ---- Leaf: 8 cache lines.
//
//   line 0       commit word | next 0 | 48 fingerprints
//                  commit word   63 .. 49 check   48 valid next pointer   47 .. 0 occupied slots;
//                                the check covers the other bits, the valid next pointer and the
//                                leaf's offset
//                  next          offset of the leaf to the right, 0: none. The pointer that is not
//                                valid is written before the commit word selects it
//                  fingerprint   without meaning under a comparator for which different bytes are
//                                equal, because an update does not change it
//   line 1       next 1 | separator | tag | 40 bytes zero
//                  separator     offset of a record whose key is the leaf's lower bound, 0 for the
//                                first leaf; never changes
//                  tag           LeafTag(offset of the leaf)
//   line 2..7    48 slots: 63 .. 40 record bytes / 16, at most 2^24 - 1
//                          39 .. 0 record offset / 16

inline constexpr uint32_t kSlots = 48;
inline constexpr uint64_t kLeafBytes = 512;
inline constexpr uint32_t kFingerprintWords = kSlots / 8;

inline constexpr uint64_t kLeafCommit = 0;
inline constexpr uint64_t kLeafNext0 = 8;
inline constexpr uint64_t kLeafFingerprints = 16;
inline constexpr uint64_t kLeafNext1 = 64;
inline constexpr uint64_t kLeafSeparator = 72;
inline constexpr uint64_t kLeafTag = 80;
inline constexpr uint64_t kLeafSlots = 128;
// An insert flushes one line for both the fingerprint and the commit word, because stores to one
// line become durable in their order.
static_assert(kLeafFingerprints + kSlots == kLineBytes && kLeafCommit < kLineBytes);
static_assert(kLeafSlots + kSlots * 8 == kLeafBytes);

constexpr uint64_t LeafNext(uint32_t selected) { return selected == 0 ? kLeafNext0 : kLeafNext1; }

constexpr uint64_t LeafTag(PoolOffset leaf) { return (leaf ^ 0x6c656166u) * 0x9e3779b97f4a7c15u; }

inline constexpr uint64_t kOccupiedMask = (uint64_t{1} << kSlots) - 1;
inline constexpr uint32_t kCommitCheckShift = kSlots + 1;

constexpr uint64_t Occupied(uint64_t commit) { return commit & kOccupiedMask; }
constexpr uint32_t SelectedNext(uint64_t commit) {
  return static_cast<uint32_t>(commit >> kSlots & 1);
}
// `next`: the value of the valid next pointer.
constexpr uint64_t EncodeCommit(PoolOffset leaf, PoolOffset next, uint64_t occupied,
                                uint32_t selected_next) {
  const uint64_t fields = occupied | uint64_t{selected_next} << kSlots;
  uint64_t mixed = (fields ^ leaf * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  mixed = ((mixed ^ mixed >> 32) + next) * 0x165667b19e3779f9u;
  return fields | mixed >> kCommitCheckShift << kCommitCheckShift;
}
// Whether this is the commit word of the leaf with this next pointer.
constexpr bool IsCommit(PoolOffset leaf, PoolOffset next, uint64_t commit) {
  return EncodeCommit(leaf, next, Occupied(commit), SelectedNext(commit)) == commit;
}

// ---- Slot, record, batch log.
//
//   record       checksum u32 | key bytes u32 | value bytes u32 | key | value
//                checksum: crc32c of the rest, masked
//   batch log    pieces: bytes u64 | checksum u64 | next piece u64 | (offset u64, word u64)*
//                in the header's page or in objects; the batch mark names the first piece; next 0:
//                the last one; checksum: crc32c of next and words, masked

inline constexpr uint64_t kUnitBytes = 16;  // of offsets and sizes of records
inline constexpr uint64_t kSlotOffsetBits = 40;
inline constexpr uint64_t kSlotUnitsMax = (uint64_t{1} << (64 - kSlotOffsetBits)) - 1;

constexpr uint64_t EncodeSlot(PoolOffset record, uint64_t record_bytes) {
  const uint64_t units = (record_bytes + kUnitBytes - 1) / kUnitBytes;
  return (units < kSlotUnitsMax ? units : kSlotUnitsMax) << kSlotOffsetBits | record / kUnitBytes;
}
constexpr PoolOffset SlotRecord(uint64_t slot) {
  return (slot & ((uint64_t{1} << kSlotOffsetBits) - 1)) * kUnitBytes;
}
constexpr uint64_t SlotUnits(uint64_t slot) { return slot >> kSlotOffsetBits; }

inline constexpr uint64_t kRecordHeaderBytes = 12;
inline constexpr uint64_t kBatchLogHeaderBytes = 24;
inline constexpr uint64_t kBatchWordBytes = 16;

}  // namespace ashlar::pmem
