#include "pmem/deleted_ranges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"

namespace ashlar::pmem {

int DeletedRanges::Compare(const Cut& a, const Cut& b) const {
  const auto side = [](const Cut& cut) { return cut.key ? 0 : (cut.after ? 1 : -1); };
  if (!a.key || !b.key) return side(a) - side(b);
  const int r = order_.Compare(*a.key, *b.key);
  return r != 0 ? r : static_cast<int>(a.after) - static_cast<int>(b.after);
}

void DeletedRanges::Add(const KeyRange& range, size_t position) {
  Cut begin;
  if (range.begin) begin = {.key = range.begin, .after = !range.begin_inclusive};
  Cut end = {.key = std::nullopt, .after = true};
  if (range.end) end = {.key = range.end, .after = range.end_inclusive};
  if (Compare(begin, end) >= 0) return;
  edges_.push_back({.cut = begin, .position = position, .begins = true});
  edges_.push_back({.cut = end, .position = position, .begins = false});
}

void DeletedRanges::Build() {
  std::sort(edges_.begin(), edges_.end(),
            [this](const Edge& a, const Edge& b) { return Compare(a.cut, b.cut) < 0; });
  std::multiset<size_t> open;
  Cut begin;
  for (const Edge& edge : edges_) {
    if (!open.empty() && Compare(begin, edge.cut) < 0)
      segments_.push_back({.begin = begin, .end = edge.cut, .newest = *open.rbegin()});
    begin = edge.cut;
    if (edge.begins) {
      open.insert(edge.position);
    } else {
      open.erase(open.find(edge.position));
    }
  }
  edges_ = {};
  CheckInvariants();
}

std::vector<DeletedRanges::Segment>::const_iterator DeletedRanges::AfterThoseBefore(
    const Slice& key) const {
  const Cut at = {.key = key, .after = false};
  return std::partition_point(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return Compare(segment.end, at) <= 0;
  });
}

const DeletedRanges::Segment* DeletedRanges::Find(const Slice& key) const {
  const auto segment = AfterThoseBefore(key);
  if (segment == segments_.end() || Compare(segment->begin, {.key = key, .after = false}) > 0)
    return nullptr;
  return &*segment;
}

bool DeletedRanges::CoversAfter(const Slice& key, size_t position) const {
  const Segment* const segment = Find(key);
  return segment != nullptr && segment->newest >= position;
}

std::optional<Slice> DeletedRanges::FirstFrom(const Slice& key) const {
  const auto segment = AfterThoseBefore(key);
  if (segment == segments_.end()) return std::nullopt;
  const Cut at = {.key = key, .after = false};
  return Compare(segment->begin, at) > 0 ? segment->begin.key : key;
}

void DeletedRanges::CheckInvariants() const {
  for (size_t i = 0; i < segments_.size(); ++i) {
    ASHLAR_DCHECK(Compare(segments_[i].begin, segments_[i].end) < 0);                 // I1
    ASHLAR_DCHECK(i == 0 || Compare(segments_[i - 1].end, segments_[i].begin) <= 0);  // I1
  }
}

}  // namespace ashlar::pmem
