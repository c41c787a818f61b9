// Chooses addresses at which mappings can have huge pages, and limits the time that a new file
// spends on them. Private to src/platform/posix.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

// The size on x86-64, and on arm64 with pages of 4 KiB.
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Returns an aligned address for a mapping of `bytes`; the system may still choose another one.
// Null if `bytes` is less than a huge page or there is no room. Thread safety: any thread.
void* AddressForHugePages(size_t bytes) noexcept;

// Calls make_huge(page) for the pages of a new file in order, until it returns false or the time is
// used up. add_small(), which is timed, first adds page 0 as small pages; false means no space.
//
// The huge pages made so far may take effort_max times as long as small ones would have taken, plus
// a sixteenth of the time for the complete file, so that one slow page does not stop the loop.
// After the loop the rest gets small pages. With effort 1 the file takes at most a sixteenth longer
// than with small pages alone, plus the time of the last huge page.
template <typename NowNanos, typename AddSmall, typename MakeHuge>
void MakeHugePages(uint64_t pages, double effort_max, const NowNanos& now_ns,
                   const AddSmall& add_small, const MakeHuge& make_huge) {
  constexpr uint64_t kSlackShare = 16;
  const uint64_t start_ns = now_ns();
  if (!add_small()) return;
  const uint64_t small_end_ns = now_ns();
  const double page_budget_ns = effort_max * static_cast<double>(small_end_ns - start_ns);
  const uint64_t slack_pages = pages / kSlackShare;
  for (uint64_t page = 0; page < pages; ++page) {
    const double budget_ns = page_budget_ns * static_cast<double>(page + 1 + slack_pages);
    if (static_cast<double>(now_ns() - small_end_ns) > budget_ns || !make_huge(page)) return;
  }
}

}  // namespace ashlar
