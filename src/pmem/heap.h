// Heap: which objects of the pool are in use.
//
//   durable     span_map.h: the use of each run of pages
//   volatile    heap_span.h: which objects of a span are taken; classes of spans; counters
//               reserved_objects.h: taken ahead of use, so that Allocate rarely takes the mutex
//
//   Allocate -> [unpublished] -> published in a slot -> BeforeUnlink -> unlinked -> Retire ->
//   (retired_objects.h) -> free         \-> Release: never published -> free
//
// An object is live if and only if something published refers to it: README.md has the reasons.
// I1: an object is handed out only after the fence that unlinked it, when nothing durable refers to
//     it. Spans and pages from before the open hand out nothing until the mark is complete.
// I2: kInsert takes an object only if another object of its class stays free and unreserved, so
//     that a value can be replaced by one of the same size in a full pool. Spans that are being
//     emptied hand out objects again if their class, or an insert, finds no other.
// I3: until the mark is over, an object that was published before the open is in use from the time
//     when the mark reached it or BeforeUnlink named it, whichever was first.
// I4: a new span is an operation of its own, committed before its objects are used. The operation
//     begins before the mutex is taken (pool_locks.h), so allocate outside of PoolOperations.
// I5: enough pages stay free for the log of a batch that deletes from every leaf, with one word for
//     each leaf. Only AllocateHeldBack takes these pages.
// I6: reserved objects count as free (UsedBytes), so they are taken back before a span is refused.
// I7: a call whose allocation of memory fails changes nothing. Freeing objects never fails.
//
// Thread safety: any thread; one mutex. Lifetime: the destructor frees the retired objects.
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
#include "pmem/heap_span.h"
#include "pmem/layout.h"
#include "pmem/medium.h"
#include "pmem/pin_table.h"
#include "pmem/pool_locks.h"
#include "pmem/reserved_objects.h"
#include "pmem/retired_objects.h"
#include "pmem/size_class.h"
#include "pmem/span_map.h"

namespace ashlar::pmem {

inline constexpr uint64_t kLeavesPerSpan = kSpanBytes / kLeafBytes;

// An allocated piece of the pool.
struct PoolObject {
  PoolOffset offset = 0;
  uint64_t bytes = 0;
};

// The end of the pool towards which a large record moves.
enum class Toward : uint8_t { kBeginning, kEnd };

struct FreePages {
  uint64_t all;
  uint64_t longest_run;
  PoolOffset first;
};

enum class Reserve : uint8_t {
  kInsert,  // does not take the held-back object
  kUpdate,  // may take it, because the replaced record will fill the gap
  kMove,    // as kInsert, and takes nothing from spans that are being emptied
};

class Heap {
 public:
  // `refuse` is for tests. It is called before each allocation, which fails if it returns true.
  Heap(Medium* medium, PinTable* pins, EpochDomain* epochs, const PoolHeader& header,
       std::function<bool()> refuse);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // ---- Recovery, one thread, in this order.
  // Reads the span map. Returns Corruption naming the bad entry.
  Status ReadMap();
  // The offsets of the spans of leaves, ascending. Each span has kLeavesPerSpan leaves.
  std::vector<PoolOffset> LeafSpans() const;
  // Marks the leaves in use of the span at this offset. Call once for each span.
  void MarkLeaves(PoolOffset span, const std::bitset<kLeavesPerSpan>& in_use);

  // ---- The mark, concurrently with all other calls. MarkRecord takes the record of a slot or
  // separator, which has at least `bytes` bytes. A second call is harmless. Returns false if no
  // such object can be there.
  bool MarkRecord(PoolOffset record, uint64_t bytes);
  // Ends the mark. `complete`: all objects that were live at open are marked. If not, the spans
  // from before the open hand out nothing during the life of the heap.
  void FinishMark(bool complete) noexcept;
  // Ends a mark that found damage. Nothing is allocated from here on. The same holds after an
  // allocation has found a damaged entry of the span map.
  void FailMark(Status damage) noexcept;
  // The damage that was found, or Ok. No change may begin after damage.
  Status status() const;
  bool marked() const;
  // Waits until FinishMark has been called.
  void WaitForMark();

