#include "pmem/heap.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/format.h"
#include "execute/epoch.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kFineBytesMax = 1024;
constexpr uint32_t kFineClasses = kFineBytesMax / kUnitBytes;
constexpr uint32_t kClassesPerDoubling = 8;
constexpr uint64_t kSpanPages = kSpanBytes / kPageBytes;

// A batch goes to the epoch when it has this much.
constexpr size_t kBatchObjects = 64;
constexpr uint64_t kBatchBytes = uint64_t{256} << 10;

}  // namespace

static_assert(kFineClasses + kClassesPerDoubling * 4 == kSizeClasses);

uint32_t SizeClassOf(uint64_t bytes) {
  ASHLAR_DCHECK(bytes > 0 && bytes <= kSmallBytesMax);
  if (bytes <= kFineBytesMax) return static_cast<uint32_t>((bytes - 1) / kUnitBytes);
  // (2^k, 2^(k+1)] is cut into 8 steps.
  const auto doubling =
      static_cast<uint32_t>(std::bit_width(bytes - 1) - std::bit_width(kFineBytesMax));
  const uint64_t base = kFineBytesMax << doubling;
  const uint64_t step = base / kClassesPerDoubling;
  return kFineClasses + doubling * kClassesPerDoubling +
         static_cast<uint32_t>((bytes - base - 1) / step);
}

uint64_t SizeClassBytes(uint32_t size_class) {
  if (size_class < kFineClasses) return (size_class + 1) * kUnitBytes;
  const uint32_t coarse = size_class - kFineClasses;
  const uint64_t base = kFineBytesMax << (coarse / kClassesPerDoubling);
  return base + (coarse % kClassesPerDoubling + 1) * (base / kClassesPerDoubling);
}

struct Heap::Span {
  Span(uint64_t first_page, const SpanEntry& span_entry, uint32_t span_class,
       uint64_t bytes_of_object)
      : page(first_page),
        entry(span_entry),
        class_index(span_class),
        object_bytes(bytes_of_object),
        objects(static_cast<uint32_t>(span_entry.pages * kPageBytes / bytes_of_object)),
        bits((objects + 63) / 64, 0) {
    // Bits behind the last object are taken for ever.
    if (objects % 64 != 0) bits.back() = ~uint64_t{0} << (objects % 64);
  }

  uint32_t IndexOf(PoolOffset offset) const {
    return static_cast<uint32_t>((offset - page * kPageBytes) / object_bytes);
  }
  PoolOffset ObjectAt(uint32_t index) const { return page * kPageBytes + index * object_bytes; }
  bool Holds(PoolOffset offset) const {
    return (offset - page * kPageBytes) % object_bytes == 0 && IndexOf(offset) < objects;
  }
  bool IsTaken(uint32_t index) const { return (bits[index / 64] >> (index % 64) & 1) != 0; }
  void Take(uint32_t index) {
    bits[index / 64] |= uint64_t{1} << (index % 64);
    taken++;
  }
  void Free(uint32_t index) {
    ASHLAR_ASSERT(IsTaken(index));
    bits[index / 64] &= ~(uint64_t{1} << (index % 64));
    taken--;
    hint = std::min(hint, index / 64);
  }
  // Precondition: one is free.
  uint32_t TakeFirstFree() {
    while (bits[hint] == ~uint64_t{0}) hint++;
    const uint32_t index = hint * 64 + static_cast<uint32_t>(std::countr_one(bits[hint]));
    Take(index);
    return index;
  }

  const uint64_t page;
  const SpanEntry entry;
  const uint32_t class_index;  // kSizeClasses for leaves; unused for large objects
  const uint64_t object_bytes;
  const uint32_t objects;
  uint32_t taken = 0;
  uint32_t hint = 0;       // no word before it has a free bit
  bool marking = false;    // was there at open, and the mark is not finished
  bool is_open = false;    // listed in its class, hands out objects
  bool evacuated = false;  // hands out nothing, so that it may become empty
  std::vector<uint64_t> bits;
};

struct Heap::RetiredBatch {
  explicit RetiredBatch(Heap* owner) : heap(owner) { objects.reserve(kBatchObjects); }
  Heap* const heap;
  std::vector<PoolOffset> objects;
  uint64_t bytes = 0;
};

