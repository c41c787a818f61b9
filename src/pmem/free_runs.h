// FreeRuns: the runs of free pages of a pool, by position and by length.
//
//   Add --> joined with the runs that it touches
//   TakeShortest: the shortest run that is long enough, so that long runs stay for large records
//   TakeFirst: the first run that is long enough, so that records move towards the pool's beginning
//   TakeShortest after a page: so that records make room for longer ones
//   TakeUpTo: a complete run, which forms one piece with the pages after it
//
// I1: runs are not empty, do not overlap and do not touch.
// I2: both orders have the same runs, and pages() is their sum.
//
// I3: only Add may allocate, for a run that touches no other. It throws std::bad_alloc before it
//     changes anything.
//
// Cost: every call is logarithmic in the number of runs, except TakeFirst, and TakeShortest after a
// page. These look at one run of each length. There are few lengths, at most the square root of
// twice the number of free pages.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ashlar::pmem {

class FreeRuns {
 public:
  // Requires: no page of the run is in another one.
  void Add(uint64_t page, uint64_t pages);
  // Returns the first of the pages taken, from a run that begins at `from` or later. Returns
  // nullopt if no run is long enough.
  std::optional<uint64_t> TakeShortest(uint64_t pages, uint64_t from);
  // The same, from the first run that is long enough, if it begins before `limit`.
  std::optional<uint64_t> TakeFirst(uint64_t pages, uint64_t limit);
  // The pages of the run that ends directly before page `end`, or 0. TakeUpTo takes that run and
  // returns its first page. Requires: no run is after it. For TakeUpTo: PagesUpTo(end) > 0.
  uint64_t PagesUpTo(uint64_t end) const;
  uint64_t TakeUpTo(uint64_t end);

  uint64_t pages() const { return pages_; }
  // The pages of the longest run, or 0 if there are no runs.
  uint64_t LongestRun() const { return by_length_.empty() ? 0 : by_length_.rbegin()->first; }
  size_t count() const { return by_page_.size(); }
  // The number of runs that TakeShortest and TakeFirst have looked at so far, which is their cost.
  uint64_t runs_looked_at() const { return runs_looked_at_; }
  // Empty if there are no runs.
  std::optional<uint64_t> FirstPage() const {
    return by_page_.empty() ? std::nullopt : std::optional<uint64_t>(by_page_.begin()->first);
  }
  void CheckInvariants() const;

 private:
  using ByPage = std::map<uint64_t, uint64_t>;  // first page to pages

  using ByLength = std::set<std::pair<uint64_t, uint64_t>>;  // pages, first page

  // Whether the iterator is at the end. Counts its run if it is not.
  bool IsEnd(ByLength::const_iterator run) {
    if (run == by_length_.end()) return true;
    runs_looked_at_++;
    return false;
  }
  void Insert(uint64_t page, uint64_t pages);
  void Move(ByPage::iterator run, uint64_t page, uint64_t pages);
  void Erase(ByPage::iterator run);
  uint64_t TakeFrom(ByPage::iterator run, uint64_t pages);

  ByPage by_page_;
  ByLength by_length_;
  uint64_t pages_ = 0;
  uint64_t runs_looked_at_ = 0;
};

}  // namespace ashlar::pmem