  // ---- Allocation, outside of locks, guards and operations. Returns NoSpace if there is no space.
  Result<PoolOffset> Allocate(uint64_t bytes, Reserve reserve) ASHLAR_BEGINS_OPERATION;
  Result<PoolOffset> AllocateLeaf() ASHLAR_BEGINS_OPERATION;
  // One piece of complete pages for at most `bytes`, also from the pages that are held back (I5).
  // One thread at a time, under the tree's scarce mutex.
  Result<PoolObject> AllocateHeldBack(uint64_t bytes) ASHLAR_BEGINS_OPERATION;
  // Calls `allocate`, which returns a Status or a Result. On NoSpace, waits for the mark, reclaims
  // the retired objects, and calls it once more.
  template <typename Function>
  auto OrReclaim(const Function& allocate) ASHLAR_BEGINS_OPERATION {
    auto allocated = allocate();
    if (!IsNoSpace(allocated)) return allocated;
    WaitForMark();
    Reclaim();
    return allocate();
  }
  // Allocates an object of more than kSmallBytesMax, at the lowest place below `offset` or in the
  // shortest run of free pages above it. Returns NoSpace if there is no such place.
  Result<PoolOffset> AllocateToward(Toward end, uint64_t bytes,
                                    PoolOffset offset) ASHLAR_BEGINS_OPERATION;
  // Frees an object that was never published.
  void Release(PoolOffset object) noexcept;
  // Notes that a published object will be unlinked. Requires: the caller holds the lock that orders
  // the unlinking with the mark's visit to the leaf.
  void BeforeUnlink(PoolOffset object) {
    // Acquire pairs with FinishMark's release. A mark that is over has reached the object.
    if (!mark_is_over_.load(std::memory_order_acquire)) [[unlikely]]
      NoteBeforeUnlink(object);
  }
  // Frees a published object after its epoch and its pins. Requires: it is durably unlinked.
  // `bytes` may be approximate. Large batches are freed earlier. May run deleters, so the caller
  // may hold no locks except those of leaves and of the structure.
  void Retire(PoolOffset object, uint64_t bytes) noexcept { retired_.Add(object, bytes); }
  // Waits for every guard of the tree and frees the retired objects that are not pinned. Requires:
  // no guard of this thread. The cost grows with the number of pinned retired objects.
  void Reclaim() noexcept { retired_.Reclaim(); }
  // The same, except for the objects that were found pinned earlier.
  void ReclaimRecent() noexcept { retired_.FinishBatches(); }

  // The bytes that the object at `offset` occupies, or 0 if no object can be there. A large object
  // occupies complete pages.
  uint64_t ObjectBytes(PoolOffset offset) const;
  // The bytes in use. Until the mark is complete, everything from before the open counts.
  uint64_t UsedBytes() const;
  FreePages CountFreePages() const;
  // Bytes of volatile state.
  uint64_t VolatileBytes() const;

  // ---- Defragmentation. Spans of records with at most this share of their objects in use hand out
  // nothing until EndEvacuation, or until I2 needs one. Records are moved with Reserve::kMove.
  void BeginEvacuation(double used_share_max);
  // Whether the record is in such a span.
  bool IsEvacuated(PoolOffset record) const;
  void EndEvacuation() noexcept;

  // Asserts that spans, classes and counters agree (I2), and the invariants of the span map, and of
  // the reserved and the retired objects.
  void CheckInvariants() const;

 private:
  struct Class {
    // Spans with free objects. The last one is allocated from. Has room for all spans of the class.
    std::vector<HeapSpan*> open;
    size_t spans = 0;            // open or not
    uint64_t free_objects = 0;   // in spans that hand out
    uint64_t taken_objects = 0;  // in all spans of the class, with the reserved ones
    uint64_t empty_spans = 0;    // of the open ones
  };

  static constexpr uint32_t kLeafClass = kSizeClasses;

  static bool IsNoSpace(const Status& status) { return status.IsNoSpace(); }
  static bool IsNoSpace(const Result<PoolOffset>& object) { return object.status().IsNoSpace(); }
  Mutex& mutex() const ASHLAR_RETURN_CAPABILITY(kHeapMutex) { return mutex_; }

