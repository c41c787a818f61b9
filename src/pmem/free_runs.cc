#include "pmem/free_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace ashlar::pmem {

void FreeRuns::Insert(uint64_t page, uint64_t pages) {
  const auto run = by_page_.emplace(page, pages).first;
  try {
    by_length_.emplace(pages, page);
  } catch (...) {
    by_page_.erase(run);  // I3
    throw;
  }
  pages_ += pages;
}

// Changes the position and the length of the run, and reuses its nodes (I3).
void FreeRuns::Move(ByPage::iterator run, uint64_t page, uint64_t pages) {
  auto by_length = by_length_.extract({run->second, run->first});
  by_length.value() = {pages, page};
  by_length_.insert(std::move(by_length));
  pages_ += pages - run->second;
  auto by_page = by_page_.extract(run);
  by_page.key() = page;
  by_page.mapped() = pages;
  by_page_.insert(std::move(by_page));
}

void FreeRuns::Erase(ByPage::iterator run) {
  by_length_.erase({run->second, run->first});
  pages_ -= run->second;
  by_page_.erase(run);
}

void FreeRuns::Add(uint64_t page, uint64_t pages) {
  ASHLAR_ASSERT(pages > 0);  // I1
  const auto after = by_page_.lower_bound(page);
  ASHLAR_ASSERT(after == by_page_.end() || page + pages <= after->first);  // I1
  const bool touches_after = after != by_page_.end() && page + pages == after->first;
  const auto before = after == by_page_.begin() ? by_page_.end() : std::prev(after);
  ASHLAR_ASSERT(before == by_page_.end() || before->first + before->second <= page);  // I1
  if (before != by_page_.end() && before->first + before->second == page) {
    const uint64_t joined = before->second + pages + (touches_after ? after->second : 0);
    if (touches_after) Erase(after);
    Move(before, before->first, joined);
  } else if (touches_after) {
    Move(after, page, pages + after->second);
  } else {
    Insert(page, pages);
  }
}

uint64_t FreeRuns::TakeFrom(ByPage::iterator run, uint64_t pages) {
  const uint64_t page = run->first;
  const uint64_t left = run->second - pages;
  if (left > 0) {
    Move(run, page + pages, left);
  } else {
    Erase(run);
  }
  return page;
}

std::optional<uint64_t> FreeRuns::TakeShortest(uint64_t pages, uint64_t from) {
  auto run = by_length_.lower_bound({pages, from});
  while (!IsEnd(run) && run->second < from) run = by_length_.lower_bound({run->first, from});
  if (run == by_length_.end()) return std::nullopt;
  return TakeFrom(by_page_.find(run->second), pages);
}

std::optional<uint64_t> FreeRuns::TakeFirst(uint64_t pages, uint64_t limit) {
  uint64_t first = limit;
  // Looks at the first run of each length.
  for (auto run = by_length_.lower_bound({pages, 0}); !IsEnd(run);
       run = by_length_.lower_bound({run->first + 1, 0}))
    first = std::min(first, run->second);
  if (first == limit) return std::nullopt;
  return TakeFrom(by_page_.find(first), pages);
}

uint64_t FreeRuns::PagesUpTo(uint64_t end) const {
  if (by_page_.empty()) return 0;
  const auto& [page, pages] = *by_page_.rbegin();
  ASHLAR_ASSERT(page + pages <= end);  // Requires
  return page + pages == end ? pages : 0;
}

uint64_t FreeRuns::TakeUpTo(uint64_t end) {
  const uint64_t pages = PagesUpTo(end);
  ASHLAR_ASSERT(pages > 0);  // Requires
  return TakeFrom(std::prev(by_page_.end()), pages);
}

void FreeRuns::CheckInvariants() const {
  uint64_t sum = 0;
  uint64_t end = 0;
  for (const auto& [page, pages] : by_page_) {
    ASHLAR_ASSERT(pages > 0 && (page > end || end == 0));  // I1
    ASHLAR_ASSERT(by_length_.contains({pages, page}));     // I2
    end = page + pages;
    sum += pages;
  }
  ASHLAR_ASSERT(by_length_.size() == by_page_.size() && sum == pages_);  // I2
}

}  // namespace ashlar::pmem