Heap::Heap(Medium* medium, PinTable* pins, EpochDomain* epochs, const PoolHeader& header,
           std::function<bool()> refuse)
    : medium_(medium),
      pins_(pins),
      epochs_(*epochs),
      map_offset_(header.map_offset),
      first_page_(header.first_page),
      pages_(header.pool_bytes / kPageBytes),
      refuse_(std::move(refuse)),
      spans_(pages_),
      first_page_of_(pages_, 0),
      high_water_page_(header.first_page) {}

Heap::~Heap() { Reclaim(); }

// ---- Recovery and mark.

Status Heap::ReadMap() {
  MutexLock lock(mutex());
  uint64_t page = first_page_;
  while (page < pages_) {
    const PoolOffset at = map_offset_ + page * 8;
    const uint64_t word = medium_->Load(at);
    if (word == 0) break;
    SpanEntry entry;
    if (!DecodeSpanEntry(page, word, &entry) || entry.kind == SpanKind::kUnused ||
        entry.pages == 0 || entry.pages > pages_ - page ||
        (entry.kind == SpanKind::kRecords && entry.size_class >= kSizeClasses) ||
        (entry.kind == SpanKind::kLeaves && entry.pages != kSpanPages)) {
      return Status::Corruption(medium_->path(), StrCat("bad span entry at offset ", at));
    }
    if (entry.kind == SpanKind::kFree) {
      free_runs_.Add(page, entry.pages);
    } else {
      Span* const span = AddSpan(entry, page);
      span->marking = entry.kind != SpanKind::kLeaves;
      if (!span->marking) Open(span);
    }
    page += entry.pages;
  }
  high_water_page_ = page;
  return Status::OK();
}

std::vector<PoolOffset> Heap::LeafSpans() const {
  MutexLock lock(mutex());
  std::vector<PoolOffset> starts;
  for (const std::unique_ptr<Span>& span : spans_) {
    if (span != nullptr && span->entry.kind == SpanKind::kLeaves)
      starts.push_back(span->page * kPageBytes);
  }
  return starts;
}

void Heap::MarkLeaves(PoolOffset start, const std::bitset<kLeavesPerSpan>& in_use) {
  MutexLock lock(mutex());
  Span* const span = SpanOf(start);
  ASHLAR_ASSERT(span != nullptr && span->entry.kind == SpanKind::kLeaves && span->taken == 0);
  for (uint32_t i = 0; i < kLeavesPerSpan; ++i) {
    if (in_use[i]) span->Take(i);
  }
  Class& leaves = classes_[kLeafClass];
  leaves.free_objects -= span->taken;
  leaves.taken_objects += span->taken;
  taken_bytes_ += span->taken * kLeafBytes;
  if (span->taken == span->objects) Shut(span);
}

bool Heap::MarkRecord(PoolOffset record) {
  MutexLock lock(mutex());
  Span* const span = SpanOf(record);
  if (span == nullptr || span->entry.kind == SpanKind::kLeaves || !span->Holds(record))
    return false;
  NoteInUse(span, record);
  return true;
}

void Heap::NoteInUse(Span* span, PoolOffset record) {
  if (!span->marking || span->IsTaken(span->IndexOf(record))) return;
  span->Take(span->IndexOf(record));
  taken_bytes_ += span->object_bytes;
  if (span->entry.kind == SpanKind::kRecords) classes_[span->class_index].taken_objects++;
}

void Heap::NoteBeforeUnlink(PoolOffset object) {
  MutexLock lock(mutex());
  Span* const span = SpanOf(object);
  // The offset comes from the pool: where no object is, damage made it up.
  if (span != nullptr && span->Holds(object)) NoteInUse(span, object);
}

void Heap::FinishMark(bool complete) {
  MutexLock lock(mutex());
  if (complete) OpenMarkedSpans();
  marked_ = true;
  mark_is_over_.store(true, std::memory_order_release);
  mark_finished_.SignalAll();
}

