// PlainTable: an open PlainTable whose contents are in memory, as a mapping or as all bytes of a
// file that is not mapped. A lookup reads entries in place, and values are pinned there.
//
//   Get, hashed         prefix -> slot -> entries
//   Get, otherwise      Bloom filter -> head of the key -> sparse index -> entries
//   Seek in a prefix    as Get, hashed
//   Seek, total order   as Get, otherwise, without the filter
//
// Nothing in the data has a checksum. Open reads every entry once to check bounds, kinds, order and
// counts, and to build the index (plain_index.h). The index and the Bloom filter in the file are
// for other readers. Later reads check the bounds again, because a mapping shows the current bytes
// of the file.
//
// The index uses the family's extractor, even if the table was written with another one.
//
// I1: every offset in the index is the offset of an entry that Open read without a fault.
// I2: nothing outside the contents is read, whatever the file contains.
// I3: the contents count as one block in memory. live_blocks includes that block, which is pinned
//     while the table is.
// I4: the contents are all file_bytes bytes of the file. If the file is not mapped, they belong to
//     the table and count in MemoryBytes.
//
// Lifetime and thread safety: table_reader.h. The counters outlive the last count on the table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "ashlar/table_properties.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "observe/recorder.h"
#include "platform/page_allocator.h"
#include "table/filter/filter_builder.h"
#include "table/filter/filter_reader.h"
#include "table/plain/plain_entry.h"
#include "table/plain/plain_format.h"
#include "table/plain/plain_index.h"
#include "table/plain/plain_table_config.h"
#include "table/table_reader.h"

namespace ashlar {

struct PlainTableOpenArgs {
  std::unique_ptr<vfs::RandomAccessFile> file;  // mapped, or read completely by Open
  std::string file_name{};
  uint64_t file_bytes = 0;
  EpochDomain* epochs = nullptr;  // the domain of the guards in which the table is found
  KeyComparator comparator{nullptr};
  PlainTableConfig config{};
  std::shared_ptr<const SliceTransform> prefix_extractor{};  // the family's; null: none
  Recorder recorder{};
  std::atomic<int64_t>* live_blocks = nullptr;  // null: none
  bool random_access_hint = true;  // hint random access to the system, after Open's pass
};

class EntryScan;

class PlainTable final : public TableReader {
 public:
  static Result<TableReaderPtr> Open(PlainTableOpenArgs args);

  // options.cached_only has no effect: the contents are in memory.
  void Get(const TableReadOptions& options, Lookup* lookup) override;
  bool MayMatch(SeekPrefix* seek, const Slice& internal_target) const override;
  // The transform of the index. Null: none.
  const SliceTransform* prefix_extractor() const { return prefix_extractor_.get(); }
  std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) override;
  uint64_t ApproximateOffsetOf(const Slice& internal_key) override;
  std::vector<std::string> Anchors(size_t pieces) override;
  Status Verify() override;
  // Stops at the first damage, because the format has no checksums with which to continue after it.
  Status VisitReadable(EntryVisitor visit, TableDamage* damage) override;
  const TableProperties& properties() const override { return properties_; }
  size_t MemoryBytes() const override;
  // Asserts I1 and the invariants of the index.
  void CheckInvariants() const;
  BlockCensus CountBlocks() const override { return {.cached = 1, .any_pinned = Refs() > 0}; }

  // ---- For the cursor.

  const KeyComparator& comparator() const { return comparator_; }
  const PlainData& data() const { return data_; }
  const PlainIndex& index() const { return index_; }
  // Sets *at to an entry from which a forward iteration reaches the first entry at or after
  // (user_key, tag), or to null if there is none. A fault is the fault of the entry at *at.
  PlainFault FindStart(const Slice& user_key, uint64_t tag, const char** at) const;
  // The same among the entries with the prefix of user_key. Sets *at to null if there are none.
  PlainFault FindStartInPrefix(const Slice& user_key, uint64_t tag, const char** at) const;
  Status FaultAt(PlainFault fault, const char* at) const;

 private:
  explicit PlainTable(PlainTableOpenArgs* args);
  ~PlainTable() override;

  Status Load();
  Status LoadContents();
  Status CheckSize(uint64_t bytes) const;
  Result<Slice> ReadPiece(uint64_t offset, char* scratch) const;
  Status CompareWithFile() const;
  Status LoadProperties(const BlockHandle& metaindex);
  Status CheckSupported() const;
  Status SetData(uint64_t data_limit);
  Status MakeIndex();
  Status SetHeads(const Slice& first_key, const Slice& last_key);
  // Compares the counts of a pass over all entries with the properties.
  Status CheckScan(const EntryScan& scan) const;
  Result<Slice> Block(const BlockHandle& handle) const;
  Status CorruptionAt(uint64_t offset, const Slice& what) const;

  const char* At(uint32_t offset) const { return data_.begin + offset; }
  // Finds the first of the sparse entries in `range` at or after (user_key, tag), or range.last if
  // there is none.
  PlainFault FindAmong(PlainIndex::Range range, const Slice& user_key, uint64_t tag,
                       uint32_t* sparse, const char** at) const;

  // Returns false if all keys have one size, and this key has another.
  bool MayHaveBytesOf(const Slice& user_key) const {
    return key_bytes_ == 0 || user_key.size() == key_bytes_;
  }
  static void SearchInStages(std::span<StagedLookup> batch);
  // The stages, in order.
  void PrefetchIndex(Lookup* lookup) const;
  void PrefetchEntry(Lookup* lookup) const;
  uint64_t PrefixHash(Lookup* lookup) const;
  enum class Outcome : uint8_t { kAbsent, kDone };
  // Reads entries from `at` on until the lookup is done or a key is larger. Skips at most
  // entries_max entries with smaller keys.
  Outcome GetFrom(const char* at, size_t entries_max, Lookup* lookup);
  Outcome GetBySearch(Lookup* lookup);

  const KeyComparator comparator_;
  const PlainTableConfig config_;
  const std::shared_ptr<const SliceTransform> prefix_extractor_;
  const Recorder recorder_;
  std::atomic<int64_t>* const live_blocks_;
  const std::unique_ptr<vfs::RandomAccessFile> file_;
  const std::string name_;
  const uint64_t file_bytes_;

  // Set by Load.
  ZeroedArray<char> memory_;  // empty: the file is mapped
  Slice contents_;
  TableProperties properties_;
  PlainData data_;
  PlainIndex index_;
  size_t key_bytes_ = 0;  // size of every user key that a lookup can find; 0: any size
  Slice common_;          // the bytes that all user keys begin with, left out of heads
  std::string last_key_;  // internal key; empty: there are no entries
  PagedVector<char> filter_bytes_;
  FilterReader filter_;  // of user keys; matches all if there are prefixes
};

}  // namespace ashlar
