// Heap: which objects of the pool are in use.
//
//   durable     span_map.h: what each run of pages is for
//   volatile    heap_span.h: which objects of a span are taken; classes of spans; counters
//               reserved_objects.h: taken ahead of use, so that Allocate takes the mutex rarely
//
//   Allocate -> [unpublished] -> published in a slot -> BeforeUnlink -> unlinked -> Retire ->
//   (retired_objects.h) -> free         \-> Release: never published -> free
//
// An object is live if and only if something published refers to it: README.md has the reasons.
// I1: an object is handed out only when nothing durable refers to it any more, after the fence that
//     unlinked it. Spans and pages of before the open hand out nothing until the mark is complete.
// I2: kInsert takes an object only if another one of its class stays free, which no thread
//     reserves, so that a value can be replaced by one of its size in a full pool. Spans that are
//     being emptied hand out again where their class, or an insert, finds nothing else.
// I3: until the mark is over an object that was published before the open is in use from when the
//     mark met it or BeforeUnlink named it, whichever came first.
// I4: a new span is an operation of its own, committed before what it allots is used. The operation
//     begins before the mutex is taken (pool_locks.h): allocate outside of PoolOperations.
// I5: so many pages stay free that the log of a batch that deletes from every leaf has room, a word
//     for each leaf. Only AllocateHeldBack takes them.
// I6: reserved objects are taken back before a span is refused: they count as free (UsedBytes).
// I7: a call that finds no ordinary memory changes nothing. Freeing objects never fails.
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
  kInsert,  // leaves the held-back object alone
  kUpdate,  // may take it: the record that this one replaces will fill the gap
  kMove,    // as kInsert, and takes nothing from spans that are being emptied
};

class Heap {
 public:
  // `refuse` is for tests: it is called before each allocation; true makes the allocation fail.
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

  // ---- The mark, concurrently with all other calls. MarkRecord takes the record of a slot or
  // separator, of at least so many bytes; a second call is harmless. False: no such object can be
  // there.
  bool MarkRecord(PoolOffset record, uint64_t bytes);
  // The end of the mark. `complete`: all objects that were live at open are marked. If not, the
  // spans from before the open hand out nothing while the heap lives.
  void FinishMark(bool complete) noexcept;
  // The end of a mark that met damage: nothing is allocated from here on. The same holds when an
  // allocation meets a damaged entry of the span map.
  void FailMark(Status damage) noexcept;
  // The damage, or Ok. No change may begin after it.
  Status status() const;
  bool marked() const;
  // Returns when FinishMark was called.
  void WaitForMark();

  // ---- Allocation, outside of locks, guards and operations. NoSpace when there is none.
  Result<PoolOffset> Allocate(uint64_t bytes, Reserve reserve) ASHLAR_BEGINS_OPERATION;
  Result<PoolOffset> AllocateLeaf() ASHLAR_BEGINS_OPERATION;
  // Whole pages for at most `bytes` in one piece, from the pages that are held back too (I5). One
  // thread at a time: with the tree's scarce mutex.
  Result<PoolObject> AllocateHeldBack(uint64_t bytes) ASHLAR_BEGINS_OPERATION;
  // Calls `allocate`, which returns a Status or a Result. On NoSpace waits for the mark, frees all
  // that was retired, and calls it once more.
  template <typename Function>
  auto OrReclaim(const Function& allocate) ASHLAR_BEGINS_OPERATION {
    auto allocated = allocate();
    if (!IsNoSpace(allocated)) return allocated;
    WaitForMark();
    Reclaim();
    return allocate();
  }
  // An object of more than kSmallBytesMax at the lowest place that is below `offset`, or in the
  // shortest run of free pages above it. NoSpace: there is none.
  Result<PoolOffset> AllocateToward(Toward end, uint64_t bytes,
                                    PoolOffset offset) ASHLAR_BEGINS_OPERATION;
  // Frees an object that was never published.
  void Release(PoolOffset object) noexcept;
  // Names a published object before it is unlinked. Requires: the lock that orders the unlinking
  // with the mark's visit of the leaf.
  void BeforeUnlink(PoolOffset object) {
    // Acquire pairs with FinishMark's release: a mark that is over met the object.
    if (!mark_is_over_.load(std::memory_order_acquire)) [[unlikely]]
      NoteBeforeUnlink(object);
  }
  // Frees a published object, which is unlinked durably, after its epoch and its pins. `bytes`,
  // about: large batches are freed earlier. May run deleters: only the locks of leaves and of the
  // structure may be held.
  void Retire(PoolOffset object, uint64_t bytes) noexcept { retired_.Add(object, bytes); }
  // Waits for every guard of the tree and frees the retired objects that are not pinned. Outside of
  // guards. Its cost grows with the retired objects that are pinned.
  void Reclaim() noexcept { retired_.Reclaim(); }
  // The same without those that were found pinned earlier.
  void ReclaimRecent() noexcept { retired_.FinishBatches(); }

