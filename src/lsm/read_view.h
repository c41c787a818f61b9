// ReadView: an immutable object with everything that a read of one column family needs. It has the
// active memtable, the immutable ones (newest first), the version, and the transform that extracts
// the prefixes of keys.
//
//   built at an install (under the database mutex) -> published in ColumnFamily::view_ -> replaced
//   by the next install -> unlinked -> Unlink() -> deleted when the epoch is over and the last
//   iterator on it is gone
//
// I1: the members of a view hold every write published before the view was, except entries dropped
//     as invisible to every snapshot.
// I2: a reader loads the view first and the published sequence second. A view older than the
//     sequence lacks only data that was added after the call began. But it may lack the data of an
//     ingestion although its memtable has a later write. So a read of several keys, or of merge
//     operands in a memtable, loads both again if the view was replaced. In the reverse order, a
//     compaction between the two loads may drop the version that the reader needs.
// Lifetime: a call uses the view inside an epoch guard and takes no count unless it has to wait; a
// ViewRef and an iterator hold one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/slice_transform.h"
#include "base/pin.h"
#include "execute/shared_count.h"
#include "manifest/version.h"
#include "memtable/memtable.h"

namespace ashlar {

// Consecutive views share memtables. When the last view releases a memtable, it is dropped, and it
// is destroyed with its last pin.
using MemTableRef = std::shared_ptr<MemTable>;

struct ReadView {
  struct Args {
    MemTableRef active;
    std::vector<MemTableRef> immutable;  // newest first
    Version* version = nullptr;          // takes a count of its own
    std::shared_ptr<const SliceTransform> prefix_extractor;
    uint64_t number = 0;
    EpochDomain* epochs = nullptr;               // of the guards that protect the view
    std::atomic<int64_t>* live_views = nullptr;  // counts the view while it exists
  };

  explicit ReadView(Args args);
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  // Called once, after the view was replaced. The caller calls EpochDomain::Reclaim after releasing
  // its locks.
  void Unlink() { pins.Kill(); }

  const MemTableRef active;
  const std::vector<MemTableRef> immutable;  // newest first
  Version* const version;                    // one count
  // May be null. Memtables and tables that were made before a change of it have their own.
  const std::shared_ptr<const SliceTransform> prefix_extractor;
  const uint64_t number;  // grows with every view of the family
  SharedCount pins;

  // Release reclaims epochs, so the caller must hold no lock that a deleter takes.
  static const PinOps kPinOps;
  PinSource pin_source() { return {&kPinOps, this}; }

 private:
  ~ReadView();
  static void Delete(void* self);

  std::atomic<int64_t>* const live_views_;
};

// A view and one count on it.
class ViewRef {
 public:
  // Adopts a count.
  explicit ViewRef(ReadView* view) : view_(view), pin_(&ReadView::kPinOps, view) {}

  ReadView* get() const { return view_; }
  ReadView* operator->() const { return view_; }
  // Transfers the count to the caller.
  Pin TakePin() { return std::move(pin_); }

 private:
  ReadView* view_;
  Pin pin_;
};

}  // namespace ashlar
