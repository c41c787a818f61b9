// TableReader: an open table file of any format. A lookup makes one virtual call per table.
//
// Lifetime: a reader is found through FileMetaData::reader inside an epoch guard, and lives at
// least as long as that guard. Cursors, TableRefs, and pins on bytes of its mapping hold counts on
// it. The owner that published it unlinks it and calls Drop. It deletes itself once a grace period
// is over and the last count is released. Thread safety: every method from any thread. Get is
// called inside an epoch guard and takes a count only if it waits for the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/status.h"
#include "base/function_ref.h"
#include "execute/shared_count.h"
#include "key/cursor.h"
#include "key/lookup.h"
#include "ranges/file_ranges.h"
#include "table/table_damage.h"

namespace ashlar {

class ReadGuard;
class SeekPrefix;
struct InputReads;
struct TableProperties;

struct TableReadOptions {
  bool verify_checksums = true;
  bool fill_cache = true;
  bool cached_only = false;    // kBlockCacheTier: Incomplete instead of opening or reading the file
  size_t readahead_bytes = 0;  // 0: grows with sequential reads
  // Set for a compaction's cursors, which it outlives. Null: the cursors read for the program.
  const InputReads* input_reads = nullptr;
  // The caller calls SeekPrefix::Begin before every Seek and SeekForPrev. Outlives the cursor.
  // Null: seeks are in total order.
  SeekPrefix* seek_prefix = nullptr;
  // ReadOptions::table_filter, for cursors. Outlives the cursor. Null: every table is read.
  const std::function<bool(const TableProperties&)>* table_filter = nullptr;
  // Get pauses this guard while it waits for the file. Null: the caller's guard stays entered.
  ReadGuard* guard = nullptr;
};

class TableReader;
struct FileMetaData;

// One lookup of a batch in one table: its progress and the results of its stages.
struct StagedLookup {
  enum class Stage : uint8_t {
    kStart,
    kIndex,      // the group of the index that has the block is known
    kAbsent,     // the filter rules the key out
    kBlock,      // the block is known
    kSideIndex,  // the block is in the cache
    kEntry,      // the first entry that may match is known, or there is none
  };
  Lookup* lookup;
  FileMetaData* file;
  TableReader* reader;  // null: the table is not open
  Stage stage = Stage::kStart;
  bool decided = false;    // kIndex: `block` is the result
  bool has_entry = false;  // kEntry
  uint32_t entry = 0;
  uint32_t block = 0;  // kIndex: the first block of the group
  uint64_t head = 0;   // of the key: first in the index, then in the block
  void* cached = nullptr;
};

class TableReader {
 public:
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Offers the versions of lookup->user_key() with sequence <= lookup->snapshot(), newest first,
  // until the lookup needs no more. Reports errors to lookup->Fail. A call that pauses
  // options.guard keeps the reader alive until that guard ends.
  virtual void Get(const TableReadOptions& options, Lookup* lookup) = 0;
  // Searches for the keys of a batch in stages. A stage handles all keys and prefetches the memory
  // that the next stage reads, so that cache misses overlap. Requires: every reader of the batch is
  // of the class of this function, and the caller is inside an epoch guard, as for Get.
  using StagedSearch = void (*)(std::span<StagedLookup> batch);
  // Null if the reader's class has no staged search.
  StagedSearch staged_search() const { return staged_search_; }
  // Continues Get from the stage that the staged search reached. Requires: both calls are inside
  // the same guard, which was not paused in between.
  virtual void GetStaged(const TableReadOptions& options, const StagedLookup& staged) {
    Get(options, staged.lookup);
  }
  // Requires: inside the epoch guard in which the reader was found, or the caller holds a count.
  virtual std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) = 0;
  // Returns false if the table's filter shows that no entry matches the last seek that `seek`
  // began, whose target is internal_target. Requires: as for NewCursor.
  virtual bool MayMatch(SeekPrefix* /*seek*/, const Slice& /*internal_target*/) const {
    return true;
  }
  // The offset in the file at which an entry with this internal key would be, or the file size for
  // keys after the last. Monotone in the key.
  virtual uint64_t ApproximateOffsetOf(const Slice& internal_key) = 0;
  // Internal keys that split the table into about `pieces` equal parts for subcompactions. There
  // are fewer if the table is small.
  virtual std::vector<std::string> Anchors(size_t pieces) = 0;
  // The range tombstones of the table with the sequences that readers see, to search at keys within
  // the bounds of the file. Get and cursors do not apply them, so their callers must.
  const FragmentedRanges& ranges() const { return ranges_.searched(); }
  // The same, for callers that need all of them.
  const FileRanges& file_ranges() const { return ranges_; }
  bool HasRanges() const { return has_ranges_; }
  // Reads every block, and checks checksums and order.
  virtual Status Verify() = 0;
  // Visits, in order, the entries of every part of the table whose checksum is right. Keys have the
  // sequences that readers see. *damage receives the parts that were left out here and by a
  // tolerant open. An error from `visit` ends the iteration. So does a failed read of the file,
  // because it may succeed later.
  using EntryVisitor = FunctionRef<Status(const Slice& internal_key, const Slice& value)>;
  virtual Status VisitReadable(EntryVisitor visit, TableDamage* damage) = 0;
  virtual const TableProperties& properties() const = 0;
  // Memory of the index, the filter and the reader, without cached data blocks.
  virtual size_t MemoryBytes() const = 0;