  // The bytes that the object at `offset` occupies, 0 when there can be none: with kLarge, whole
  // pages.
  uint64_t ObjectBytes(PoolOffset offset) const;
  // Until the mark is complete everything from before the open counts.
  uint64_t UsedBytes() const;
  FreePages CountFreePages() const;
  // Bytes of volatile state.
  uint64_t VolatileBytes() const;

  // ---- Defragmentation: spans of records with at most this share of their objects in use hand out
  // nothing until EndEvacuation, or until I2 needs one. Records are moved with Reserve::kMove.
  void BeginEvacuation(double used_share_max);
  // Whether the record lies in such a span.
  bool IsEvacuated(PoolOffset record) const;
  void EndEvacuation() noexcept;

  // Asserts that spans, classes and counters agree (I2), and the invariants of the span map, and of
  // the reserved and the retired objects.
  void CheckInvariants() const;

 private:
  struct Class {
    // With free objects; the last one is allocated from. It has room for all spans of the class.
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
  // Commits the operation when there is a span.
  Result<HeapSpan*> NewSpan(PoolOperation* op, SpanKind kind, uint32_t class_index, uint64_t pages,
                            Pages from) ASHLAR_REQUIRES(kHeapMutex);
  void StopAllocations(Status damage) noexcept ASHLAR_REQUIRES(kHeapMutex);
  // After the map gave no pages: the damage that it has met, which stops allocations, or Ok.
  Status CheckMap() ASHLAR_REQUIRES(kHeapMutex);
  // Takes the one object of a new span.
  PoolOffset TakeWhole(HeapSpan* span) ASHLAR_REQUIRES(kHeapMutex);
  uint64_t PagesHeldBack(uint64_t leaf_spans) const;
  uint64_t SpanPagesOf(uint32_t class_index) const ASHLAR_REQUIRES(kHeapMutex);
  // For a span of fewer objects where that one has no room; 0: none would help.
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
  // Of retired objects.
  void FreeAll(std::span<const PoolOffset> objects) noexcept;
  bool GivePages(uint64_t page, uint64_t pages) noexcept ASHLAR_REQUIRES(kHeapMutex);
  bool IsReserved(const HeapSpan& span, PoolOffset object) const ASHLAR_REQUIRES(kHeapMutex);
  void CheckClasses() const ASHLAR_REQUIRES(kHeapMutex);
  void PrefetchSpans(std::span<const PoolOffset> objects) const ASHLAR_REQUIRES(kHeapMutex);

  Medium* const medium_;
  const std::function<bool()> refuse_;
  std::atomic<bool> mark_is_over_{false};  // by FinishMark
  std::atomic<bool> has_damage_{false};    // set after damage_

  mutable Mutex mutex_;
  CondVar mark_finished_;
  bool marked_ ASHLAR_GUARDED_BY(kHeapMutex) = false;
  Status damage_ ASHLAR_GUARDED_BY(kHeapMutex);  // that the mark or an allocation met
  SpanMap map_ ASHLAR_GUARDED_BY(kHeapMutex);
  // By page, up to the last page that was in use: memory for the other pages of the pool is not
  // touched. Null inside spans and where nothing is in use.
  std::vector<std::unique_ptr<HeapSpan>> spans_ ASHLAR_GUARDED_BY(kHeapMutex);
  // The same: for every page in use, the first of its span.
  std::vector<uint32_t> first_page_of_ ASHLAR_GUARDED_BY(kHeapMutex);
  uint64_t span_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // of volatile state
  std::array<Class, kSizeClasses + 1> classes_
      ASHLAR_GUARDED_BY(kHeapMutex);  // the last one is leaves
  uint64_t leaf_spans_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;
  uint64_t taken_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // by objects, with the reserved ones
  // Of spans from before the open, without what the mark has met. 0 when these spans hand out.
  uint64_t unmarked_bytes_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;
  // An empty span was kept because there was no memory to enter it among the free runs.
  bool has_kept_spans_ ASHLAR_GUARDED_BY(kHeapMutex) = false;
  bool has_evacuation_ ASHLAR_GUARDED_BY(kHeapMutex) = false;  // begun, and not ended
  // In spans that the mark has not finished.
  std::vector<PoolOffset> freed_before_mark_ ASHLAR_GUARDED_BY(kHeapMutex);
  ReservedObjects reserved_;
  RetiredObjects retired_;
};

}  // namespace ashlar::pmem
