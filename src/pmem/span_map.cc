#include "pmem/span_map.h"

#include <algorithm>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "pmem/size_class.h"

namespace ashlar::pmem {

namespace {

constexpr SpanEntry kEndOfSpans = {.kind = SpanKind::kEnd, .size_class = 0, .pages = 0};

// An open checks this many words after the map's end, which are 64 KiB of the map and take some
// microseconds. Only the mark finds a span of more than 32 MiB that reads as the end.
constexpr uint64_t kPagesAfterEnd = 8192;

// Whether the entry is possible for a span if `pages_left` pages begin with its first page.
bool IsPlausible(const SpanEntry& entry, uint64_t pages_left) {
  if (entry.kind == SpanKind::kEnd) return entry.pages == 0;
  if (entry.pages == 0 || entry.pages > pages_left) return false;
  switch (entry.kind) {
    case SpanKind::kEnd: return false;
    // No longer span is created, and HeapSpan counts its objects in 32 bits.
    case SpanKind::kRecords: return entry.size_class < kSizeClasses && entry.pages <= kSpanPages;
    case SpanKind::kLeaves: return entry.pages == kSpanPages;
    case SpanKind::kFree:
    case SpanKind::kLarge: return true;
  }
  return false;
}

}  // namespace

SpanMap::SpanMap(Medium* medium, const PoolHeader& header)
    : medium_(medium),
      map_offset_(header.map_offset),
      first_page_(header.first_page),
      pages_(header.pool_bytes / kPageBytes),
      high_water_page_(header.first_page) {}

Status SpanMap::Read(FunctionRef<void(uint64_t page, const SpanEntry& entry)> visit) {
  uint64_t page = first_page_;
  while (page < pages_) {
    SpanEntry entry;
    if (!DecodeSpanEntry(page, medium_->Load(EntryOffset(page)), &entry) ||
        !IsPlausible(entry, pages_ - page)) {
      return BadEntry(page);
    }
    if (entry.kind == SpanKind::kEnd) break;
    if (entry.kind == SpanKind::kFree) {
      found_free_.push_back({.page = page, .pages = entry.pages});
    } else {
      visit(page, entry);
    }
    page += entry.pages;
  }
  high_water_page_ = page;
  return CheckAfterEnd();
}

Status SpanMap::BadEntry(uint64_t page) const {
  return Status::Corruption(medium_->path(),
                            StrCat("bad span entry at offset ", EntryOffset(page)));
}

Status SpanMap::CheckAfterEnd() {
  const uint64_t end = std::min(pages_, high_water_page_ + kPagesAfterEnd);
  for (uint64_t page = high_water_page_ + 1; page < end; ++page) {
    const uint64_t word = medium_->Load(EntryOffset(page));
    SpanEntry entry;
    if (word == 0 || !DecodeSpanEntry(page, word, &entry)) continue;
    if (entry.kind != SpanKind::kEnd) return BadEntry(high_water_page_);
    is_end_sure_ = false;
  }
  return Status::OK();
}

void SpanMap::Confirm() noexcept {
  is_end_sure_ = true;
  IgnoreBadAlloc([this] {
    for (const Run& run : found_free_) free_runs_.Add(run.page, run.pages);
  });
  found_free_ = {};
}

uint64_t SpanMap::UnconfirmedPages() const {
  uint64_t pages = is_end_sure_ ? 0 : pages_ - high_water_page_;
  for (const Run& run : found_free_) pages += run.pages;
  return pages;
}

bool SpanMap::WalkTiles(uint64_t* page, uint64_t end) const {
  while (*page < end) {
    SpanEntry entry;
    if (!DecodeSpanEntry(*page, medium_->Load(EntryOffset(*page)), &entry) || entry.pages == 0)
      return false;
    *page += entry.pages;
  }
  return true;
}

void SpanMap::Enter(PoolOperation* op, uint64_t page, const SpanEntry& entry,
                    const std::optional<SpanEntry>& next) {
  const auto store = [&](uint64_t first, const SpanEntry& of_span) {
    op->Store(EntryOffset(first), EncodeSpanEntry(first, of_span));
  };
  const auto make_durable = [&](uint64_t first) {
    op->Flush(EntryOffset(first), sizeof(uint64_t));
    op->Fence();
  };
  if (next) {
    const uint64_t end = page + entry.pages;
    store(end, *next);
    // I2. Stores to one line become durable in order (I4 of medium.h).
    if (EntryOffset(end) / kLineBytes != EntryOffset(page) / kLineBytes) make_durable(end);
  }
  store(page, entry);
  make_durable(page);
}

bool SpanMap::EnterBelow(PoolOperation* op, uint64_t page, const SpanEntry& entry) {
  const uint64_t end = page + entry.pages;
  uint64_t tile_end = page;
  if (!WalkTiles(&tile_end, end)) {
    bad_page_ = tile_end;
    return false;
  }
  std::optional<SpanEntry> rest;
  if (tile_end != end) {
    rest = {
        .kind = SpanKind::kFree, .size_class = 0, .pages = static_cast<uint32_t>(tile_end - end)};
  }
  Enter(op, page, entry, rest);
  return true;
}

std::optional<uint64_t> SpanMap::Take(PoolOperation* op, const SpanEntry& entry,
                                      uint64_t pages_kept, uint64_t from) {
  if (entry.pages + pages_kept > FreePages()) return std::nullopt;
  if (const std::optional<uint64_t> page = free_runs_.TakeShortest(entry.pages, from))
    return EnterBelow(op, *page, entry) ? page : std::nullopt;
  const bool is_never_used = entry.pages <= NeverUsedPages();
  const bool is_after = high_water_page_ - free_runs_.PagesUpTo(high_water_page_) >= from;
  if (!is_never_used && (!is_after || entry.pages > LastRunPages())) return std::nullopt;
  const uint64_t page = is_never_used ? high_water_page_ : free_runs_.TakeUpTo(high_water_page_);
  ASHLAR_ASSERT(page + entry.pages > high_water_page_);  // I1: nothing is entered after the end
  high_water_page_ = page + entry.pages;
  Enter(op, page, entry,
        high_water_page_ < pages_ ? std::optional<SpanEntry>(kEndOfSpans) : std::nullopt);
  return page;
}

std::optional<uint64_t> SpanMap::TakeBelow(PoolOperation* op, const SpanEntry& entry,
                                           uint64_t limit, uint64_t pages_kept) {
  if (entry.pages + pages_kept > FreePages()) return std::nullopt;
  const std::optional<uint64_t> page = free_runs_.TakeFirst(entry.pages, limit);
  return page && EnterBelow(op, *page, entry) ? page : std::nullopt;
}

uint64_t SpanMap::LastRunPages() const {
  return free_runs_.PagesUpTo(high_water_page_) + NeverUsedPages();
}

uint64_t SpanMap::LongestFreeRun() const {
  return std::max(free_runs_.LongestRun(), LastRunPages());
}

void SpanMap::CheckInvariants() const {
  ASHLAR_ASSERT(first_page_ <= high_water_page_ && high_water_page_ <= pages_);  // I1
  uint64_t end = first_page_;
  const bool tiles_are_sound = WalkTiles(&end, high_water_page_);
  ASHLAR_ASSERT(tiles_are_sound && end == high_water_page_);            // I1
  ASHLAR_ASSERT(free_runs_.pages() <= high_water_page_ - first_page_);  // I1
  free_runs_.CheckInvariants();
}

}  // namespace ashlar::pmem
