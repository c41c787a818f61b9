// SnapshotList: the live snapshots of a database, oldest first.
//
// I1: sequences never decrease along the list.
// Lifetime: a snapshot lives until Release; the list must outlive every snapshot.
// Thread safety: guarded by the caller (the database mutex).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ashlar/snapshot.h"
#include "ashlar/types.h"
#include "key/internal_key.h"

namespace ashlar {

class SnapshotList;

class SnapshotImpl final : public Snapshot {
 public:
  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return unix_seconds_; }

  SnapshotImpl(SequenceNumber sequence, int64_t unix_seconds)
      : sequence_(sequence), unix_seconds_(unix_seconds) {}

 private:
  friend class SnapshotList;
  SequenceNumber sequence_;
  int64_t unix_seconds_;
  SnapshotImpl* previous_ = nullptr;
  SnapshotImpl* next_ = nullptr;
};

class SnapshotList {
 public:
  SnapshotList() = default;
  SnapshotList(const SnapshotList&) = delete;
  SnapshotList& operator=(const SnapshotList&) = delete;
  ~SnapshotList();

  const SnapshotImpl* Acquire(SequenceNumber sequence, int64_t unix_seconds);
  void Release(const SnapshotImpl* snapshot);
  size_t size() const { return size_; }
  const SnapshotImpl* oldest() const { return oldest_; }
  // Returns kSequenceNumberMax if there is no snapshot.
  SequenceNumber oldest_sequence() const {
    return oldest_ == nullptr ? kSequenceNumberMax : oldest_->sequence_;
  }
  // Returns 0 if there is no snapshot.
  SequenceNumber newest_sequence() const { return newest_ == nullptr ? 0 : newest_->sequence_; }
  // Distinct sequences, ascending.
  std::vector<SequenceNumber> Sequences() const;
  void CheckInvariants() const;

 private:
  SnapshotImpl* oldest_ = nullptr;
  SnapshotImpl* newest_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ashlar
