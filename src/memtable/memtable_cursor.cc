#include "memtable/memtable_cursor.h"

namespace ashlar {

MemTableCursor::MemTableCursor(const MemTable* memtable, PinMode pin_mode, SeekPrefix* seek)
    : memtable_(memtable),
      pin_(pin_mode == PinMode::kPinned ? memtable->pin_source().Acquire() : Pin()),
      seek_(seek),
      always_tree_(memtable->IsPlain() || (seek == nullptr && memtable->CursorsFollow())),
      walk_(std::in_place_type<EntryTree::Walk>, std::get_if<EntryTree>(&memtable->index_)) {}

// Switches to all entries, in total order.
void MemTableCursor::EnterAll() {
  if (const auto* const tree = std::get_if<EntryTree>(&memtable_->index_)) {
    walk_.emplace<EntryTree::Walk>(tree);
    return;
  }
  if (sorted_ == nullptr) {
    if (!memtable_->immutable()) own_sorted_ = memtable_->SortEntries();
    sorted_ = own_sorted_ != nullptr ? own_sorted_.get() : memtable_->SharedSortedEntries();
  }
  walk_.emplace<SortedEntries::Walk>(sorted_);
}

// Switches to the entries that the seek needs. Returns false if the filter rules the prefix out.
bool MemTableCursor::Enter() {
  const HashedPrefix* const prefix =
      seek_ != nullptr ? seek_->Find(memtable_->prefix_extractor()) : nullptr;
  if (prefix != nullptr && memtable_->bloom_.IsOn() &&
      !memtable_->bloom_.MayMatch(prefix->filter_hash))
    return false;
  const auto* const buckets = std::get_if<EntryBuckets>(&memtable_->index_);
  if (prefix == nullptr || buckets == nullptr) {
    EnterAll();
    return true;
  }
  const EntryBuckets::Bucket bucket = buckets->Find(prefix->filter_hash);
  if (bucket.tree != nullptr) {
    walk_.emplace<EntryTree::Walk>(bucket.tree);
  } else {
    walk_.emplace<EntryBuckets::ListWalk>(memtable_->comparator(), bucket.list);
  }
  return true;
}

}  // namespace ashlar