  // A count keeps the reader and its file open. Requires: inside the epoch guard in which the
  // reader was found, or the caller holds another count.
  void AddRef() { count_.Acquire(); }
  void Release() { count_.Release(); }
  static const PinOps kPinOps;
  PinSource pin_source() { return PinSource{&kPinOps, this}; }
  // Releases the owner's count. Call once, after unlinking. Deletes nothing itself, so it may be
  // called under locks.
  void Drop() { count_.Kill(); }
  int64_t Refs() const { return count_.Count(); }
  EpochDomain& epochs() const { return count_.epochs(); }
  // Counts the data blocks in the cache, with the contents or the mapping as one block, and whether
  // any block is pinned. Exact while no read is in progress. Requires: inside an epoch guard.
  struct BlockCensus {
    int64_t cached = 0;
    bool any_pinned = false;
  };
  virtual BlockCensus CountBlocks() const = 0;

  // For the clock hand of the table cache. Stores the flag only if it is not set.
  void MarkUsed() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  bool TakeUsed() { return used_.exchange(false, std::memory_order_relaxed); }

 protected:
  explicit TableReader(EpochDomain* epochs, StagedSearch search = nullptr, FileRanges ranges = {})
      : count_(
            epochs, [](void* self) { delete static_cast<TableReader*>(self); }, this),
        staged_search_(search),
        has_ranges_(!ranges.searched().IsEmpty()),
        ranges_(std::move(ranges)) {}
  virtual ~TableReader() = default;
  friend struct TableReaderDeleter;

 private:
  SharedCount count_;
  const StagedSearch staged_search_;
  const bool has_ranges_;
  const FileRanges ranges_;
  std::atomic<bool> used_{true};
};

// Owns a reader that is not published yet.
struct TableReaderDeleter {
  void operator()(TableReader* reader) const { delete reader; }
};
using TableReaderPtr = std::unique_ptr<TableReader, TableReaderDeleter>;

// An open table and one count on it.
class TableRef {
 public:
  // Adopts a count.
  explicit TableRef(TableReader* reader) : reader_(reader), pin_(&TableReader::kPinOps, reader) {}

  TableReader* get() const { return reader_; }
  TableReader* operator->() const { return reader_; }
  // Moves the count out.
  Pin TakePin() { return std::move(pin_); }

 private:
  TableReader* reader_;
  Pin pin_;
};

}  // namespace ashlar
