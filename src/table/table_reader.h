// TableReader: an open table file of any format. One virtual call per table and lookup; everything
// below it is concrete.
//
// Lifetime: a reader is found through FileMetaData::reader inside an epoch guard, and lives as long
// as that guard. Cursors, TableRefs, and pins on bytes of its mapping, hold a count. The owner that
// published it unlinks it and calls Drop; it deletes itself a grace period later, when the last
// count is gone. Thread safety: every method from any thread. Get is called inside an epoch guard
// and takes a count only where it has to wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/status.h"
#include "execute/shared_count.h"
#include "key/cursor.h"
#include "key/lookup.h"

namespace ashlar {

class ReadGuard;
class SeekPrefix;
struct TableProperties;

struct TableReadOptions {
  bool verify_checksums = true;
  bool fill_cache = true;
  size_t readahead_bytes = 0;  // 0: grows by itself with sequential use; compaction passes its own
  bool hint_readahead =
      false;  // readahead_bytes are announced to the file system, and read in smaller pieces
  bool cached_only = false;  // kBlockCacheTier: Incomplete instead of opening or reading the file
  SeekPrefix* seek_prefix =
      // told of every Seek and SeekForPrev before it is made; null: total order. Outlives the
      // cursor
      nullptr;
  ReadGuard* guard =
      // of Get: paused while it waits for the file; null: the caller's guard is held across the
      // wait
      nullptr;
};

// How far a lookup of a batch has got in one table, and what it has found out; see
// TableReader::PrefetchStep.
struct StagedLookup {
  enum class Stage : uint8_t {
    kStart,
    kIndex,      // the part of the index that decides is known
    kAbsent,     // the filter has no such key
    kBlock,      // the block is known
    kSideIndex,  // the block is in the cache
    kEntry,      // the first entry that may match is known, or that there is none
  };
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
  // Takes the next step of the search for the lookup's key and prefetches what the step after that
  // reads. True: there is a further step. Called for each lookup of a batch in turn, so that their
  // cache misses overlap. Inside an epoch guard, as Get.
  virtual bool PrefetchStep(Lookup* /*lookup*/, StagedLookup* /*staged*/) const { return false; }
  // Get, from where PrefetchStep has arrived. Requires: the guard of both calls was not paused in
  // between.
  virtual void GetStaged(const TableReadOptions& options, const StagedLookup& /*staged*/,
                         Lookup* lookup) {
    Get(options, lookup);
  }
  // Called inside an epoch guard in which the reader was found, or beside a count.
  virtual std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) = 0;
  // False: the table's filter says that there is nothing for the seek that `seek` was told of last;
  // internal_target is its target. A cursor need then not be made, or moved. Called as NewCursor
  // is.
  virtual bool MayMatch(SeekPrefix* /*seek*/, const Slice& /*internal_target*/) const {
    return true;
  }
  // Where in the file an entry with this internal key would be; monotone in the key; the file size
  // for keys past the end.
  virtual uint64_t ApproximateOffsetOf(const Slice& internal_key) = 0;
  // Internal keys that cut the table into about `pieces` equal parts, for subcompactions; fewer
  // when the table is small.
  virtual std::vector<std::string> Anchors(size_t pieces) = 0;
  // Reads every block and checks its checksum and order.
  virtual Status Verify() = 0;
  virtual const TableProperties& properties() const = 0;
  // Memory of index, filter and reader itself, without cached data blocks.
  virtual size_t MemoryBytes() const = 0;

  // A count keeps the reader and its file open. Acquired inside an epoch guard in which the reader
  // was found, or beside another count.
  void AddRef() { count_.Acquire(); }
  void Release() { count_.Release(); }
  static const PinOps kPinOps;
  PinSource pin_source() { return PinSource{&kPinOps, this}; }
  // Once, by the owner, after unlinking. Runs nothing itself, so that it may be called under locks.
  void Drop() { count_.Kill(); }
  int64_t Refs() const { return count_.Count(); }
  EpochDomain& epochs() const { return count_.epochs(); }
  // The data blocks in the cache, and whether one of them is pinned. Inside an epoch guard; exact
  // while no read is in progress.
  struct BlockCensus {
    int64_t cached = 0;
    bool any_pinned = false;
  };
  virtual BlockCensus CountBlocks() const = 0;

  // For the clock of the table cache: set when the reader is used, written only when it has to be.
  void MarkUsed() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  bool TakeUsed() { return used_.exchange(false, std::memory_order_relaxed); }

 protected:
  explicit TableReader(EpochDomain* epochs)
      : count_(epochs, [](void* self) { delete static_cast<TableReader*>(self); }, this) {}
  virtual ~TableReader() = default;
  friend struct TableReaderDeleter;

 private:
  SharedCount count_;
  std::atomic<bool> used_{true};
};

// Owns a reader that nobody else has seen yet.
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
  // Gives the count away.
  Pin TakePin() { return std::move(pin_); }

 private:
  TableReader* reader_;
  Pin pin_;
};

}  // namespace ashlar
