#include "iterate/range_cover.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace ashlar {

// Replaces *interval by its intersection with `other`.
void RangeCover::Narrow(CoverInterval* interval, const CoverInterval& other) const {
  if (other.begin &&
      (!interval->begin || args_.comparator.Compare(*interval->begin, *other.begin) < 0))
    interval->begin = other.begin;
  if (other.end && (!interval->end || args_.comparator.Compare(*other.end, *interval->end) < 0))
    interval->end = other.end;
}

Status RangeCover::Find(const Slice& user_key) {
  found_ = false;
  common_ = {};
  for (size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    if (!source.interval || !IsIn(*source.interval, user_key))
      ASHLAR_RETURN_IF_ERROR(FindIn(&source, user_key));
    Narrow(&common_, *source.interval);
    if (source.interval->sequence > common_.sequence) {
      common_.sequence = source.interval->sequence;
      source_ = i;
    }
  }
  found_ = true;
  return Status::OK();
}

Slice RangeCover::CoveredBegin() {
  ASHLAR_ASSERT(found_ && common_.sequence > 0);          // the last search found a tombstone
  ASHLAR_ASSERT(sources_[source_].interval.has_value());  // of the last search
  ASHLAR_ASSERT(sources_[source_].interval->begin.has_value());  // a tombstone has both ends
  const Slice begin = *sources_[source_].interval->begin;
  covered_bound_.assign(begin.data(), begin.size());
  found_ = false;
  return covered_bound_;
}

Result<Slice> RangeCover::CoveredEnd(FunctionRef<bool(const Slice& end)> stops) {
  ASHLAR_ASSERT(found_ && common_.sequence > 0);  // the last search found a tombstone
  found_ = false;
  Source& source = sources_[source_];
  ASHLAR_ASSERT(source.interval.has_value());  // of the last search
  for (;;) {
    ASHLAR_ASSERT(source.interval->end.has_value());  // a tombstone has both ends
    const Slice end = *source.interval->end;
    covered_bound_.assign(end.data(), end.size());
    if (stops(covered_bound_)) return Slice(covered_bound_);
    ASHLAR_RETURN_IF_ERROR(FindIn(&source, covered_bound_));
    if (source.interval->sequence == 0 || !IsIn(*source.interval, covered_bound_))
      return Slice(covered_bound_);
  }
}

Status RangeCover::FindIn(Source* source, const Slice& user_key) const {
  source->interval.reset();
  source->tables.clear();
  if (source->memtable == nullptr) return FindInFiles(source, user_key);
  source->interval = source->memtable->FindCoverInterval(user_key, args_.visible);
  return Status::OK();
}

// Returns the index of the first file that does not end before the key.
size_t RangeCover::FindFile(const Source& source, const Slice& user_key) const {
  const auto found = std::partition_point(
      source.files.begin(), source.files.end(),
      [&](const FileMetaData* file) { return file->EndsBefore(args_.comparator, user_key); });
  return static_cast<size_t>(found - source.files.begin());
}

Status RangeCover::FindInFiles(Source* source, const Slice& user_key) const {
  const std::span<FileMetaData* const> files = source->files;
  const size_t file = FindFile(*source, user_key);
  if (file < files.size() &&
      args_.comparator.Compare(files[file]->smallest_user_key(), user_key) <= 0)
    return FindInFile(source, file, user_key);
  CoverInterval gap;
  if (file < files.size()) gap.end = files[file]->smallest_user_key();
  if (file > 0 && files[file - 1]->excludes_largest()) {
    gap.begin = files[file - 1]->largest_user_key();
  } else if (file > 0) {
    // The gap begins after the largest key of that file. No slice says this, so the key is used.
    source->key.assign(user_key.data(), user_key.size());
    gap.begin = source->key;
  }
  source->interval = gap;
  return Status::OK();
}

// Finds the file's interval around the key. The bytes of *interval belong to source->tables.
Status RangeCover::FindInTable(Source* source, FileMetaData* file, const Slice& user_key,
                               CoverInterval* interval) const {
  *interval = {};
  if (file->has_ranges.load(std::memory_order_relaxed) == HasRanges::kNo) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(TableRef table, args_.tables->Acquire(file, args_.read_options));
  *interval = table->ranges().FindCoverInterval(user_key, args_.visible);
  source->tables.push_back(std::move(table));
  return Status::OK();
}

// Requires: the key is inside the bounds of the file.
Status RangeCover::FindInFile(Source* source, size_t file, const Slice& user_key) const {
  const std::span<FileMetaData* const> files = source->files;
  CoverInterval interval;
  ASHLAR_RETURN_IF_ERROR(FindInTable(source, files[file], user_key, &interval));
  if (args_.comparator.Compare(user_key, files[file]->largest_user_key()) < 0) {
    Narrow(&interval,
           {.begin = files[file]->smallest_user_key(), .end = files[file]->largest_user_key()});
    source->interval = interval;
    return Status::OK();
  }
  // The next files may have older versions of this key, and tombstones for it. The result is only
  // for this key. This is a loop, because a hostile MANIFEST may name any number of such files.
  SequenceNumber sequence = interval.sequence;
  source->tables.clear();
  for (size_t next = file + 1; next < files.size(); ++next) {
    if (args_.comparator.Compare(files[next]->smallest_user_key(), user_key) > 0) break;
    ASHLAR_RETURN_IF_ERROR(FindInTable(source, files[next], user_key, &interval));
    sequence = std::max(sequence, interval.sequence);
    source->tables.clear();
    if (args_.comparator.Compare(user_key, files[next]->largest_user_key()) < 0) break;
  }
  source->key.assign(user_key.data(), user_key.size());
  source->interval = CoverInterval{.begin = source->key, .end = source->key, .sequence = sequence};
  return Status::OK();
}

}  // namespace ashlar
