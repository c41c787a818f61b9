// Heap: which bytes of the pool are in use.
//
//   durable     the span map: what each run of pages is for. One word and one fence per span.
//   volatile    which objects of a span are taken: a bitmap per span, free runs of pages, counters
//
//   Allocate -> [unpublished] -> published in a slot -> BeforeUnlink -> unlinked -> Retire ->
//   (epoch over, no pins) -> free
//                     \-> Release: never published
//                     ------------------------------------------------------------------^
//
// Nothing durable says that an object is taken: it is live exactly when something published refers
// to it. So an allocation that a crash interrupts needs no undo, and an open has to find the free
// space again. BeginMark..FinishMark do that beside everything else: until then spans that were
// there at open hand out nothing, and new records go above the high-water mark.
//
//   size classes    multiples of 16 bytes up to 1 KiB, then 8 per doubling up to 16 KiB; a span of
//                   64 KiB holds records of one class
//   larger          a span of whole pages of its own
//   leaves          spans of 64 KiB; recovery reads all leaves, so they are exact at once
//                   (MarkLeaves)
//
// I1: spans tile the pages below the high-water mark: each entry's next is `pages` later. Only that
//     chain of entries means anything.
// I2: an object is handed out only when nothing durable refers to it any more: it was retired after
//     the fence that unlinked it.
// I3: in a class with objects in use, one object stays held back from kInsert, so that a value can
//     be replaced by one of its size in a full pool.
// I4: until the mark is over an object that was published before the open counts as in use from
//     when the mark met it or BeforeUnlink named it, whichever came first. So what is unlinked
//     ahead of the mark is not taken for free before it is retired.
// I5: a new span is an operation of its own, committed before what it allots is used. The operation
//     begins before the mutex is taken (pool_locks.h): allocate outside of PoolOperations.
// I6: so many pages stay free that the log of a batch that deletes from every leaf has room, a word
//     for each leaf. Only AllocateHeldBack takes them.
//
// Headers per object were rejected: 16 bytes on records of 32. A durable free list was rejected: a
// store and a fence for each change.
//
// Thread safety: any thread; one mutex. Lifetime: Close before destruction waits for what was
// retired.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "execute/epoch.h"
#include "platform/mutex.h"
#include "pmem/free_runs.h"
#include "pmem/layout.h"
#include "pmem/medium.h"
#include "pmem/pin_table.h"
#include "pmem/pool_locks.h"

namespace ashlar::pmem {

inline constexpr uint64_t kSpanBytes = uint64_t{64} << 10;
inline constexpr uint64_t kSmallBytesMax = uint64_t{16}
                                           << 10;  // larger objects get a span of their own
inline constexpr uint32_t kSizeClasses = 96;
inline constexpr uint64_t kLeavesPerSpan = kSpanBytes / kLeafBytes;

// The class of a size from 1 to kSmallBytesMax, and the bytes of an object of a class.
uint32_t SizeClassOf(uint64_t bytes);
uint64_t SizeClassBytes(uint32_t size_class);

// An allocated piece of the pool.
struct PoolObject {
  PoolOffset offset = 0;
  uint64_t bytes = 0;
};

enum class Reserve : uint8_t {
  kInsert,  // leaves the held-back object alone
  kUpdate,  // may take it: the record that this one replaces will fill the gap
};

class Heap {
 public:
  // `refuse`, when not empty, is asked before each allocation and makes it fail: for tests.
  Heap(Medium* medium, PinTable* pins, EpochDomain* epochs, const PoolHeader& header,
       std::function<bool()> refuse);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // ---- Recovery, one thread, in this order.
  // Reads the span map. Corruption naming the entry that is wrong.
  Status ReadMap();
  // Where the spans of leaves begin, in order; kLeavesPerSpan in each.
  std::vector<PoolOffset> LeafSpans() const;
  // Which leaves of the span that begins here are in use. Once for each span.
  void MarkLeaves(PoolOffset span, const std::bitset<kLeavesPerSpan>& in_use);