  HeapSpan* SpanOf(PoolOffset offset) const ASHLAR_REQUIRES(kHeapMutex);
  Result<PoolOffset> AllocateSmall(uint32_t class_index, Reserve reserve);
  Result<PoolOffset> AllocateLarge(uint64_t bytes);
  uint64_t HeldBack(const Class& size_class, Reserve reserve) const ASHLAR_REQUIRES(kHeapMutex);
  bool HasObject(const Class& size_class, Reserve reserve) const ASHLAR_REQUIRES(kHeapMutex);
  PoolOffset TakeObject(uint32_t class_index, Reserve reserve) ASHLAR_REQUIRES(kHeapMutex);
  enum class Pages : uint8_t { kNormal, kHeldBackToo };
  // Commits the operation if it returns a span.
  Result<HeapSpan*> NewSpan(PoolOperation* op, SpanKind kind, uint32_t class_index, uint64_t pages,
                            Pages from) ASHLAR_REQUIRES(kHeapMutex);
  void StopAllocations(Status damage) noexcept ASHLAR_REQUIRES(kHeapMutex);
  // For when the map gave no pages: the damage that it found, which stops allocations, or Ok.
  Status CheckMap() ASHLAR_REQUIRES(kHeapMutex);
  // Takes the one object of a new span.
  PoolOffset TakeWhole(HeapSpan* span) ASHLAR_REQUIRES(kHeapMutex);
  uint64_t PagesHeldBack(uint64_t leaf_spans) const;
  uint64_t SpanPagesOf(uint32_t class_index) const ASHLAR_REQUIRES(kHeapMutex);
  // The pages of a span with fewer objects, for when SpanPagesOf does not fit. 0: none would help.
  uint64_t FewerPagesOf(uint32_t class_index, Reserve reserve) const ASHLAR_REQUIRES(kHeapMutex);
  void LendEvacuated(uint32_t class_index, Reserve reserve) noexcept ASHLAR_REQUIRES(kHeapMutex);
  void EndEvacuationOf(HeapSpan* span) noexcept ASHLAR_REQUIRES(kHeapMutex);
  std::unique_ptr<HeapSpan> MakeSpan(const SpanEntry& entry) ASHLAR_REQUIRES(kHeapMutex);
  HeapSpan* AddSpan(std::unique_ptr<HeapSpan> span, uint64_t page) noexcept
      ASHLAR_REQUIRES(kHeapMutex);
  void NoteInUse(HeapSpan* span, PoolOffset record) ASHLAR_REQUIRES(kHeapMutex);
  void NoteBeforeUnlink(PoolOffset object);
  void OpenMarkedSpans() noexcept ASHLAR_REQUIRES(kHeapMutex);
  void Open(HeapSpan* span) noexcept ASHLAR_REQUIRES(kHeapMutex);
  void Shut(HeapSpan* span) noexcept ASHLAR_REQUIRES(kHeapMutex);
  void FreeObject(PoolOffset offset) noexcept ASHLAR_REQUIRES(kHeapMutex);
  void FreeIn(HeapSpan* span, PoolOffset offset) noexcept ASHLAR_REQUIRES(kHeapMutex);
  void DropSpan(HeapSpan* span) noexcept ASHLAR_REQUIRES(kHeapMutex);
  bool IsSpare(const HeapSpan& span) const ASHLAR_REQUIRES(kHeapMutex);
  void DropSpareSpans() noexcept ASHLAR_REQUIRES(kHeapMutex);
  void PrefetchForRecord(PoolOffset next, uint64_t bytes) const;
  void TakeBackReserved() noexcept ASHLAR_REQUIRES(kHeapMutex);
  void FreeIdleSpace() noexcept ASHLAR_REQUIRES(kHeapMutex);
  // Frees retired objects.
  void FreeAll(std::span<const PoolOffset> objects) noexcept;
  bool GivePages(uint64_t page, uint64_t pages) noexcept ASHLAR_REQUIRES(kHeapMutex);
  bool IsReserved(const HeapSpan& span, PoolOffset object) const ASHLAR_REQUIRES(kHeapMutex);
  void CheckClasses() const ASHLAR_REQUIRES(kHeapMutex);
  void PrefetchSpans(std::span<const PoolOffset> objects) const ASHLAR_REQUIRES(kHeapMutex);

  Medium* const medium_;
  const std::function<bool()> refuse_;
  std::atomic<bool> mark_is_over_{false};  // set by FinishMark
  std::atomic<bool> has_damage_{false};    // set after damage_

  mutable Mutex mutex_;
  CondVar mark_finished_;
  bool marked_ ASHLAR_GUARDED_BY(kHeapMutex) = false;
  Status damage_ ASHLAR_GUARDED_BY(kHeapMutex);  // found by the mark or by an allocation
  SpanMap map_ ASHLAR_GUARDED_BY(kHeapMutex);
  // By page, up to the last page that was in use, so that memory for the other pages of the pool is
  // not touched. Null inside spans and where nothing is in use.
  std::vector<std::unique_ptr<HeapSpan>> spans_ ASHLAR_GUARDED_BY(kHeapMutex);
  // Indexed in the same way: for every page in use, the first page of its span.
  std::vector<uint32_t> first_page_of_ ASHLAR_GUARDED_BY(kHeapMutex);
  uint64_t span_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // of volatile state
  std::array<Class, kSizeClasses + 1> classes_
      ASHLAR_GUARDED_BY(kHeapMutex);  // the last one is leaves
  uint64_t leaf_spans_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;
  uint64_t taken_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // by objects, with the reserved ones
  // Unmarked bytes of spans from before the open. 0 when these spans hand out objects.
  uint64_t unmarked_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;
  // An empty span was kept because its entry among the free runs could not be allocated.
  bool has_kept_spans_ ASHLAR_GUARDED_BY(kHeapMutex) = false;
  bool has_evacuation_ ASHLAR_GUARDED_BY(kHeapMutex) = false;  // begun, and not ended
  // Freed objects in spans that the mark has not finished.
  std::vector<PoolOffset> freed_before_mark_ ASHLAR_GUARDED_BY(kHeapMutex);
  ReservedObjects reserved_;
  RetiredObjects retired_;
};

}  // namespace ashlar::pmem
