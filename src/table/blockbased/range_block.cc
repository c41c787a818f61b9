#include "table/blockbased/range_block.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "table/block/block_entries.h"

namespace ashlar {

namespace {

Status CheckEntry(const KeyComparator& comparator, const Slice& key, const Slice& end) {
  if (key.size() < kTagBytes) return DamagedEntryError();
  if (!IsRange(ExtractType(key)))
    return Status::Corruption("an entry of another type among the range deletions");
  if (comparator.Compare(ExtractUserKey(key), end) > 0)
    return Status::Corruption("a range deletion ends before its begin");
  return Status::OK();
}

}  // namespace

Result<RangeBlock> DecodeRangeBlock(const Slice& block, const RangeBlockArgs& args) {
  std::deque<std::string> begins;  // the tombstones refer to them
  std::vector<RangeTombstone> tombstones;
  uint64_t count = 0;
  BlockEntries entries(block);
  while (entries.Next()) {
    ASHLAR_RETURN_IF_ERROR(CheckEntry(args.comparator, entries.key(), entries.value()));
    const Slice begin = ExtractUserKey(entries.key());
    if (args.ordered && !begins.empty() && args.comparator.Compare(begins.back(), begin) > 0)
      return Status::Corruption("range deletions out of order");
    begins.push_back(begin.ToString());
    ++count;
    if (args.comparator.Compare(begin, entries.value()) == 0) continue;  // it covers no key
    tombstones.push_back(
        {.begin = begins.back(),
         .end = entries.value(),
         .sequence = TagSequence(args.sequence_override.Apply(ExtractTag(entries.key())))});
  }
  ASHLAR_RETURN_IF_ERROR(entries.status());
  const uint64_t fragments_steps = count + block.size() / FragmentedRanges::kBytesOfStep;
  std::optional<FragmentedRanges> ranges = FragmentedRanges::MakeWithin(
      args.comparator, std::move(tombstones), fragments_steps + kOverlapStepsMax);
  if (!ranges)
    return Status::Corruption("range deletions that overlap far more than any database's");
  return RangeBlock{.ranges = *std::move(ranges), .entries = count};
}

}  // namespace ashlar