  // ---- The mark, beside everything else. MarkRecord takes what a slot or separator refers to;
  // twice is harmless. False: no object can be there.
  bool MarkRecord(PoolOffset record);
  // Nothing follows. `complete`: everything that was live at open has been marked; otherwise the
  // spans of then hand out nothing while the heap lives.
  void FinishMark(bool complete);
  bool marked() const;
  // Returns when FinishMark was called.
  void WaitForMark();

  // ---- Allocation, outside of locks, guards and operations. NoSpace when there is none.
  Result<PoolOffset> Allocate(uint64_t bytes, Reserve reserve) ASHLAR_EXCLUDES(kPoolOperation);
  Result<PoolOffset> AllocateLeaf() ASHLAR_EXCLUDES(kPoolOperation);
  // Whole pages for at most `bytes` in one piece, from the pages that are held back too (I6). One
  // thread at a time: with the tree's scarce mutex.
  Result<PoolObject> AllocateHeldBack(uint64_t bytes) ASHLAR_EXCLUDES(kPoolOperation);
  // Calls `allocate`, which returns a Status or a Result. On NoSpace waits for the mark, frees all
  // that was retired, and calls it once more.
  template <typename Function>
  auto OrReclaim(const Function& allocate) ASHLAR_EXCLUDES(kPoolOperation) {
    auto allocated = allocate();
    if (!StatusOf(allocated).IsNoSpace()) return allocated;
    WaitForMark();
    Reclaim();
    return allocate();
  }
  // An object of more than kSmallBytesMax at a lower place than `offset`. NoSpace: there is none.
  Result<PoolOffset> AllocateLower(uint64_t bytes, PoolOffset offset)
      ASHLAR_EXCLUDES(kPoolOperation);
  // Gives back what was never published.
  void Release(PoolOffset object);
  // What is published and about to be unlinked: before that, with the lock held that orders the
  // unlinking with the mark's look at the leaf.
  void BeforeUnlink(PoolOffset object) {
    // Acquire pairs with FinishMark's release: a mark that is over met the object.
    if (!mark_is_over_.load(std::memory_order_acquire)) [[unlikely]]
      NoteBeforeUnlink(object);
  }
  // What was published and is unlinked, durably: free when epoch and pins are over. `bytes`, about:
  // much is given back earlier. May run deleters: hold no locks but leaves' and the structure's.
  void Retire(PoolOffset object, uint64_t bytes);
  // Waits for every guard of the tree and frees what was retired and is not pinned. Outside of
  // guards.
  void Reclaim();

  // The bytes that the object at `offset` occupies, 0 when there can be none: with kLarge, whole
  // pages.
  uint64_t ObjectBytes(PoolOffset offset) const;
  uint64_t UsedBytes() const;
  // Bytes of volatile state.
  uint64_t VolatileBytes() const;

  // ---- Defragmentation: spans of records with at most this share of their objects in use hand out
  // nothing until EndEvacuation.
  void BeginEvacuation(double used_share_max);
  // Whether the record lies in such a span.
  bool IsEvacuated(PoolOffset record) const;
  void EndEvacuation();

 private:
  struct Span;
  struct Class {
    std::vector<Span*> open;     // with free objects; the last one is allocated from
    uint64_t free_objects = 0;   // in spans that hand out
    uint64_t taken_objects = 0;  // in all spans of the class
  };
  struct RetiredBatch;

  static constexpr uint32_t kLeafClass = kSizeClasses;

  static const Status& StatusOf(const Status& status) { return status; }
  static const Status& StatusOf(const Result<PoolOffset>& object) { return object.status(); }
  Mutex& mutex() const ASHLAR_RETURN_CAPABILITY(kHeapMutex) { return mutex_; }

