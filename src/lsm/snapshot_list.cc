#include "lsm/snapshot_list.h"

#include "base/assert.h"

namespace ashlar {

SnapshotList::~SnapshotList() {
  while (oldest_ != nullptr) Release(oldest_);
}

const SnapshotImpl* SnapshotList::Acquire(SequenceNumber sequence, int64_t unix_seconds) {
  ASHLAR_ASSERT(newest_ == nullptr || newest_->sequence_ <= sequence);  // I1
  auto* snapshot = new SnapshotImpl(sequence, unix_seconds);
  snapshot->previous_ = newest_;
  (newest_ == nullptr ? oldest_ : newest_->next_) = snapshot;
  newest_ = snapshot;
  ++size_;
  return snapshot;
}

void SnapshotList::CheckInvariants() const {
  size_t count = 0;
  const SnapshotImpl* previous = nullptr;
  for (const SnapshotImpl* s = oldest_; s != nullptr; previous = s, s = s->next_, ++count) {
    ASHLAR_ASSERT(s->previous_ == previous);  // links go both ways
    ASHLAR_ASSERT(previous == nullptr || previous->sequence_ <= s->sequence_);  // I1
  }
  ASHLAR_ASSERT(newest_ == previous);  // the end of the list
  ASHLAR_ASSERT(size_ == count);       // the length of the list
}

void SnapshotList::Release(const SnapshotImpl* snapshot) {
  ASHLAR_ASSERT(size_ > 0);  // Acquire counted it
  (snapshot->previous_ == nullptr ? oldest_ : snapshot->previous_->next_) = snapshot->next_;
  (snapshot->next_ == nullptr ? newest_ : snapshot->next_->previous_) = snapshot->previous_;
  --size_;
  delete snapshot;
}

std::vector<SequenceNumber> SnapshotList::Sequences() const {
  std::vector<SequenceNumber> sequences;
  sequences.reserve(size_);
  for (const SnapshotImpl* s = oldest_; s != nullptr; s = s->next_) {
    if (sequences.empty() || sequences.back() != s->sequence_) sequences.push_back(s->sequence_);
  }
  return sequences;
}

}  // namespace ashlar
