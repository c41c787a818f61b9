#include "pmem/free_runs.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace ashlar::pmem {

void FreeRuns::Insert(uint64_t page, uint64_t pages) {
  by_page_.emplace(page, pages);
  by_length_.emplace(pages, page);
  pages_ += pages;
}

void FreeRuns::Erase(ByPage::iterator run) {
  by_length_.erase({run->second, run->first});
  pages_ -= run->second;
  by_page_.erase(run);
}

void FreeRuns::Add(uint64_t page, uint64_t pages) {
  ASHLAR_ASSERT(pages > 0);  // I1
  const auto after = by_page_.lower_bound(page);
  if (after != by_page_.end()) {
    ASHLAR_ASSERT(page + pages <= after->first);  // I1
    if (page + pages == after->first) {
      pages += after->second;
      Erase(after);
    }
  }
  const auto next = by_page_.lower_bound(page);
  if (next != by_page_.begin()) {
    const auto before = std::prev(next);
    ASHLAR_ASSERT(before->first + before->second <= page);  // I1
    if (before->first + before->second == page) {
      page = before->first;
      pages += before->second;
      Erase(before);
    }
  }
  Insert(page, pages);
}

uint64_t FreeRuns::TakeFrom(ByPage::iterator run, uint64_t pages) {
  const uint64_t page = run->first;
  const uint64_t left = run->second - pages;
  Erase(run);
  if (left > 0) Insert(page + pages, left);
  return page;
}

std::optional<uint64_t> FreeRuns::TakeShortest(uint64_t pages) {
  const auto run = by_length_.lower_bound({pages, 0});
  if (run == by_length_.end()) return std::nullopt;
  return TakeFrom(by_page_.find(run->second), pages);
}

std::optional<uint64_t> FreeRuns::TakeFirst(uint64_t pages, uint64_t limit) {
  uint64_t first = limit;
  // The first run of each length.
  for (auto run = by_length_.lower_bound({pages, 0}); run != by_length_.end();
       run = by_length_.lower_bound({run->first + 1, 0}))
    first = std::min(first, run->second);
  if (first == limit) return std::nullopt;
  return TakeFrom(by_page_.find(first), pages);
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
