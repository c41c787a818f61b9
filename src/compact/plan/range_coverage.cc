#include "compact/plan/range_coverage.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>

#include "base/assert.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

constexpr size_t kCountedTombstonesMax = 256;

class CoverageSearch {
 public:
  CoverageSearch(const TreeView& view, const FragmentedRanges& ranges,
                 const BytesOfRange* bytes_of_range)
      : tree_(view), ranges_(ranges), bytes_of_range_(bytes_of_range) {}

  // `run`: the files of one older run that overlap the table, ascending.
  void FindHidden(std::span<FileMetaData* const> run) {
    FragmentedRanges::Cursor at(&ranges_);
    for (size_t i = 0; i < run.size();) {
      FileMetaData* const file = run[i];
      if (file->coverage.hidden_since != 0) {
        ++i;
        continue;
      }
      at.Seek(file->smallest_user_key());
      if (!at.Valid()) return;
      if (tree_.Compare(at.begin(), file->smallest_user_key()) > 0) {
        // No earlier file than the first that begins with the fragment or after it can be hidden.
        const auto next = std::partition_point(
            run.begin() + static_cast<std::ptrdiff_t>(i), run.end(), [&](const FileMetaData* f) {
              return tree_.Compare(f->smallest_user_key(), at.begin()) < 0;
            });
        i = static_cast<size_t>(next - run.begin());
        continue;
      }
      if (const SequenceNumber since = HiddenSince(*file, &at); since != 0) {
        result_.hidden.push_back({file, since});
        hidden_.insert(file);
      }
      ++i;
    }
  }

  void CountBytes(std::span<FileMetaData* const> run) {
    const size_t step = ranges_.fragments() / kCountedTombstonesMax + 1;
    size_t number = 0;
    FragmentedRanges::Cursor at(&ranges_);
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
      if (number++ % step == 0) result_.covered_bytes += step * CoveredBytes(run, at.fragment());
    }
  }

  RangeCoverage TakeResult() { return std::move(result_); }

 private:
  // `at` is at the fragment that covers the file's smallest key. 0: the file is not hidden.
  SequenceNumber HiddenSince(const FileMetaData& file, FragmentedRanges::Cursor* at) const {
    SequenceNumber since = 0;
    for (std::string reached; at->Valid(); at->Next()) {
      if (!reached.empty() && tree_.Compare(at->begin(), reached) != 0) return 0;
      // Sequences descend, so the last one newer than the file hides it from the most readers.
      SequenceNumber own = 0;
      for (const SequenceNumber sequence : at->sequences()) {
        if (sequence > file.largest_sequence) own = sequence;
      }
      if (own == 0) return 0;
      since = std::max(since, own);
      const int r = tree_.Compare(at->end(), file.largest_user_key());
      if (r > 0 || (r == 0 && file.excludes_largest())) return since;
      reached = at->end().ToString();
    }
    return 0;
  }

  uint64_t CoveredBytes(std::span<FileMetaData* const> run,
                        const FragmentedRanges::Fragment& fragment) const {
    ASHLAR_ASSERT(bytes_of_range_ != nullptr);  // null: bytes are not counted
    uint64_t bytes = 0;
    auto file = std::partition_point(run.begin(), run.end(), [&](const FileMetaData* f) {
      return tree_.EndsBefore(*f, fragment.begin);
    });
    for (; file != run.end() && tree_.Compare((*file)->smallest_user_key(), fragment.end) < 0;
         ++file) {
      if (IsHiddenFile(*file) || fragment.sequences.front() <= (*file)->smallest_sequence) continue;
      const bool whole = tree_.Compare(fragment.begin, (*file)->smallest_user_key()) <= 0 &&
                         tree_.EndsBefore(**file, fragment.end);
      bytes +=
          whole ? (*file)->file_bytes : (*bytes_of_range_)(*file, fragment.begin, fragment.end);
    }
    return bytes;
  }
  bool IsHiddenFile(const FileMetaData* file) const {
    return file->coverage.hidden_since != 0 || hidden_.contains(file);
  }

  const TreeFiles tree_;
  const FragmentedRanges& ranges_;
  const BytesOfRange* const bytes_of_range_;
  std::unordered_set<const FileMetaData*> hidden_;  // of result_
  RangeCoverage result_;
};

}  // namespace

RangeCoverage FindRangeCoverage(const TreeView& view, Level level, const FileMetaData& table,
                                const FragmentedRanges& ranges,
                                const BytesOfRange* bytes_of_range) {
  const TreeFiles tree(view);
  const FileBounds bounds = TreeFiles::RangeOf(table);
  std::vector<std::vector<FileMetaData*>> runs;
  if (!IsSorted(level)) {
    const auto level0 = view.files(0);  // newest first
    const auto own = std::find(level0.begin(), level0.end(), &table);
    for (auto file = own; file != level0.end(); ++file) {
      if (file != own && tree.Overlap(**file, bounds.range())) runs.push_back({*file});
    }
  }
  for (Level below = level + 1; below < view.num_levels(); ++below) {
    const auto files = tree.Overlapping(below, bounds.range());
    if (!files.empty()) runs.emplace_back(files.begin(), files.end());
  }
  CoverageSearch search(view, ranges, bytes_of_range);
  for (const auto& run : runs) search.FindHidden(run);
  for (const auto& run : runs) {
    if (bytes_of_range != nullptr) search.CountBytes(run);
  }
  return search.TakeResult();
}

}  // namespace ashlar