  Span* SpanOf(PoolOffset offset) const ASHLAR_REQUIRES(kHeapMutex);
  Result<PoolOffset> AllocateSmall(uint32_t class_index, Reserve reserve);
  Result<PoolOffset> AllocateLarge(uint64_t bytes);
  bool HasObject(const Class& size_class, Reserve reserve) const ASHLAR_REQUIRES(kHeapMutex);
  PoolOffset TakeObject(Class* size_class) ASHLAR_REQUIRES(kHeapMutex);
  enum class Pages : uint8_t { kNormal, kHeldBackToo };
  Result<Span*> NewSpan(PoolOperation* op, SpanKind kind, uint32_t class_index, uint64_t pages,
                        Pages from) ASHLAR_REQUIRES(kHeapMutex);
  Result<uint64_t> TakePages(PoolOperation* op, const SpanEntry& entry, Pages from)
      ASHLAR_REQUIRES(kHeapMutex);
  uint64_t PagesHeldBack(uint64_t leaf_spans) const;
  uint64_t FreePages() const ASHLAR_REQUIRES(kHeapMutex) {
    return free_runs_.pages() + (pages_ - high_water_page_);
  }
  uint64_t PublishSpanAt(PoolOperation* op, uint64_t page, const SpanEntry& entry)
      ASHLAR_REQUIRES(kHeapMutex);
  uint64_t SpanPages(uint32_t class_index) const ASHLAR_REQUIRES(kHeapMutex);
  void PublishEntry(PoolOperation* op, uint64_t page, const SpanEntry& entry)
      ASHLAR_REQUIRES(kHeapMutex);
  uint64_t EndOfTiles(uint64_t page, uint64_t end) const ASHLAR_REQUIRES(kHeapMutex);
  Span* AddSpan(const SpanEntry& entry, uint64_t page) ASHLAR_REQUIRES(kHeapMutex);
  void NoteInUse(Span* span, PoolOffset record) ASHLAR_REQUIRES(kHeapMutex);
  void NoteBeforeUnlink(PoolOffset object);
  void OpenMarkedSpans() ASHLAR_REQUIRES(kHeapMutex);
  void Open(Span* span) ASHLAR_REQUIRES(kHeapMutex);
  void Shut(Span* span) ASHLAR_REQUIRES(kHeapMutex);
  void FreeObject(PoolOffset offset) ASHLAR_REQUIRES(kHeapMutex);
  void DropSpan(Span* span) ASHLAR_REQUIRES(kHeapMutex);
  bool IsSpare(const Span& span) const ASHLAR_REQUIRES(kHeapMutex);
  bool DropSpareSpans() ASHLAR_REQUIRES(kHeapMutex);
  void FreeUnlessPinned(PoolOffset offset) ASHLAR_REQUIRES(kHeapMutex);
  void RetryPinned() ASHLAR_REQUIRES(kHeapMutex);
  void FreeBatch(RetiredBatch* batch);
  void PrefetchSpans(const std::vector<PoolOffset>& objects) const ASHLAR_REQUIRES(kHeapMutex);
  void HandOver(std::unique_ptr<RetiredBatch> batch);

  Medium* const medium_;
  PinTable* const pins_;
  EpochDomain& epochs_;
  const uint64_t map_offset_;
  const uint64_t first_page_;
  const uint64_t pages_;
  const std::function<bool()> refuse_;
  std::atomic<bool> mark_is_over_{false};  // by FinishMark

  mutable Mutex mutex_;
  CondVar mark_finished_;
  bool marked_ ASHLAR_GUARDED_BY(kHeapMutex) = false;
  std::vector<std::unique_ptr<Span>> spans_
      ASHLAR_GUARDED_BY(kHeapMutex);  // by page; null inside spans and where nothing is in use
  std::vector<uint32_t> first_page_of_
      ASHLAR_GUARDED_BY(kHeapMutex);  // for every page in use, the first of its span
  std::array<Class, kSizeClasses + 1> classes_
      ASHLAR_GUARDED_BY(kHeapMutex);                  // the last one is leaves
  FreeRuns free_runs_ ASHLAR_GUARDED_BY(kHeapMutex);  // below the high-water mark
  uint64_t high_water_page_ ASHLAR_GUARDED_BY(kHeapMutex);
  uint64_t leaf_spans_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;
  uint64_t taken_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // by objects
  std::unique_ptr<RetiredBatch> retired_
      ASHLAR_GUARDED_BY(kHeapMutex);  // not yet handed to the epoch
  std::vector<PoolOffset> pinned_
      ASHLAR_GUARDED_BY(kHeapMutex);  // retired, epoch over, pinned when last looked at
  std::vector<PoolOffset> freed_before_mark_
      ASHLAR_GUARDED_BY(kHeapMutex);  // in spans that the mark has not finished
};

}  // namespace ashlar::pmem