void Heap::OpenMarkedSpans() {
  std::vector<uint64_t> found;
  for (const std::unique_ptr<Span>& span : spans_) {
    if (span != nullptr && span->marking) found.push_back(span->page);
  }
  for (const uint64_t page : found) {
    Span* const span = spans_[page].get();
    span->marking = false;
    if (span->taken < span->objects && span->entry.kind == SpanKind::kRecords) Open(span);
  }
  for (const PoolOffset offset : freed_before_mark_) {
    // A damaged pool may have named one twice.
    const Span* const span = SpanOf(offset);
    if (span != nullptr && span->IsTaken(span->IndexOf(offset))) FreeObject(offset);
  }
  freed_before_mark_ = {};
  for (const uint64_t page : found) {
    if (spans_[page] != nullptr && IsSpare(*spans_[page])) DropSpan(spans_[page].get());
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

Heap::Span* Heap::SpanOf(PoolOffset offset) const {
  const uint64_t page = offset / kPageBytes;
  if (page < first_page_ || page >= high_water_page_) return nullptr;
  const uint32_t first = first_page_of_[page];
  return first == 0 ? nullptr : spans_[first].get();
}

Heap::Span* Heap::AddSpan(const SpanEntry& entry, uint64_t page) {
  uint32_t class_index = entry.size_class;
  uint64_t object_bytes = entry.pages * kPageBytes;
  if (entry.kind == SpanKind::kLeaves) {
    class_index = kLeafClass;
    object_bytes = kLeafBytes;
  } else if (entry.kind == SpanKind::kRecords) {
    object_bytes = SizeClassBytes(class_index);
  }
  if (entry.kind == SpanKind::kLeaves) leaf_spans_++;
  spans_[page] = std::make_unique<Span>(page, entry, class_index, object_bytes);
  std::fill_n(first_page_of_.begin() + static_cast<ptrdiff_t>(page), entry.pages,
              static_cast<uint32_t>(page));
  return spans_[page].get();
}

void Heap::Open(Span* span) {
  ASHLAR_DCHECK(!span->is_open && !span->marking);
  span->is_open = true;
  Class& size_class = classes_[span->class_index];
  size_class.open.push_back(span);
  size_class.free_objects += span->objects - span->taken;
}

void Heap::Shut(Span* span) {
  ASHLAR_DCHECK(span->is_open);
  span->is_open = false;
  Class& size_class = classes_[span->class_index];
  size_class.open.erase(std::find(size_class.open.rbegin(), size_class.open.rend(), span).base() -
                        1);
  size_class.free_objects -= span->objects - span->taken;
}

// The end of the tile that holds the page before `end`, in the chain that starts at `page`.
uint64_t Heap::EndOfTiles(uint64_t page, uint64_t end) const {
  while (page < end) {
    SpanEntry entry;
    const bool valid = DecodeSpanEntry(page, medium_->Load(map_offset_ + page * 8), &entry);
    ASHLAR_ASSERT(valid && entry.pages > 0);
    page += entry.pages;
  }
  return page;
}

void Heap::PublishEntry(PoolOperation* op, uint64_t page, const SpanEntry& entry) {
  const PoolOffset at = map_offset_ + page * 8;
  op->Store(at, EncodeSpanEntry(page, entry));
  op->Flush(at, 8);
  op->Fence();
}

// I6. A piece of one page, the shortest that a log has, holds the words of so many leaves.
uint64_t Heap::PagesHeldBack(uint64_t leaf_spans) const {
  constexpr uint64_t kWordsPerPage = (kPageBytes - kBatchLogHeaderBytes) / kBatchWordBytes;
  return (leaf_spans * kLeavesPerSpan + kWordsPerPage - 1) / kWordsPerPage;
}

// Enters a span at free pages. The chain leads past the new span's end before the span begins: the
// rest of the tile that the end cuts gets its entry first.
uint64_t Heap::PublishSpanAt(PoolOperation* op, uint64_t page, const SpanEntry& entry) {
  const uint64_t end = page + entry.pages;
  const uint64_t tile_end = EndOfTiles(page, end);
  if (tile_end != end) {
    PublishEntry(
        op, end,
        {.kind = SpanKind::kFree, .size_class = 0, .pages = static_cast<uint32_t>(tile_end - end)});
  }
  PublishEntry(op, page, entry);
  return page;
}

// Pages for a span, durably entered in the map.
Result<uint64_t> Heap::TakePages(PoolOperation* op, const SpanEntry& entry, Pages from) {
  const uint64_t pages = entry.pages;
  const auto no_space = [&] {
    return Status::NoSpace(medium_->path(), StrCat("the pool is full: no ", pages * kPageBytes,
                                                   " bytes in one piece"));
  };
  const uint64_t held_back =
      from == Pages::kHeldBackToo
          ? 0
          : PagesHeldBack(leaf_spans_ + (entry.kind == SpanKind::kLeaves ? 1 : 0));
  if (pages + held_back > FreePages()) return no_space();  // I6
  if (const std::optional<uint64_t> page = free_runs_.TakeShortest(pages))
    return PublishSpanAt(op, *page, entry);
  if (pages > pages_ - high_water_page_) return no_space();
  const uint64_t page = high_water_page_;
  PublishEntry(op, page, entry);
  high_water_page_ += pages;
  return page;
}

// Commits the operation when there is a span.
Result<Heap::Span*> Heap::NewSpan(PoolOperation* op, SpanKind kind, uint32_t class_index,
                                  uint64_t pages, Pages from) {
  const SpanEntry entry = {
      .kind = kind,
      .size_class = static_cast<uint16_t>(kind == SpanKind::kRecords ? class_index : 0),
      .pages = static_cast<uint32_t>(pages)};
  Result<uint64_t> page = TakePages(op, entry, from);
  if (!page.ok() && DropSpareSpans()) page = TakePages(op, entry, from);
  if (!page.ok()) return std::move(page).status();
  op->Commit();
  return AddSpan(entry, page.value());
}

// The span is empty and nothing durable refers into it: its pages can be anything. Its entry stays
// until they are.
void Heap::DropSpan(Span* span) {
  if (span->is_open) Shut(span);
  const uint64_t page = span->page;
  const uint64_t pages = span->entry.pages;
  if (span->entry.kind == SpanKind::kLeaves) leaf_spans_--;
  std::fill_n(first_page_of_.begin() + static_cast<ptrdiff_t>(page), pages, 0);
  spans_[page].reset();
  free_runs_.Add(page, pages);
}

// Whether an empty span can go. I3: a class in use keeps an object in its other spans.
bool Heap::IsSpare(const Span& span) const {
  if (span.taken > 0 || span.marking) return false;
  if (span.entry.kind == SpanKind::kLarge) return true;
  const Class& size_class = classes_[span.class_index];
  const uint64_t others = size_class.free_objects - (span.is_open ? span.objects : 0);
  return size_class.taken_objects == 0 || others > 0;
}

// Gives back what the classes keep for their next objects.
bool Heap::DropSpareSpans() {
  bool any = false;
  for (size_t page = 0; page < spans_.size(); ++page) {
    if (spans_[page] == nullptr || !IsSpare(*spans_[page])) continue;
    DropSpan(spans_[page].get());
    any = true;
  }
  return any;
}

// ---- Objects.

// I3: the last free object of a class in use is for updates.
bool Heap::HasObject(const Class& size_class, Reserve reserve) const {
  const bool holds_back = reserve == Reserve::kInsert && &size_class != &classes_[kLeafClass] &&
                          size_class.taken_objects > 0;
  return size_class.free_objects > (holds_back ? 1 : 0);
}

PoolOffset Heap::TakeObject(Class* size_class) {
  Span* const span = size_class->open.back();
  const PoolOffset object = span->ObjectAt(span->TakeFirstFree());
  size_class->free_objects--;
  size_class->taken_objects++;
  taken_bytes_ += span->object_bytes;
  if (span->taken == span->objects) Shut(span);
  return object;
}

// A class begins with a span of a few objects. Its spans grow with it, so that many classes fit
// into a small pool.
uint64_t Heap::SpanPages(uint32_t class_index) const {
  if (class_index == kLeafClass) return kSpanPages;
  constexpr uint64_t kObjectsMin = 4;
  constexpr uint64_t kShareOfClass = 4;
  const uint64_t object_bytes = SizeClassBytes(class_index);
  const uint64_t bytes =
      std::max(kObjectsMin, classes_[class_index].taken_objects / kShareOfClass) * object_bytes;
  return std::min((bytes + kPageBytes - 1) / kPageBytes, kSpanPages);
}

Result<PoolOffset> Heap::AllocateSmall(uint32_t class_index, Reserve reserve) {
  {
    MutexLock lock(mutex());
    Class& size_class = classes_[class_index];
    if (HasObject(size_class, reserve)) return TakeObject(&size_class);
  }
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  Class& size_class = classes_[class_index];
  // Another thread may have made room in the meantime.
  if (!HasObject(size_class, reserve)) {
    const SpanKind kind = class_index == kLeafClass ? SpanKind::kLeaves : SpanKind::kRecords;
    ASHLAR_ASSIGN_OR_RETURN(
        Span* const span, NewSpan(&op, kind, class_index, SpanPages(class_index), Pages::kNormal));
    Open(span);
  }
  return TakeObject(&size_class);
}

Result<PoolOffset> Heap::AllocateLarge(uint64_t bytes) {
  const uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  if (pages > pages_)
    return Status::NoSpace(medium_->path(), StrCat(bytes, " bytes are more than the pool has"));
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  ASHLAR_ASSIGN_OR_RETURN(Span* const span,
                          NewSpan(&op, SpanKind::kLarge, 0, pages, Pages::kNormal));
  span->Take(0);
  taken_bytes_ += span->object_bytes;
  return span->ObjectAt(0);
}

Result<PoolOffset> Heap::AllocateLower(uint64_t bytes, PoolOffset offset) {
  ASHLAR_ASSERT(bytes > kSmallBytesMax);
  const uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  const std::optional<uint64_t> page = pages + PagesHeldBack(leaf_spans_) > FreePages()
                                           ? std::nullopt
                                           : free_runs_.TakeFirst(pages, offset / kPageBytes);
  if (!page) return Status::NoSpace(medium_->path(), "no lower place is free");
  const SpanEntry entry = {
      .kind = SpanKind::kLarge, .size_class = 0, .pages = static_cast<uint32_t>(pages)};
  PublishSpanAt(&op, *page, entry);
  op.Commit();
  Span* const span = AddSpan(entry, *page);
  span->Take(0);
  taken_bytes_ += span->object_bytes;
  return span->ObjectAt(0);
}

Result<PoolObject> Heap::AllocateHeldBack(uint64_t bytes) {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  PoolOperation op(*medium_);
  MutexLock lock(mutex());
  if (FreePages() == 0) DropSpareSpans();
  const uint64_t longest = std::max(free_runs_.LongestRun(), pages_ - high_water_page_);
  const uint64_t pages = std::min((bytes + kPageBytes - 1) / kPageBytes, longest);
  if (pages == 0) return Status::NoSpace(medium_->path(), "the pool is full: no page is free");
  ASHLAR_ASSIGN_OR_RETURN(Span* const span,
                          NewSpan(&op, SpanKind::kLarge, 0, pages, Pages::kHeldBackToo));
  span->Take(0);
  taken_bytes_ += span->object_bytes;
  return PoolObject{.offset = span->ObjectAt(0), .bytes = span->object_bytes};
}

Result<PoolOffset> Heap::Allocate(uint64_t bytes, Reserve reserve) {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  return bytes > kSmallBytesMax ? AllocateLarge(bytes) : AllocateSmall(SizeClassOf(bytes), reserve);
}

Result<PoolOffset> Heap::AllocateLeaf() {
  if (refuse_ && refuse_()) return Status::NoSpace(medium_->path(), "refused by a test");
  return AllocateSmall(kLeafClass, Reserve::kInsert);
}

void Heap::FreeObject(PoolOffset offset) {
  Span* const span = SpanOf(offset);
  ASHLAR_ASSERT(span != nullptr && span->Holds(offset));
  if (span->marking) {
    freed_before_mark_.push_back(offset);
    return;
  }
  span->Free(span->IndexOf(offset));
  taken_bytes_ -= span->object_bytes;
  if (span->entry.kind == SpanKind::kLarge) return DropSpan(span);
  Class& size_class = classes_[span->class_index];
  size_class.taken_objects--;
  if (span->is_open) {
    size_class.free_objects++;
  } else if (!span->evacuated) {
    Open(span);
  }
  // One empty span per class stays: a class that grows and shrinks by one object would otherwise
  // pay fences for it.
  if (span->taken == 0 && size_class.free_objects > span->objects) DropSpan(span);
}

void Heap::Release(PoolOffset object) {
  MutexLock lock(mutex());
  FreeObject(object);
}

void Heap::Retire(PoolOffset object, uint64_t bytes) {
  std::unique_ptr<RetiredBatch> full;
  {
    MutexLock lock(mutex());
    if (retired_ == nullptr) retired_ = std::make_unique<RetiredBatch>(this);
    retired_->objects.push_back(object);
    retired_->bytes += bytes;
    if (retired_->objects.size() >= kBatchObjects || retired_->bytes >= kBatchBytes)
      full = std::move(retired_);
  }
  if (full != nullptr) HandOver(std::move(full));
}

void Heap::HandOver(std::unique_ptr<RetiredBatch> batch) {
  const uint64_t bytes = batch->bytes;
  const auto deleter = [](void* object) {
    std::unique_ptr<RetiredBatch> owned(static_cast<RetiredBatch*>(object));
    owned->heap->FreeBatch(owned.get());
  };
  epochs_.Retire(deleter, batch.release(), bytes);
}

void Heap::FreeUnlessPinned(PoolOffset offset) {
  if (pins_->IsPinned(offset)) {
    pinned_.push_back(offset);
    return;
  }
  // The offset comes from the pool: a damaged one may refer to what is no object, to one twice, or
  // to one that the mark did not meet.
  const Span* const span = SpanOf(offset);
  if (span != nullptr && span->Holds(offset) &&
      (span->marking || span->IsTaken(span->IndexOf(offset))))
    FreeObject(offset);
}

void Heap::RetryPinned() {
  std::vector<PoolOffset> again;
  again.swap(pinned_);
  for (const PoolOffset offset : again) FreeUnlessPinned(offset);
}

void Heap::FreeBatch(RetiredBatch* batch) {
  MutexLock lock(mutex());
  if (!pinned_.empty()) RetryPinned();
  PrefetchSpans(batch->objects);
  for (const PoolOffset offset : batch->objects) FreeUnlessPinned(offset);
}

// Objects lie anywhere: what leads to their spans is asked for in steps, for all of them at once.
void Heap::PrefetchSpans(const std::vector<PoolOffset>& objects) const {
  const uint64_t end = pages_ * kPageBytes;
  for (const PoolOffset object : objects) {
    if (object < end)
      ASHLAR_PREFETCH(reinterpret_cast<const char*>(&first_page_of_[object / kPageBytes]));
  }
  for (const PoolOffset object : objects) {
    if (object < end)
      ASHLAR_PREFETCH(reinterpret_cast<const char*>(&spans_[first_page_of_[object / kPageBytes]]));
  }
  for (const PoolOffset object : objects) {
    if (object < end)
      ASHLAR_PREFETCH(
          reinterpret_cast<const char*>(spans_[first_page_of_[object / kPageBytes]].get()));
  }
}

void Heap::Reclaim() {
  std::unique_ptr<RetiredBatch> batch;
  {
    MutexLock lock(mutex());
    batch = std::move(retired_);
  }
  if (batch != nullptr) HandOver(std::move(batch));
  epochs_.Synchronize();
  MutexLock lock(mutex());
  RetryPinned();
}

// ---- Figures and defragmentation.

uint64_t Heap::ObjectBytes(PoolOffset offset) const {
  MutexLock lock(mutex());
  const Span* const span = SpanOf(offset);
  return span != nullptr && span->Holds(offset) ? span->object_bytes : 0;
}

uint64_t Heap::UsedBytes() const {
  MutexLock lock(mutex());
  return first_page_ * kPageBytes + taken_bytes_;
}

uint64_t Heap::VolatileBytes() const {
  MutexLock lock(mutex());
  uint64_t bytes = sizeof(*this) + pages_ * (sizeof(spans_[0]) + sizeof(first_page_of_[0]));
  for (const std::unique_ptr<Span>& span : spans_) {
    if (span != nullptr) bytes += sizeof(Span) + span->bits.size() * sizeof(uint64_t);
  }
  return bytes + free_runs_.count() * 128 +
         (pinned_.size() + freed_before_mark_.size()) * sizeof(PoolOffset);
}

// From the pool's end towards its beginning, so that what becomes free lies together, and no more
// than the other spans of the class can take in.
void Heap::BeginEvacuation(double used_share_max) {
  MutexLock lock(mutex());
  for (uint32_t class_index = 0; class_index < kSizeClasses; ++class_index) {
    std::vector<Span*> spans = classes_[class_index].open;
    std::sort(spans.begin(), spans.end(),
              [](const Span* a, const Span* b) { return a->page > b->page; });
    uint64_t to_move = 0;
    for (Span* span : spans) {
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
  const Span* const span = SpanOf(record);
  return span != nullptr && span->evacuated;
}

void Heap::EndEvacuation() {
  MutexLock lock(mutex());
  std::vector<Span*> evacuated;
  for (const std::unique_ptr<Span>& span : spans_) {
    if (span != nullptr && span->evacuated) evacuated.push_back(span.get());
  }
  for (Span* span : evacuated) {
    span->evacuated = false;
    if (span->taken < span->objects) Open(span);
  }
  DropSpareSpans();
}

}  // namespace ashlar::pmem
