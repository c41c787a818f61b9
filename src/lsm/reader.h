// Reader: point lookups and iterators over the views of an open database.
//
//   Get:  enter epoch -> view -> published sequence -> active memtable -> immutable memtables -> version -> finish (value pinned, not copied)
//
// The view is loaded before the sequence (read_view.h, I2). A call takes no lock and writes no shared count; what outlives it is pinned.
// Thread safety: all methods from any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "iterate/user_iterator.h"
#include "lsm/background_work.h"

namespace ashlar {

class Reader {
 public:
  Reader(DatabaseState* state, BackgroundWork* background) : state_(state), background_(background) {}

  Status Get(const ReadOptions& options, ColumnFamily* family, const Slice& key, PinnableSlice* value) const;

  struct MultiGetRequest {
    std::span<ColumnFamily* const> families;  // one per key
    std::span<const Slice> keys;
    PinnableSlice* values = nullptr;  // one per key
    Status* statuses = nullptr;       // one per key
  };
  // All keys from one state of the database.
  void MultiGet(const ReadOptions& options, const MultiGetRequest& request) const;

  struct ExistsAnswer {
    bool may_exist = true;
    bool value_found = false;
  };
  // Looks at memory only. *value (may be null) is set when it was found.
  ExistsAnswer KeyMayExist(const ReadOptions& options, ColumnFamily* family, const Slice& key, PinnableSlice* value) const;

  Status NewIterator(const ReadOptions& options, const std::shared_ptr<ColumnFamily>& family, std::unique_ptr<Iterator>* iterator) const;
  // One iterator per family, all over one state.
  Status NewIterators(const ReadOptions& options, std::span<const std::shared_ptr<ColumnFamily>> families,
                      std::vector<std::unique_ptr<Iterator>>* iterators) const;

 private:
  struct Views {
    std::vector<ReadView*> views;  // one per family
    SequenceNumber sequence = 0;
  };
  // One state for all: every view, then the sequence; a view that changed meanwhile means that the sequence may belong to a later state of that
  // family. The caller is inside an EpochGuard.
  template <typename FamilyPointer>
  Views TakeViews(const ReadOptions& options, std::span<const FamilyPointer> families) const;
  void CountMultiGet(const MultiGetRequest& request) const;
  // Runs when an iterator has let go of its view: files that only it kept can be deleted.
  static void IteratorIsGone(void* state, void* background);
  std::unique_ptr<Iterator> NewIteratorOnView(const ReadOptions& options, const std::shared_ptr<ColumnFamily>& family, ReadView* view,
                                              SequenceNumber sequence) const;
  // The caller holds a count on the view, which the source takes over.
  IteratorSource MakeSource(const ReadOptions& options, const ColumnFamily& family, ReadView* view, SequenceNumber sequence) const;
  void SearchMemTables(const ReadView& view, Lookup* lookup) const;
  // Somebody wants to know what reads cost.
  bool Observed() const;
  template <typename Observer>
  Status LookUp(const ReadOptions& options, ColumnFamily* family, const Slice& key, PinnableSlice* value, Observer* observer) const;

  DatabaseState* const state_;
  BackgroundWork* const background_;
};

}  // namespace ashlar
