#include "pmem/heap.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/format.h"
#include "execute/epoch.h"
#include "platform/cpu.h"

namespace ashlar::pmem {

namespace {
uint64_t PagesFor(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }
}  // namespace

Heap::Heap(Medium* medium, PinTable* pins, EpochDomain* epochs, const PoolHeader& header,
           std::function<bool()> refuse)
    : medium_(medium),
      refuse_(std::move(refuse)),
      map_(medium, header),
      retired_(pins, epochs, [this](std::span<const PoolOffset> objects) { FreeAll(objects); }) {
  spans_.reserve(header.pool_bytes / kPageBytes);
  first_page_of_.reserve(header.pool_bytes / kPageBytes);
}

Heap::~Heap() { Reclaim(); }

// ---- Recovery and mark.

Status Heap::ReadMap() {
  MutexLock lock(mutex());
  return map_.Read([this](uint64_t page, const SpanEntry& entry) {
    kHeapMutex.AssertHeld();
    AddSpan(MakeSpan(entry), page)->marking = true;
    unmarked_bytes_ += entry.pages * kPageBytes;
  });
}

std::vector<PoolOffset> Heap::LeafSpans() const {
  MutexLock lock(mutex());
  std::vector<PoolOffset> starts;
  for (const std::unique_ptr<HeapSpan>& span : spans_) {
    if (span != nullptr && span->entry.kind == SpanKind::kLeaves)
      starts.push_back(span->page * kPageBytes);
  }
  return starts;
}

void Heap::MarkLeaves(PoolOffset start, const std::bitset<kLeavesPerSpan>& in_use) {
  MutexLock lock(mutex());
  HeapSpan* const span = SpanOf(start);
  // Requires: one of LeafSpans, once.
  ASHLAR_ASSERT(span != nullptr && span->entry.kind == SpanKind::kLeaves && span->taken == 0);
  for (uint32_t i = 0; i < kLeavesPerSpan; ++i) {
    if (in_use[i]) span->Take(i);
  }
  classes_[kLeafClass].taken_objects += span->taken;
  taken_bytes_ += span->taken * kLeafBytes;
  unmarked_bytes_ -= span->taken * kLeafBytes;
}

bool Heap::MarkRecord(PoolOffset record, uint64_t bytes) {
  MutexLock lock(mutex());
  HeapSpan* const span = SpanOf(record);
  if (span == nullptr || span->entry.kind == SpanKind::kLeaves || !span->Holds(record) ||
      span->object_bytes < bytes)
    return false;
  NoteInUse(span, record);
  return true;
}

void Heap::NoteInUse(HeapSpan* span, PoolOffset record) {
  if (!span->marking || span->IsTaken(span->IndexOf(record))) return;
  span->Take(span->IndexOf(record));
  taken_bytes_ += span->object_bytes;
  unmarked_bytes_ -= span->object_bytes;
  if (span->entry.kind != SpanKind::kLarge) classes_[span->class_index].taken_objects++;
}

void Heap::NoteBeforeUnlink(PoolOffset object) {
  MutexLock lock(mutex());
  HeapSpan* const span = SpanOf(object);
  // The offset comes from the pool. If there is no object, the offset is damaged.
  if (span != nullptr && span->Holds(object)) NoteInUse(span, object);
}

void Heap::FinishMark(bool complete) noexcept {
  MutexLock lock(mutex());
  if (complete) {
    map_.Confirm();
    OpenMarkedSpans();
  }
  marked_ = true;
  if constexpr (kDebugChecks) CheckClasses();
  mark_is_over_.store(true, std::memory_order_release);
  mark_finished_.SignalAll();
}

// Takes the reserved objects back, so that the next allocation of their threads takes the mutex.
void Heap::StopAllocations(Status damage) noexcept {
  damage_ = std::move(damage);
  TakeBackReserved();
  // Pairs with the acquire of status().
  has_damage_.store(true, std::memory_order_release);
}

void Heap::FailMark(Status damage) noexcept {
  {
    MutexLock lock(mutex());
    StopAllocations(std::move(damage));
  }
  FinishMark(false);
}

Status Heap::CheckMap() {
  Status damage = map_.status();
  if (!damage.ok()) StopAllocations(damage);
  return damage;
}

Status Heap::status() const {
  if (!has_damage_.load(std::memory_order_acquire)) [[likely]]
    return Status::OK();
  MutexLock lock(mutex());
  return damage_;
}

void Heap::OpenMarkedSpans() noexcept {
  unmarked_bytes_ = 0;
  for (const std::unique_ptr<HeapSpan>& span : spans_) {
    if (span == nullptr || !span->marking) continue;
    span->marking = false;
    if (span->taken < span->objects && span->entry.kind != SpanKind::kLarge) Open(span.get());
  }
  for (const PoolOffset offset : freed_before_mark_) {
    // A damaged pool may refer to one object twice.
    const HeapSpan* const span = SpanOf(offset);
    if (span != nullptr && span->IsTaken(span->IndexOf(offset))) FreeObject(offset);
  }
  freed_before_mark_ = {};
  for (size_t page = 0; page < spans_.size(); ++page) {
    HeapSpan* const span = spans_[page].get();
    if (span != nullptr && span->entry.kind != SpanKind::kLeaves && IsSpare(*span)) DropSpan(span);
  }
}

bool Heap::marked() const {
  MutexLock lock(mutex());
  return marked_;
}

void Heap::WaitForMark() {
  MutexLock lock(mutex());
  while (!marked_) mark_finished_.Wait(mutex());
}

// ---- Spans.

HeapSpan* Heap::SpanOf(PoolOffset offset) const {
  const uint64_t page = offset / kPageBytes;
  if (page >= spans_.size()) return nullptr;
  const uint32_t first = first_page_of_[page];
  return first == 0 ? nullptr : spans_[first].get();
}

// Allocates all memory that a span of this entry needs.
std::unique_ptr<HeapSpan> Heap::MakeSpan(const SpanEntry& entry) {
  uint32_t class_index = entry.size_class;
  uint64_t object_bytes = entry.pages * kPageBytes;
  if (entry.kind == SpanKind::kLeaves) {
    class_index = kLeafClass;
    object_bytes = kLeafBytes;
  } else if (entry.kind == SpanKind::kRecords) {
    object_bytes = SizeClassBytes(class_index);
  }
  if (entry.kind != SpanKind::kLarge) {
    constexpr size_t kSpansMin = 4;
    Class& size_class = classes_[class_index];
    if (size_class.open.capacity() <= size_class.spans)
      size_class.open.reserve(std::max(kSpansMin, 2 * size_class.spans));
  }
  return std::make_unique<HeapSpan>(entry, class_index, object_bytes);
}

// Requires: MakeSpan has made this span, and no other span since.
HeapSpan* Heap::AddSpan(std::unique_ptr<HeapSpan> span, uint64_t page) noexcept {
  const SpanEntry& entry = span->entry;
  if (entry.kind == SpanKind::kLeaves) leaf_spans_++;
  if (entry.kind != SpanKind::kLarge) classes_[span->class_index].spans++;
  const uint64_t end = page + entry.pages;
  if (spans_.size() < end) {
    spans_.resize(end);  // reserved by the constructor
    first_page_of_.resize(end, 0);
  }
  span->page = page;
  span_bytes_ += span->VolatileBytes();
  std::fill_n(first_page_of_.begin() + static_cast<ptrdiff_t>(page), entry.pages,
              static_cast<uint32_t>(page));
  spans_[page] = std::move(span);
  return spans_[page].get();
}

void Heap::Open(HeapSpan* span) noexcept {
  ASHLAR_DCHECK(!span->is_open && !span->marking);  // I1, and listed once
  span->is_open = true;
  Class& size_class = classes_[span->class_index];
  span->open_place = static_cast<uint32_t>(size_class.open.size());
  size_class.open.push_back(span);
  size_class.free_objects += span->objects - span->taken;
  if (span->taken == 0) size_class.empty_spans++;
}

// The last but one span moves to the free place, so that the last one, from which objects are
// taken, stays last. Constant time: an evacuation shuts most spans of a pool under the mutex.
void Heap::Shut(HeapSpan* span) noexcept {
  ASHLAR_DCHECK(span->is_open);  // the list of its class has it
  span->is_open = false;
  Class& size_class = classes_[span->class_index];
  std::vector<HeapSpan*>& open = size_class.open;
  const auto last = static_cast<uint32_t>(open.size() - 1);
  const auto move = [&open](uint32_t from, uint32_t to) {
    open[to] = open[from];
    open[to]->open_place = to;
  };
  if (span->open_place != last) {
    move(last - 1, span->open_place);
    move(last, last - 1);
  }
  open.pop_back();
  size_class.free_objects -= span->objects - span->taken;
  if (span->taken == 0) size_class.empty_spans--;
}

// I5. The shortest piece of a log is one page, which holds the words of kWordsPerPage leaves.
uint64_t Heap::PagesHeldBack(uint64_t leaf_spans) const {
  constexpr uint64_t kWordsPerPage = (kPageBytes - kBatchLogHeaderBytes) / kBatchWordBytes;
  return (leaf_spans * kLeavesPerSpan + kWordsPerPage - 1) / kWordsPerPage;
}

Result<HeapSpan*> Heap::NewSpan(PoolOperation* op, SpanKind kind, uint32_t class_index,
                                uint64_t pages, Pages from) {
  if (!damage_.ok()) return damage_;
  const SpanEntry entry = {
      .kind = kind,
      .size_class = static_cast<uint16_t>(kind == SpanKind::kRecords ? class_index : 0),
      .pages = static_cast<uint32_t>(pages)};
  const uint64_t leaf_spans = leaf_spans_ + (kind == SpanKind::kLeaves ? 1 : 0);
  const uint64_t pages_kept = from == Pages::kHeldBackToo ? 0 : PagesHeldBack(leaf_spans);
  op->ReserveStores(SpanMap::kStoresOfASpan);
  std::unique_ptr<HeapSpan> span = MakeSpan(entry);
  std::optional<uint64_t> page = map_.Take(op, entry, pages_kept, 0);
  if (!page) {
    ASHLAR_RETURN_IF_ERROR(CheckMap());
    FreeIdleSpace();
    page = map_.Take(op, entry, pages_kept, 0);
  }
  if (!page) {
    ASHLAR_RETURN_IF_ERROR(CheckMap());
    return Status::NoSpace(medium_->path(), StrCat("the pool is full: no ", pages * kPageBytes,
                                                   " bytes in one piece"));
  }
  op->Commit();  // I4
  return AddSpan(std::move(span), *page);
}

bool Heap::GivePages(uint64_t page, uint64_t pages) noexcept try {
  map_.Give(page, pages);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Requires: the span is empty and nothing durable refers to it. If allocation fails, it stays (I7).
void Heap::DropSpan(HeapSpan* span) noexcept {
  ASHLAR_DCHECK(span->taken == 0 && !span->marking);  // Requires, and I1
  const uint64_t page = span->page;
  const uint64_t pages = span->entry.pages;
  if (!GivePages(page, pages)) {
    has_kept_spans_ = true;
    return;
  }
  if (span->is_open) Shut(span);
  if (span->entry.kind == SpanKind::kLeaves) leaf_spans_--;
  if (span->entry.kind != SpanKind::kLarge) classes_[span->class_index].spans--;
  std::fill_n(first_page_of_.begin() + static_cast<ptrdiff_t>(page), pages, 0);
  span_bytes_ -= span->VolatileBytes();
  spans_[page].reset();
}

// Whether the span is empty and not needed. I2: a class in use keeps an object in its other spans.
// No leaf is held back: an open remakes given-back spans of leaves, and I5 may need their pages.
bool Heap::IsSpare(const HeapSpan& span) const {
  if (span.taken > 0 || span.marking) return false;
  if (span.entry.kind != SpanKind::kRecords) return true;
  const Class& size_class = classes_[span.class_index];
  const uint64_t others = size_class.free_objects - (span.is_open ? span.objects : 0);
  return size_class.taken_objects == 0 || others > 0;
}

// Gives back the empty spans that the classes keep for their next objects. In a full pool every
// change calls this, so it looks at all spans only if some large ones were kept.
void Heap::DropSpareSpans() noexcept {
  for (const Class& size_class : classes_) {
    if (size_class.empty_spans == 0) continue;
    for (size_t i = 0; i < size_class.open.size();) {
      const size_t open = size_class.open.size();
      HeapSpan* const span = size_class.open[i];
      if (span->taken == 0 && IsSpare(*span)) DropSpan(span);
      if (size_class.open.size() == open) ++i;
    }
  }
  if (!has_kept_spans_) return;
  has_kept_spans_ = false;
  for (size_t page = 0; page < spans_.size(); ++page) {
    HeapSpan* const span = spans_[page].get();
    if (span != nullptr && span->entry.kind == SpanKind::kLarge && IsSpare(*span)) DropSpan(span);
  }
}

// I6. Frees all space that is kept for later allocations and promised to none of them.
void Heap::FreeIdleSpace() noexcept {
  TakeBackReserved();
  DropSpareSpans();
}

void Heap::TakeBackReserved() noexcept {
  reserved_.TakeBack([this](uint32_t /*class_index*/, PoolOffset object) {
    kHeapMutex.AssertHeld();
    FreeObject(object);
  });
}

// ---- Objects.

// I2: the free objects that this allocation may not take. Also for a class without objects in use,
//     because its only span may have one object, left by an update that found no entry.
uint64_t Heap::HeldBack(const Class& size_class, Reserve reserve) const {
  if (&size_class == &classes_[kLeafClass]) return 0;
  return reserve == Reserve::kUpdate ? 0 : 1;
}

bool Heap::HasObject(const Class& size_class, Reserve reserve) const {
  return size_class.free_objects > HeldBack(size_class, reserve);
}

// Takes one object for the caller, and reserves more of the same word for its thread, except for
// the last ones of the class (I2).
PoolOffset Heap::TakeObject(uint32_t class_index, Reserve reserve) {
  Class& size_class = classes_[class_index];
  HeapSpan* const span = size_class.open.back();
  static_assert(ReservedObjects::kBytesMax >= kSmallBytesMax);
  uint64_t count = 1;
  if (reserve != Reserve::kUpdate && class_index != kLeafClass && reserved_.CanReserve()) {
    count = std::min(ReservedObjects::kBytesMax / span->object_bytes,
                     size_class.free_objects - HeldBack(size_class, reserve));
  }
  ASHLAR_DCHECK(span->taken < span->objects && !span->marking && !span->evacuated);  // I1
  ASHLAR_DCHECK(count > 0 && HasObject(size_class, reserve));                        // I2
  if (span->taken == 0) size_class.empty_spans--;
  const HeapSpan::Taken taken = span->TakeFirstFree(count);
  const auto objects = static_cast<uint64_t>(std::popcount(taken.mask));
  size_class.free_objects -= objects;
  size_class.taken_objects += objects;
  taken_bytes_ += objects * span->object_bytes;
  if (span->taken == span->objects) Shut(span);
  const PoolOffset base = span->ObjectAt(taken.first);
  if (objects > 1) reserved_.Set(class_index, base, taken.mask & (taken.mask - 1));
  return base + static_cast<uint64_t>(std::countr_zero(taken.mask)) * span->object_bytes;
}

// A class begins with a span of a few objects. Its spans grow with it, so that many classes fit
// into a small pool.
uint64_t Heap::SpanPagesOf(uint32_t class_index) const {
  if (class_index == kLeafClass) return kSpanPages;
  constexpr uint64_t kObjectsMin = 4;
  constexpr uint64_t kShareOfClass = 4;
  const uint64_t object_bytes = SizeClassBytes(class_index);
  const uint64_t bytes =
      std::max(kObjectsMin, classes_[class_index].taken_objects / kShareOfClass) * object_bytes;
  return std::min(PagesFor(bytes), kSpanPages);
}

// I2: room for the caller's object and, for an insert, for the held-back one.
uint64_t Heap::FewerPagesOf(uint32_t class_index, Reserve reserve) const {
  if (class_index == kLeafClass) return 0;  // such spans have one length
  const uint64_t objects = reserve == Reserve::kUpdate ? 1 : 2;
  const uint64_t missing = objects - std::min(objects, classes_[class_index].free_objects);
  const uint64_t kept = std::min(PagesHeldBack(leaf_spans_), map_.FreePages());
  const uint64_t pages = std::min(map_.LongestFreeRun(), map_.FreePages() - kept);
  if (pages * kPageBytes < missing * SizeClassBytes(class_index)) return 0;
  return std::min(pages, SpanPagesOf(class_index));
}

// I2. Lets spans that are being emptied hand out objects again until the allocation finds one.
void Heap::LendEvacuated(uint32_t class_index, Reserve reserve) noexcept {
  if (!has_evacuation_ || reserve == Reserve::kMove) return;
  for (const std::unique_ptr<HeapSpan>& span : spans_) {
    if (HasObject(classes_[class_index], reserve)) return;
    if (span != nullptr && span->evacuated && span->class_index == class_index)
      EndEvacuationOf(span.get());
  }
}

Result<PoolOffset> Heap::AllocateSmall(uint32_t class_index, Reserve reserve) {
  {
    MutexLock lock(mutex());
    if (!damage_.ok()) return damage_;
    Class& size_class = classes_[class_index];
    if (HasObject(size_class, reserve)) return TakeObject(class_index, reserve);
  }
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  if (!damage_.ok()) return damage_;
  Class& size_class = classes_[class_index];
  // Another thread may have made room in the meantime.
  if (!HasObject(size_class, reserve)) {
    const SpanKind kind = class_index == kLeafClass ? SpanKind::kLeaves : SpanKind::kRecords;
    Result<HeapSpan*> span =
        NewSpan(&op, kind, class_index, SpanPagesOf(class_index), Pages::kNormal);
    if (!damage_.ok()) return damage_;
    if (!span.ok() && !HasObject(size_class, reserve)) {  // no object of the class was taken back
      const uint64_t fewer = FewerPagesOf(class_index, reserve);
      if (fewer > 0) span = NewSpan(&op, kind, class_index, fewer, Pages::kNormal);
      if (!damage_.ok()) return damage_;
      if (!span.ok()) LendEvacuated(class_index, reserve);
      if (!span.ok() && !HasObject(size_class, reserve)) return span.status();
    }
    if (span.ok()) Open(span.value());
  }
  return TakeObject(class_index, reserve);
}

PoolOffset Heap::TakeWhole(HeapSpan* span) {
  span->Take(0);
  taken_bytes_ += span->object_bytes;
  return span->ObjectAt(0);
}

Result<PoolOffset> Heap::AllocateLarge(uint64_t bytes) {
  const uint64_t pages = PagesFor(bytes);
  if (bytes > medium_->bytes())
    return Status::NoSpace(medium_->path(), StrCat(bytes, " bytes are more than the pool has"));
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  ASHLAR_ASSIGN_OR_RETURN(HeapSpan* const span,
                          NewSpan(&op, SpanKind::kLarge, 0, pages, Pages::kNormal));
  return TakeWhole(span);
}

Result<PoolOffset> Heap::AllocateToward(Toward end, uint64_t bytes, PoolOffset offset) {
  ASHLAR_ASSERT(bytes > kSmallBytesMax);  // Requires
  const SpanEntry entry = {
      .kind = SpanKind::kLarge, .size_class = 0, .pages = static_cast<uint32_t>(PagesFor(bytes))};
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  if (!damage_.ok()) return damage_;
  op.ReserveStores(SpanMap::kStoresOfASpan);
  std::unique_ptr<HeapSpan> span = MakeSpan(entry);
  const uint64_t kept = PagesHeldBack(leaf_spans_);
  const std::optional<uint64_t> page = end == Toward::kBeginning
                                           ? map_.TakeBelow(&op, entry, offset / kPageBytes, kept)
                                           : map_.Take(&op, entry, kept, offset / kPageBytes);
  if (!page) {
    ASHLAR_RETURN_IF_ERROR(CheckMap());
    return Status::NoSpace(medium_->path(), "no place on that side is free");
  }
  op.Commit();  // I4
  return TakeWhole(AddSpan(std::move(span), *page));
}

Result<PoolObject> Heap::AllocateHeldBack(uint64_t bytes) {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  if (map_.FreePages() == 0) FreeIdleSpace();
  const uint64_t pages = std::min(PagesFor(bytes), map_.LongestFreeRun());
  if (pages == 0) return Status::NoSpace(medium_->path(), "the pool is full: no page is free");
  ASHLAR_ASSIGN_OR_RETURN(HeapSpan* const span,
                          NewSpan(&op, SpanKind::kLarge, 0, pages, Pages::kHeldBackToo));
  return PoolObject{.offset = TakeWhole(span), .bytes = span->object_bytes};
}

Result<PoolOffset> Heap::Allocate(uint64_t bytes, Reserve reserve) {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  if (bytes > kSmallBytesMax) return AllocateLarge(bytes);
  const uint32_t class_index = SizeClassOf(bytes);
  if (reserve != Reserve::kUpdate) {
    PoolOffset next = 0;
    if (const PoolOffset object = reserved_.Take(class_index, &next); object != 0) {
      if (next != 0) PrefetchForRecord(next, bytes);
      return object;
    }
  }
  return AllocateSmall(class_index, reserve);
}

// The thread's next record is probably as long as this one. Its lines are not in a cache, and the
// fence of its change would wait for them.
void Heap::PrefetchForRecord(PoolOffset next, uint64_t bytes) const {
  constexpr uint64_t kBytesMax = uint64_t{16} * kCacheLineBytes;
  const char* const start = medium_->view() + next;
  const uint64_t end = std::min(bytes, kBytesMax);
  PrefetchRangeForWrite(start, end);
  ASHLAR_PREFETCH_FOR_WRITE(start + end - 1);
}

Result<PoolOffset> Heap::AllocateLeaf() {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  return AllocateSmall(kLeafClass, Reserve::kInsert);
}

void Heap::FreeObject(PoolOffset offset) noexcept {
  HeapSpan* const span = SpanOf(offset);
  ASHLAR_ASSERT(span != nullptr && span->Holds(offset));  // the heap allotted it
  FreeIn(span, offset);
}

void Heap::FreeIn(HeapSpan* span, PoolOffset offset) noexcept {
  if (span->marking) {
    try {
      freed_before_mark_.push_back(offset);
    } catch (const std::bad_alloc&) {
      return;  // I7: it stays in use until the next open
    }
    return;
  }
  span->Free(span->IndexOf(offset));
  taken_bytes_ -= span->object_bytes;
  if (span->entry.kind == SpanKind::kLarge) return DropSpan(span);
  Class& size_class = classes_[span->class_index];
  size_class.taken_objects--;
  if (span->is_open) {
    size_class.free_objects++;
    if (span->taken == 0) size_class.empty_spans++;
  } else {
    if (size_class.free_objects == 0) span->evacuated = false;  // I2
    if (!span->evacuated) Open(span);
  }
  // One empty span per class stays. Otherwise a class that grows and shrinks by one object would
  // pay fences for it.
  const bool is_needless = span->evacuated
                               ? IsSpare(*span)
                               : span->taken == 0 && size_class.free_objects > span->objects;
  if (is_needless) DropSpan(span);
}

void Heap::Release(PoolOffset object) noexcept {
  MutexLock lock(mutex());
  FreeObject(object);
}

// Objects are anywhere in the pool, so each step to their spans is prefetched for all of them at
// once.
void Heap::PrefetchSpans(std::span<const PoolOffset> objects) const {
  const uint64_t end = spans_.size() * kPageBytes;
  for (const PoolOffset object : objects) {
    if (object < end) ASHLAR_PREFETCH(&first_page_of_[object / kPageBytes]);
  }
  for (const PoolOffset object : objects) {
    if (object < end) ASHLAR_PREFETCH(&spans_[first_page_of_[object / kPageBytes]]);
  }
  for (const PoolOffset object : objects) {
    if (object < end) ASHLAR_PREFETCH(spans_[first_page_of_[object / kPageBytes]].get());
  }
  for (const PoolOffset object : objects) {
    const HeapSpan* const span = SpanOf(object);
    if (span != nullptr && span->Holds(object))
      ASHLAR_PREFETCH(&span->bits[span->IndexOf(object) / 64]);
  }
}

bool Heap::IsReserved(const HeapSpan& span, PoolOffset object) const {
  return span.entry.kind == SpanKind::kRecords && reserved_.Contains(span.class_index, object);
}

void Heap::FreeAll(std::span<const PoolOffset> objects) noexcept {
  MutexLock lock(mutex());
  PrefetchSpans(objects);
  for (const PoolOffset object : objects) {
    // The offset comes from the pool. A damaged one may refer to a place without an object, to one
    // object twice, or to an object that the mark did not reach.
    HeapSpan* const span = SpanOf(object);
    if (span == nullptr || !span->Holds(object)) continue;
    if (span->marking || (span->IsTaken(span->IndexOf(object)) && !IsReserved(*span, object)))
      FreeIn(span, object);
  }
}

// ---- Figures and defragmentation.

uint64_t Heap::ObjectBytes(PoolOffset offset) const {
  MutexLock lock(mutex());
  const HeapSpan* const span = SpanOf(offset);
  return span != nullptr && span->Holds(offset) ? span->object_bytes : 0;
}

uint64_t Heap::UsedBytes() const {
  MutexLock lock(mutex());
  uint64_t reserved_bytes = 0;
  reserved_.ForEach([&](uint32_t class_index, PoolOffset /*object*/) {
    reserved_bytes += SizeClassBytes(class_index);
  });
  return (map_.first_page() + map_.UnconfirmedPages()) * kPageBytes + unmarked_bytes_ +
         taken_bytes_ - reserved_bytes;
}

FreePages Heap::CountFreePages() const {
  MutexLock lock(mutex());
  return {.all = map_.FreePages(),
          .longest_run = map_.LongestFreeRun(),
          .first = map_.FirstFreePage() * kPageBytes};
}

uint64_t Heap::VolatileBytes() const {
  MutexLock lock(mutex());
  return sizeof(*this) + spans_.size() * (sizeof(spans_[0]) + sizeof(first_page_of_[0])) +
         span_bytes_ + map_.VolatileBytes() + retired_.VolatileBytes() + reserved_.VolatileBytes() +
         freed_before_mark_.size() * sizeof(PoolOffset);
}

// Evacuates from the end of the pool to its beginning, so that free pages become one run, and no
// more objects than the other spans of the class can take.
void Heap::BeginEvacuation(double used_share_max) {
  MutexLock lock(mutex());
  FreeIdleSpace();
  has_evacuation_ = true;
  for (uint32_t class_index = 0; class_index < kSizeClasses; ++class_index) {
    std::vector<HeapSpan*> spans = classes_[class_index].open;
    std::sort(spans.begin(), spans.end(),
              [](const HeapSpan* a, const HeapSpan* b) { return a->page > b->page; });
    uint64_t to_move = 0;
    for (HeapSpan* span : spans) {
      if (static_cast<double>(span->taken) > used_share_max * span->objects) continue;
      // The last object of the class stays held back.
      const uint64_t room_elsewhere =
          classes_[class_index].free_objects - (span->objects - span->taken);
      if (to_move + span->taken >= room_elsewhere) continue;
      to_move += span->taken;
      Shut(span);
      span->evacuated = true;
    }
  }
}

bool Heap::IsEvacuated(PoolOffset record) const {
  MutexLock lock(mutex());
  const HeapSpan* const span = SpanOf(record);
  return span != nullptr && span->evacuated;
}

void Heap::EndEvacuationOf(HeapSpan* span) noexcept {
  span->evacuated = false;
  if (span->taken < span->objects) Open(span);
}

void Heap::EndEvacuation() noexcept {
  MutexLock lock(mutex());
  for (const std::unique_ptr<HeapSpan>& span : spans_) {
    if (span != nullptr && span->evacuated) EndEvacuationOf(span.get());
  }
  has_evacuation_ = false;
  DropSpareSpans();
  if constexpr (kDebugChecks) CheckClasses();
}

void Heap::CheckInvariants() const {
  retired_.CheckInvariants();
  MutexLock lock(mutex());
  map_.CheckInvariants();
  reserved_.CheckInvariants();
  CheckClasses();
}

void Heap::CheckClasses() const {
  uint64_t taken_bytes = 0;
  uint64_t unmarked_bytes = 0;
  uint64_t leaf_spans = 0;
  std::array<uint64_t, kSizeClasses + 1> free_objects{};
  std::array<uint64_t, kSizeClasses + 1> taken_objects{};
  std::array<uint64_t, kSizeClasses + 1> empty_spans{};
  uint64_t span_bytes = 0;
  for (const std::unique_ptr<HeapSpan>& span : spans_) {
    if (span == nullptr) continue;
    ASHLAR_ASSERT(span->page >= map_.first_page() &&
                  span->page + span->entry.pages <= map_.high_water_page());  // I1 of span_map.h
    ASHLAR_ASSERT(span->taken <= span->objects);                              // I1 of heap_span.h
    for (uint32_t word = 0; word < span->hint; ++word)
      ASHLAR_ASSERT(span->bits[word] == ~uint64_t{0});                      // I2 of heap_span.h
    ASHLAR_ASSERT(!span->is_open || (!span->marking && !span->evacuated));  // I1
    ASHLAR_ASSERT(first_page_of_[span->page + span->entry.pages - 1] == span->page);  // SpanOf
    taken_bytes += span->taken * span->object_bytes;
    if (span->marking)
      unmarked_bytes += span->entry.pages * kPageBytes - span->taken * span->object_bytes;
    span_bytes += span->VolatileBytes();
    if (span->entry.kind == SpanKind::kLeaves) ++leaf_spans;
    if (span->entry.kind == SpanKind::kLarge) continue;
    taken_objects[span->class_index] += span->taken;
    if (!span->is_open) continue;
    ASHLAR_ASSERT(classes_[span->class_index].open[span->open_place] == span.get());  // open_place
    free_objects[span->class_index] += span->objects - span->taken;
    empty_spans[span->class_index] += span->taken == 0 ? uint64_t{1} : 0;
  }
  reserved_.ForEach([this](uint32_t class_index, PoolOffset object) {
    kHeapMutex.AssertHeld();
    const HeapSpan* const span = SpanOf(object);
    // I1 of reserved_objects.h
    ASHLAR_ASSERT(span != nullptr && span->class_index == class_index && span->Holds(object));
    ASHLAR_ASSERT(span->IsTaken(span->IndexOf(object)) && !span->marking && !span->evacuated);
  });
  ASHLAR_ASSERT(taken_bytes == taken_bytes_ && leaf_spans == leaf_spans_);  // UsedBytes, I5
  ASHLAR_ASSERT(unmarked_bytes == unmarked_bytes_);                         // UsedBytes
  for (const Class& size_class : classes_)
    ASHLAR_ASSERT(size_class.open.size() <= size_class.spans &&
                  size_class.spans <= size_class.open.capacity());  // I7
  ASHLAR_ASSERT(span_bytes == span_bytes_);                         // VolatileBytes
  for (size_t i = 0; i < classes_.size(); ++i) {
    ASHLAR_ASSERT(classes_[i].free_objects == free_objects[i]);    // I2 counts them
    ASHLAR_ASSERT(classes_[i].taken_objects == taken_objects[i]);  // the same
    ASHLAR_ASSERT(classes_[i].empty_spans == empty_spans[i]);      // DropSpareSpans
  }
}

}  // namespace ashlar::pmem
