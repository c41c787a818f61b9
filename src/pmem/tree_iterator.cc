#include "pmem/tree_iterator.h"

#include <algorithm>
#include <new>

#include "base/assert.h"
#include "execute/epoch.h"

namespace ashlar::pmem {

TreeIterator::TreeIterator(TreeState* state, const ReadOptions& options, const KeyRange& range)
    : state_(state), verify_checksums_(options.verify_checksums) {
  state_->iterators.fetch_add(1, std::memory_order_relaxed);
  if (range.begin) lower_ = {*range.begin, range.begin_inclusive};
  if (range.end) upper_ = {*range.end, range.end_inclusive};
  if (options.iterate_lower_bound != nullptr &&
      (!lower_ || state_->order.Compare(*options.iterate_lower_bound, lower_->key) > 0)) {
    lower_ = {*options.iterate_lower_bound, true};
  }
  if (options.iterate_upper_bound != nullptr &&
      (!upper_ || state_->order.Compare(*options.iterate_upper_bound, upper_->key) <= 0)) {
    upper_ = {*options.iterate_upper_bound, false};
  }
}

TreeIterator::~TreeIterator() {
  SetInvalid();
  state_->iterators.fetch_sub(1, std::memory_order_release);
}

void TreeIterator::SetInvalid() {
  if (pin_ != nullptr) PinTable::Unpin(pin_, record_.start);
  pin_ = nullptr;
}

// Only damage makes a leaf's bound lead back to the leaf. The search would not advance then.
void TreeIterator::SetDamaged(const char* separator) {
  status_ = state_->DamagedRecord(static_cast<PoolOffset>(separator - state_->medium->view()));
  SetInvalid();
}

bool TreeIterator::IsInside(const Slice& key) const {
  if (lower_) {
    const int r = state_->order.Compare(key, lower_->key);
    if (r < 0 || (r == 0 && !lower_->inclusive)) return false;
  }
  if (upper_) {
    const int r = state_->order.Compare(key, upper_->key);
    if (r > 0 || (r == 0 && !upper_->inclusive)) return false;
  }
  return true;
}

// Returns false if the leaf changed meanwhile, or if a record is damaged (then in status_).
bool TreeIterator::CopyLeaf(const BoundedLeaf& leaf) {
  contents_.Read(*state_->medium, state_->order, leaf.offset);
  if (!leaf.Unchanged()) return false;
  leaf_ = leaf;
  if (contents_.damaged != 0) status_ = state_->DamagedRecord(contents_.damaged);
  return contents_.damaged == 0;
}

// The record was live when the guard was entered, or later.
void TreeIterator::Show(size_t position) {
  position_ = position;
  offset_ = contents_.entries[position].record();
  const std::optional<Record> record = ReadRecord(*state_->medium, offset_);
  if (!record || (verify_checksums_ && !ChecksumMatches(*record))) {
    status_ = state_->DamagedRecord(offset_);
    return SetInvalid();
  }
  if (!IsInside(record->key())) return SetInvalid();
  PinTable::Word* const pin = state_->pins->Pin(offset_);
  SetInvalid();
  pin_ = pin;
  record_ = *record;
}

void TreeIterator::Forward(const Slice* from, bool inclusive) {
  Slice target;
  if (from != nullptr) target = *from;
  bool bounded = from != nullptr;
  for (;;) {
    const BoundedLeaf leaf =
        bounded ? state_->index.FindBounded(target) : state_->index.FindFirst();
    if (!CopyLeaf(leaf)) {
      if (status_.ok()) continue;
      return SetInvalid();
    }
    const auto is_before = [&](const LeafEntry& entry) {
      const int r = state_->order.Compare(entry.key, target);
      return r < 0 || (r == 0 && !inclusive);
    };
    const std::vector<LeafEntry>& entries = contents_.entries;
    const auto at =
        bounded ? std::partition_point(entries.begin(), entries.end(), is_before) : entries.begin();
    if (at != entries.end()) return Show(static_cast<size_t>(at - entries.begin()));
    if (leaf.upper == nullptr) return SetInvalid();
    // Valid in the guard, even if the leaf right of this one is unlinked.
    const Slice upper = state_->index.KeyOf(leaf.upper);
    if (bounded && state_->order.Compare(upper, target) <= 0) return SetDamaged(leaf.upper);
    target = upper;
    bounded = true;
    inclusive = true;
  }
}

void TreeIterator::Backward(const Slice* from, bool inclusive) {
  Slice target;
  if (from != nullptr) target = *from;
  bool bounded = from != nullptr;
  for (;;) {
    const BoundedLeaf leaf = !bounded ? state_->index.FindLast()
                                      : (inclusive ? state_->index.FindBounded(target)
                                                   : state_->index.FindBefore(target));
    if (!CopyLeaf(leaf)) {
      if (status_.ok()) continue;
      return SetInvalid();
    }
    const auto is_before = [&](const LeafEntry& entry) {
      const int r = state_->order.Compare(entry.key, target);
      return r < 0 || (r == 0 && inclusive);
    };
    const std::vector<LeafEntry>& entries = contents_.entries;
    const auto end =
        bounded ? std::partition_point(entries.begin(), entries.end(), is_before) : entries.end();
    if (end != entries.begin()) return Show(static_cast<size_t>(end - entries.begin()) - 1);
    if (leaf.lower == nullptr) return SetInvalid();
    const Slice lower = state_->index.KeyOf(leaf.lower);
    const int r = bounded ? state_->order.Compare(lower, target) : -1;
    if (r > 0 || (r == 0 && !inclusive)) return SetDamaged(leaf.lower);
    target = lower;
    bounded = true;
    inclusive = false;
  }
}

template <typename Function>
void TreeIterator::Run(const Function& move) {
  try {
    EpochGuard guard(state_->epochs);
    move();
  } catch (const std::bad_alloc&) {
    status_ = Status::MemoryLimit();
    SetInvalid();
  }
}

void TreeIterator::SeekToFirst() {
  status_ = Status::OK();
  Run([this] { Forward(lower_ ? &lower_->key : nullptr, lower_ && lower_->inclusive); });
}

void TreeIterator::SeekToLast() {
  status_ = Status::OK();
  Run([this] { Backward(upper_ ? &upper_->key : nullptr, upper_ && upper_->inclusive); });
}

void TreeIterator::Seek(const Slice& target) {
  if (lower_ && state_->order.Compare(target, lower_->key) <= 0) return SeekToFirst();
  status_ = Status::OK();
  Run([&] { Forward(&target, true); });
}

void TreeIterator::SeekForPrev(const Slice& target) {
  if (upper_ && state_->order.Compare(target, upper_->key) >= 0) return SeekToLast();
  status_ = Status::OK();
  Run([&] { Backward(&target, true); });
}

void TreeIterator::Next() {
  ASHLAR_DCHECK(Valid());  // Requires
  Run([this] {
    if (!leaf_.Unchanged()) {
      const Slice from = record_.key();
      return Forward(&from, false);
    }
    if (position_ + 1 < contents_.entries.size()) return Show(position_ + 1);
    if (leaf_.upper == nullptr) return SetInvalid();
    // Neither the right neighbour nor its separator is removed without a change of this leaf.
    const Slice from = state_->index.KeyOf(leaf_.upper);
    // A separator among the leaf's keys would lead to this leaf again.
    if (state_->order.Compare(from, record_.key()) <= 0) return SetDamaged(leaf_.upper);
    Forward(&from, true);
  });
}

void TreeIterator::Prev() {
  ASHLAR_DCHECK(Valid());  // Requires
  Run([this] {
    if (leaf_.Unchanged() && position_ > 0) return Show(position_ - 1);
    const Slice from = record_.key();
    Backward(&from, false);
  });
}

void TreeIterator::PinValue(PinnableSlice* value) const {
  ASHLAR_DCHECK(Valid());  // Requires
  PinRecord(state_->pins.get(), offset_, record_, value);
}

Status TreeIterator::Refresh(const Snapshot* snapshot) {
  if (snapshot != nullptr) return Status::NotSupported("a persistent tree has no snapshots");
  SetInvalid();
  return Status::OK();
}

}  // namespace ashlar::pmem
