// ReadView: everything that a read of one column family needs, immutable: the active memtable, the immutable ones (newest first) and the version.
//
//   built at an install (under the database mutex) -> published in ColumnFamily::view_ -> replaced by the next install -> unlinked -> Unlink() ->
//   deleted when the epoch is over and the last iterator on it is gone
//
// I1: what a view lists holds every write published before the view was, except what was dropped as invisible to every snapshot.
// I2: a reader loads the view first and the published sequence second. A view older than the sequence is harmless: what it lacks was written after
//     the call began. The other way round, a compaction between the two loads may drop the version that the reader needs.
// Lifetime: a call uses the view inside an epoch guard and takes no count; an iterator takes one on `pins`.
#pragma once

#include <memory>
#include <vector>

#include "execute/shared_count.h"
#include "manifest/version.h"
#include "memtable/memtable.h"

namespace ashlar {

// Memtables are shared by consecutive views; when the last view lets go, the memtable is dropped (and dies with its last pin).
using MemTableRef = std::shared_ptr<MemTable>;

struct ReadView {
  ReadView(MemTableRef active_table, std::vector<MemTableRef> immutable_tables, Version* current, uint64_t view_number);
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  // Called once, after the view was replaced. The caller calls EpochReclaim after releasing its locks.
  void Unlink() { pins.Kill(); }

  const MemTableRef active;
  const std::vector<MemTableRef> immutable;  // newest first
  Version* const version;                    // one count
  const uint64_t number;                     // grows with every view of the family
  SharedCount pins;

 private:
  ~ReadView();
  static void Delete(void* self);
};

}  // namespace ashlar
