// FreeRuns: the runs of free pages of a pool, by place and by length.
//
//   Add --> joined with the runs that it touches
//   TakeShortest: the shortest run that is long enough, so that long runs stay for large records
//   TakeFirst: the first run that is long enough, so that records move towards the pool's beginning
//   TakeShortest after a page: so that records make room for longer ones
//   TakeUpTo: a whole run, with which the pages after it become one piece
//
// I1: runs are not empty, do not overlap and do not touch.
// I2: both orders have the same runs, and pages() is their sum.
//
// I3: only Add may allocate, for a run that touches no other. It throws std::bad_alloc before it
//     changes anything.
//
// Cost: every call is logarithmic in the number of runs, except TakeFirst, and TakeShortest after a
// page, which look at one run of each length. Of these there are few: at most the root of twice the
// free pages.
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
  // The first page of the pages taken, from a run that begins at `from` or after it; none: no run
  // is long enough.
  std::optional<uint64_t> TakeShortest(uint64_t pages, uint64_t from);
  // The same, from a run that begins before `limit`.
  std::optional<uint64_t> TakeFirst(uint64_t pages, uint64_t limit);
  // The pages of the run that ends before the page `end` (0 if there is none), and its first page.
  // Requires: no run is after it and, to take it, PagesUpTo(end) > 0.
  uint64_t PagesUpTo(uint64_t end) const;
  uint64_t TakeUpTo(uint64_t end);

  uint64_t pages() const { return pages_; }
  // 0: there are no runs.
  uint64_t LongestRun() const { return by_length_.empty() ? 0 : by_length_.rbegin()->first; }
  size_t count() const { return by_page_.size(); }
  // The runs that TakeShortest and TakeFirst have looked at so far: their cost.
  uint64_t runs_looked_at() const { return runs_looked_at_; }
  // None: there are no runs.
  std::optional<uint64_t> FirstPage() const {
    return by_page_.empty() ? std::nullopt : std::optional<uint64_t>(by_page_.begin()->first);
  }
  void CheckInvariants() const;

 private:
  using ByPage = std::map<uint64_t, uint64_t>;  // first page to pages

  using ByLength = std::set<std::pair<uint64_t, uint64_t>>;  // pages, first page

  // Counts the run, if it is one.
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
