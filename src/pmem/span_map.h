// SpanMap: the durable half of the heap. It has the use of each run of pages of the pool.
//
//   Read -> [found free] -> Confirm -> free pages
//   Take/TakeBelow -> [a span's pages, entered in the map] -> Give -> free pages
//
//   page    0 ..        first_page                          high_water_page        pages
//           header, map | span | free | span | span | free  | never used           |
//
// I1: spans and free runs tile the pages from first_page to high_water_page. The entry after an
//     entry is `pages` later, and the entry of high_water_page is kEnd. Only the entries of this
//     chain have a meaning. Each has a check, so a chain that ends early is damage.
// I2: the chain is complete at each fence. The entry after a span (the rest of the tile that it
//     cuts, or the end) is durable before the span's entry.
// I3: the pages of a span that was given back keep their entry until they are taken again. That is
//     safe because nothing durable refers to them (I1 of heap.h).
// I4: free pages that Read found are taken only after Confirm: damage may call pages free. Pages
//     from the high-water mark on are taken before, unless a crash or damage left a later entry.
//
// Pages that were never used and the free run directly before them are one run. Pages are taken at
// the high-water mark if the never-used ones are enough.
//
// A span costs one or two words and one fence, or two fences if the words are in different cache
// lines. Rejected: a durable free list, which costs a store and a fence for each change.
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

  // Recovery: reads the map and calls `visit` for each span in use, in order of pages. Returns
  // Corruption naming the bad entry.
  Status Read(FunctionRef<void(uint64_t page, const SpanEntry& entry)> visit);
  // Confirms that nothing in use is in the free pages that Read found (I4). If an allocation fails,
  // a part of these pages stays unused until the next open.
  void Confirm() noexcept;

  // Ok, or Corruption naming an entry that was damaged after Read and that Take or TakeBelow found.
  // They stored nothing then. The next open refuses such a map, so nothing may be taken after that.
  Status status() const { return bad_page_ ? BadEntry(*bad_page_) : Status::OK(); }

  // Take and TakeBelow store at most this many words. They fail only by returning nullopt.
  static constexpr size_t kStoresOfASpan = 2;
  // Returns the first of entry.pages pages for a span, durably entered in the map. The caller
  // commits the operation. The pages are in the shortest free run that is long enough and begins at
  // page `from` or later. At least pages_kept other pages stay free. Returns nullopt if no run is
  // long enough or an entry is damaged (status). Requires: `from` is not after the high-water mark.
  std::optional<uint64_t> Take(PoolOperation* op, const SpanEntry& entry, uint64_t pages_kept,
                               uint64_t from);
  // The same, from the first free run that is long enough, which begins before page `limit`.
  std::optional<uint64_t> TakeBelow(PoolOperation* op, const SpanEntry& entry, uint64_t limit,
                                    uint64_t pages_kept);
  // Frees the pages of a span that was taken. Requires: nothing durable refers to them. Changes
  // nothing if it throws std::bad_alloc.
  void Give(uint64_t page, uint64_t pages) { free_runs_.Add(page, pages); }

  uint64_t pages() const { return pages_; }
  uint64_t first_page() const { return first_page_; }
  // Pages from here on were never used.
  uint64_t high_water_page() const { return high_water_page_; }
  // The free pages that may be taken.
  uint64_t FreePages() const { return free_runs_.pages() + NeverUsedPages(); }
  // The free pages that may not be taken before Confirm (I4).
  uint64_t UnconfirmedPages() const;
  uint64_t LongestFreeRun() const;
  uint64_t FirstFreePage() const { return free_runs_.FirstPage().value_or(high_water_page_); }
  // Approximate bytes of volatile state.
  uint64_t VolatileBytes() const {
    return free_runs_.count() * 128 + found_free_.capacity() * sizeof(found_free_[0]);
  }
  // Asserts I1 of the map and of the free runs. Reads the complete map.
  void CheckInvariants() const;

 private:
  struct Run {
    uint64_t page;
    uint64_t pages;
  };

  PoolOffset EntryOffset(uint64_t page) const { return map_offset_ + page * sizeof(uint64_t); }
  Status BadEntry(uint64_t page) const;
  // Checks for entries after the high-water mark. Returns Corruption if one proves it too low.
  Status CheckAfterEnd();
  // The never-used pages that may be taken (I4).
  uint64_t NeverUsedPages() const { return is_end_sure_ ? pages_ - high_water_page_ : 0; }
  // The length of the run of never-used pages and of the free pages directly before them.
  uint64_t LastRunPages() const;
  // Advances *page along the chain to the end of the tile that contains the page before `end`.
  // Returns false if the entry of *page is damaged.
  bool WalkTiles(uint64_t* page, uint64_t end) const;
  // Enters a span in the map. next: the entry after it, if the map does not have that yet.
  void Enter(PoolOperation* op, uint64_t page, const SpanEntry& entry,
             const std::optional<SpanEntry>& next);
  // The same for free pages below the high-water mark. Returns false if an entry is damaged.
  bool EnterBelow(PoolOperation* op, uint64_t page, const SpanEntry& entry);

  Medium* const medium_;
  const uint64_t map_offset_;
  const uint64_t first_page_;
  const uint64_t pages_;
  uint64_t high_water_page_;
  bool is_end_sure_ = true;           // I4
  FreeRuns free_runs_;                // below the high-water mark
  std::vector<Run> found_free_;       // found by Read, not confirmed
  std::optional<uint64_t> bad_page_;  // of status()
};

}  // namespace ashlar::pmem
