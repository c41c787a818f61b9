// ReadView: everything that a read of one column family needs, immutable: the active memtable, the
// immutable ones (newest first), the version, and the transform that prefixes of keys are taken
// with.
//
//   built at an install (under the database mutex) -> published in ColumnFamily::view_ -> replaced
//   by the next install -> unlinked -> Unlink() -> deleted when the epoch is over and the last
//   iterator on it is gone
//
// I1: the members of a view hold every write published before the view was, except entries dropped
//     as invisible to every snapshot.
// I2: a reader loads the view first and the published sequence second. A view older than the
//     sequence lacks only what came after the call began. But what an ingestion adds may be missing
//     while a later write is in its memtable. So a read of several keys, or of merge operands in a
//     memtable, takes both again if the view was replaced. In the other order a compaction between
//     the two loads may drop the version that the reader needs.
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

// Memtables are shared by consecutive views; when the last view lets go, the memtable is dropped
// (and dies with its last pin).
using MemTableRef = std::shared_ptr<MemTable>;

struct ReadView {
  struct Args {
    MemTableRef active;
    std::vector<MemTableRef> immutable;  // newest first
    Version* version = nullptr;          // takes a count of its own
    std::shared_ptr<const SliceTransform> prefix_extractor;
    uint64_t number = 0;
    EpochDomain* epochs = nullptr;               // of the guards in which the view is found
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
  // Null: none. Memtables and tables that were made before it was changed have their own.
  const std::shared_ptr<const SliceTransform> prefix_extractor;
  const uint64_t number;  // grows with every view of the family
  SharedCount pins;

  // Release reclaims epochs: hold no lock that a deleter takes.
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
  // Gives the count away.
  Pin TakePin() { return std::move(pin_); }

 private:
  ReadView* view_;
  Pin pin_;
};

}  // namespace ashlar
