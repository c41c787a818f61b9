// TableReader: an open table file of any format. A lookup makes one virtual call per table.
//
// Lifetime: a reader is found through FileMetaData::reader inside an epoch guard, and lives at
// least as long as that guard. Cursors, TableRefs, and pins on bytes of its mapping have counts.
// The owner that published it unlinks it and calls Drop. It deletes itself a grace period later,
// when the last count is released. Thread safety: every method from any thread. Get is called
// inside an epoch guard and takes a count only where it waits.
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
  // Of a compaction's cursors. Outlives them. Null: they read for the program.
  const InputReads* input_reads = nullptr;
  // SeekPrefix::Begin is called before every Seek and SeekForPrev. Outlives the cursor. Null: total
  // order.
  SeekPrefix* seek_prefix = nullptr;
  // Of cursors: ReadOptions::table_filter. Outlives the cursor. Null: every table is wanted.
  const std::function<bool(const TableProperties&)>* table_filter = nullptr;
  // Get pauses it while it waits for the file. Null: the caller's guard stays entered meanwhile.
  ReadGuard* guard = nullptr;
};

class TableReader;
struct FileMetaData;

// One lookup of a batch in one table: its progress and the results of its stages.
struct StagedLookup {
  enum class Stage : uint8_t {
    kStart,
    kIndex,      // the part of the index that decides is known
    kAbsent,     // the filter has no such key
    kBlock,      // the block is known
    kSideIndex,  // the block is in the cache
    kEntry,      // the first entry that may match is known, or that there is none
  };
  Lookup* lookup;
  FileMetaData* file;
  TableReader* reader;  // null: the table is not open
  Stage stage = Stage::kStart;
  bool decided = false;    // kIndex: `block` is the block
  bool has_entry = false;  // kEntry
  uint32_t entry = 0;
  uint32_t block = 0;  // kIndex: the first of a group of blocks
  uint64_t head = 0;   // of the key, in the index, then in the block
  void* cached = nullptr;
};

class TableReader {
 public:
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Offers the versions of lookup->user_key() with sequence <= lookup->snapshot(), newest first,
  // until the lookup needs no more. Errors go to lookup->Fail. A call that pauses options.guard
  // keeps the reader until that guard ends.
  virtual void Get(const TableReadOptions& options, Lookup* lookup) = 0;
  // Searches for the keys of a batch in stages. A stage handles all keys and prefetches the memory
  // that the next stage reads, so that cache misses overlap. Every reader of the batch is of the
  // class of this function. Requires: inside an epoch guard, as Get.
  using StagedSearch = void (*)(std::span<StagedLookup> batch);
  // Null: the class has none.
  StagedSearch staged_search() const { return staged_search_; }
  // Get from the stage that the staged search reached. Requires: the guard of both calls was not
  // paused in between.
  virtual void GetStaged(const TableReadOptions& options, const StagedLookup& staged) {
    Get(options, staged.lookup);
  }
  // Requires: inside an epoch guard in which the reader was found, or the caller has a count.
  virtual std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) = 0;
  // False: by the table's filter no entry matches the last seek that `seek` began, whose target is
  // internal_target. Requires: the same as NewCursor.
  virtual bool MayMatch(SeekPrefix* /*seek*/, const Slice& /*internal_target*/) const {
    return true;
  }
  // The offset in the file at which an entry with this internal key would be. Monotone in the key;
  // the file size for keys after the last.
  virtual uint64_t ApproximateOffsetOf(const Slice& internal_key) = 0;
  // Internal keys that cut the table into about `pieces` equal parts, or fewer if it is small, for
  // subcompactions.
  virtual std::vector<std::string> Anchors(size_t pieces) = 0;
  // The range tombstones of the table, with their sequences as readers see them, for searches at
  // keys within the bounds of the file. Get and cursors do not apply them. Their callers do.
  const FragmentedRanges& ranges() const { return ranges_.searched(); }
  // The same, for callers that need all of them.
  const FileRanges& file_ranges() const { return ranges_; }
  bool HasRanges() const { return has_ranges_; }
  // Reads every block, and checks checksums and order.
  virtual Status Verify() = 0;
  // Visits the entries of every part of the table whose checksum is right, in order, keys with
  // their sequences as readers see them. *damage gets the parts that were left out, here and by a
  // tolerant open. An error of `visit` ends the walk. So does a failed read of the file, because it
  // may succeed later.
  using EntryVisitor = FunctionRef<Status(const Slice& internal_key, const Slice& value)>;
  virtual Status VisitReadable(EntryVisitor visit, TableDamage* damage) = 0;
  virtual const TableProperties& properties() const = 0;
  // Memory of the index, the filter and the reader, without cached data blocks.
  virtual size_t MemoryBytes() const = 0;

  // A count keeps the reader and its file open. Requires: inside an epoch guard in which the reader
  // was found, or the caller has another count.
  void AddRef() { count_.Acquire(); }
  void Release() { count_.Release(); }
  static const PinOps kPinOps;
  PinSource pin_source() { return PinSource{&kPinOps, this}; }
  // Releases the owner's count. Call once, after unlinking. Deletes nothing itself, so it may be
  // called under locks.
  void Drop() { count_.Kill(); }
  int64_t Refs() const { return count_.Count(); }
  EpochDomain& epochs() const { return count_.epochs(); }
  // The data blocks in the cache, and the contents or the mapping that count as one; whether a
  // block is pinned. Exact while no read is in progress. Requires: inside an epoch guard.
  struct BlockCensus {
    int64_t cached = 0;
    bool any_pinned = false;
  };
  virtual BlockCensus CountBlocks() const = 0;

  // For the clock of the table cache. Written only if it is not set.
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
