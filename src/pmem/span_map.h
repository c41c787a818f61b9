// SpanMap: the durable half of the heap: what each run of pages of the pool is for.
//
//   Read -> [found free] -> Confirm -> free pages
//   Take/TakeBelow -> [a span's pages, entered in the map] -> Give -> free pages
//
//   page    0 ..        first_page                          high_water_page        pages
//           header, map | span | free | span | span | free  | never used           |
//
// I1: spans and free runs tile the pages from first_page to high_water_page: the entry after an
//     entry is `pages` later, and the entry of high_water_page is kEnd. Only the entries of this
//     chain have a meaning. Each has a check, so a chain that ends early is damage.
// I2: the chain is complete at each fence. What follows a span, the rest of the tile that it cuts
//     or the end, is durable before the span's entry.
// I3: the pages of a span that was given back keep their entry until they are taken again. That is
//     safe because nothing durable refers to them (I1 of heap.h).
// I4: free pages that Read found are taken after Confirm: damage may call pages free. Those from
//     the high-water mark on are taken before, unless an entry is after it, of a crash or damage.
//
// Pages that were never used and the free run up to them are one run. Pages are taken from it at
// the mark if those after it are enough.
//
// A span costs one or two words, and one fence, or two if these are in different cache lines. A
// durable free list was rejected: a store and a fence for each change.
//
// Thread safety: under the heap's mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ashlar/status.h"
#include "base/function_ref.h"
#include "pmem/free_runs.h"
#include "pmem/layout.h"
#include "pmem/medium.h"

namespace ashlar::pmem {

inline constexpr uint64_t kSpanBytes = uint64_t{64} << 10;
inline constexpr uint64_t kSpanPages = kSpanBytes / kPageBytes;

class SpanMap {
 public:
  SpanMap(Medium* medium, const PoolHeader& header);

  // Recovery: reads the map, and calls the function for each span in use, in order of pages.
  // Corruption naming the entry that is wrong.
  Status Read(FunctionRef<void(uint64_t page, const SpanEntry& entry)> visit);
  // Nothing in use is in the free pages that Read found (I4). Without memory a part of them stays
  // unused until the next open.
  void Confirm() noexcept;

  // Corruption naming an entry that was damaged after Read and that Take or TakeBelow met, or Ok.
  // They stored nothing then. The next open refuses such a map, so nothing may be taken after it.
  Status status() const { return bad_page_ ? BadEntry(*bad_page_) : Status::OK(); }

  // Take and TakeBelow store so many words at most. They fail only by None.
  static constexpr size_t kStoresOfASpan = 2;
  // The first of entry.pages pages for a span, durably entered in the map; the caller commits the
  // operation. They are in the shortest free run that begins at the page `from` or after it and is
  // long enough. At least pages_kept other pages stay free. None: no run is long
  // enough, or an entry is damaged (status). Requires: `from` is not after the high-water mark.
  std::optional<uint64_t> Take(PoolOperation* op, const SpanEntry& entry, uint64_t pages_kept,
                               uint64_t from);
  // The same, from the first free run, which begins before the page `limit`.
  std::optional<uint64_t> TakeBelow(PoolOperation* op, const SpanEntry& entry, uint64_t limit,
                                    uint64_t pages_kept);
  // The pages of a span that was taken are free. Requires: nothing durable refers to them. Changes
  // nothing if it throws std::bad_alloc.
  void Give(uint64_t page, uint64_t pages) { free_runs_.Add(page, pages); }

  uint64_t pages() const { return pages_; }
  uint64_t first_page() const { return first_page_; }
  // Pages from here on were never used.
  uint64_t high_water_page() const { return high_water_page_; }
  // That may be taken.
  uint64_t FreePages() const { return free_runs_.pages() + NeverUsedPages(); }
  // That Read called free, and that may not be taken before Confirm (I4).
  uint64_t UnconfirmedPages() const;
  uint64_t LongestFreeRun() const;
  uint64_t FirstFreePage() const { return free_runs_.FirstPage().value_or(high_water_page_); }
  // Bytes of volatile state, about.
  uint64_t VolatileBytes() const {
    return free_runs_.count() * 128 + found_free_.capacity() * sizeof(found_free_[0]);
  }
  // Asserts I1 of the map and of the free runs. It reads the whole map.
  void CheckInvariants() const;

 private:
  struct Run {
    uint64_t page;
    uint64_t pages;
  };

  PoolOffset EntryOffset(uint64_t page) const { return map_offset_ + page * sizeof(uint64_t); }
  Status BadEntry(uint64_t page) const;
  // Looks for entries after the high-water mark. Corruption: one shows that the mark is too low.
  Status CheckAfterEnd();
  // Of these, the ones that may be taken (I4).
  uint64_t NeverUsedPages() const { return is_end_sure_ ? pages_ - high_water_page_ : 0; }
  // Of the run that these pages and the free ones up to them make.
  uint64_t LastRunPages() const;
  // Moves *page along the chain to the end of the tile that contains the page before `end`. False:
  // the entry of *page is damaged.
  bool WalkTiles(uint64_t* page, uint64_t end) const;
  // Enters a span in the map. next: the entry after it, if the map does not have that yet.
  void Enter(PoolOperation* op, uint64_t page, const SpanEntry& entry,
             const std::optional<SpanEntry>& next);
  // The same at free pages below the high-water mark. False: an entry is damaged.
  bool EnterBelow(PoolOperation* op, uint64_t page, const SpanEntry& entry);

  Medium* const medium_;
  const uint64_t map_offset_;
  const uint64_t first_page_;
  const uint64_t pages_;
  uint64_t high_water_page_;
  bool is_end_sure_ = true;           // I4
  FreeRuns free_runs_;                // below the high-water mark
  std::vector<Run> found_free_;       // by Read, and not confirmed
  std::optional<uint64_t> bad_page_;  // of status()
};

}  // namespace ashlar::pmem
