#include "memtable/sorted_entries.h"

#include <algorithm>

#include "key/key_head.h"

namespace ashlar {

SortedEntries::SortedEntries(const KeyComparator& comparator,
                             const std::vector<const char*>& entries)
    : comparator_(comparator) {
  if (comparator_.HasHeads() && !entries.empty()) {
    prefix_ = ComparedPart(DecodeEntry(entries.front()).user_key());
    for (const char* const entry : entries) {
      const Slice key = ComparedPart(DecodeEntry(entry).user_key());
      if (!key.starts_with(prefix_))
        prefix_ = Slice(prefix_.data(), CommonPrefixBytes(prefix_, key));
    }
  }
  items_.reserve(entries.size());
  for (const char* const entry : entries) {
    items_.push_back(
        {.head = comparator_.Head(DecodeEntry(entry).user_key(), prefix_.size()), .entry = entry});
  }
  std::sort(items_.begin(), items_.end(), [this](const Item& a, const Item& b) {
    if (a.head != b.head) return a.head < b.head;
    return CompareEntry(comparator_, a.entry, TargetOf(b.entry)) < 0;
  });
}

size_t SortedEntries::Rank(const EntryTarget& target) const {
  if (!target.user_key.starts_with(prefix_))
    return comparator_.Compare(target.user_key, prefix_) < 0 ? 0 : items_.size();
  const uint64_t head = comparator_.Head(target.user_key, prefix_.size());
  const auto before = [&](const Item& item) {
    return item.head != head ? item.head < head : CompareEntry(comparator_, item.entry, target) < 0;
  };
  return static_cast<size_t>(std::partition_point(items_.begin(), items_.end(), before) -
                             items_.begin());
}

void SortedEntries::Get(Lookup* lookup, const PinSource& owner) const {
  for (size_t i = Rank({lookup->user_key(), lookup->seek_tag()}); i < items_.size(); ++i) {
    const DecodedEntry entry = DecodeEntry(items_[i].entry);
    if (!comparator_.Equal(entry.user_key(), lookup->user_key())) return;
    const uint64_t tag = entry.tag();
    if (!lookup->Offer(TagType(tag), TagSequence(tag), entry.value(), owner)) return;
  }
}

void SortedEntries::Walk::SeekForPrev(const Slice& user_key, uint64_t tag) {
  Seek(user_key, tag);
  const bool is_target =
      Valid() && CompareEntry(entries_->comparator_, entry(), {user_key, tag}) == 0;
  if (!is_target) --position_;
}

}  // namespace ashlar
