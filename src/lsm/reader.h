// Reader: point lookups and iterators over the views of an open database.
//
//   Get:  enter epoch -> view -> published sequence -> active memtable -> immutable memtables ->
//         version -> leave epoch -> finish (value pinned, not copied; merge operator)
//
// The view is loaded before the sequence (read_view.h, I2). A call that needs no file takes no lock
// and writes no shared count. Results that outlive the call are pinned. A call that waits for a
// file leaves its epoch for that time. It then holds a count on its views, and on the tables that
// it read from, until it ends (execute/read_guard.h). Iterators are in an epoch only while they
// take a count.
//
// Thread safety: all methods from any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/compiler.h"
#include "iterate/user_iterator.h"
#include "lsm/background_work.h"

namespace ashlar {

// The view of a call that may wait and therefore runs outside guards. The destructor deletes the
// files that only this view kept.
class ViewOfCall {
 public:
  ViewOfCall(BackgroundWork* background, const ColumnFamily& family)
      : background_(background), view_(family.PinView()) {}
  ~ViewOfCall();
  ViewOfCall(const ViewOfCall&) = delete;
  ViewOfCall& operator=(const ViewOfCall&) = delete;

  const ReadView& operator*() const { return *view_.get(); }
  ReadView* operator->() const { return view_.get(); }

 private:
  BackgroundWork* const background_;
  ViewRef view_;
};

class Reader {
 public:
  Reader(DatabaseState* state, BackgroundWork* background)
      : state_(state), background_(background) {}

  Status Get(const ReadOptions& options, ColumnFamily* family, const Slice& key,
             PinnableSlice* value) const;

  // See DB::GetMergeOperands. *count is set if the result is Ok or Incomplete.
  Status GetMergeOperands(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                          const GetMergeOperandsOptions& wanted, PinnableSlice* operands,
                          int* count) const;

  // Called by the commit leader while it applies a batch. Reads the value of `key` from the entries
  // with at most this sequence, which need not be published.
  Status GetUnpublished(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                        SequenceNumber sequence, PinnableSlice* value) const;

  struct MultiGetRequest {
    std::span<ColumnFamily* const> families;  // one per key
    std::span<const Slice> keys;
    PinnableSlice* values = nullptr;  // one per key
    Status* statuses = nullptr;       // one per key
  };
  // Reads all keys from one state of the database.
  void MultiGet(const ReadOptions& options, const MultiGetRequest& request) const;

  struct ExistsAnswer {
    bool may_exist = true;
    bool decided = false;  // memory alone gave the answer
  };
  // Searches memory only. *value (may be null) is set if decided. It is empty if the key does not
  // exist.
  ExistsAnswer KeyMayExist(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                           PinnableSlice* value) const;

  Status NewIterator(const ReadOptions& options, const std::shared_ptr<ColumnFamily>& family,
                     std::unique_ptr<Iterator>* iterator) const;
  // One iterator per family, all on one state; with ReadOptions::tailing only until the first move.
  Status NewIterators(const ReadOptions& options,
                      std::span<const std::shared_ptr<ColumnFamily>> families,
                      std::vector<std::unique_ptr<Iterator>>* iterators) const;

 private:
  struct Views {
    std::vector<ReadView*> views;  // one per family
    SequenceNumber sequence = 0;
  };
  // Returns load(). Its views and sequence belong to one state, even in a secondary, because no
  // install came between them (primary_follower.h, I7).
  template <typename Load>
  ASHLAR_ALWAYS_INLINE auto TakeInOneState(const Load& load) const;
  // Takes one state for all families: every view, then the sequence. If a view has changed in
  // between, the sequence may belong to a later state of that family, so the views are taken again.
  // The last attempt is under the database mutex, because the views of thousands of families may
  // change faster than they are loaded. Requires: the caller is inside an EpochGuard.
  template <typename FamilyPointer>
  Views TakeViews(const ReadOptions& options, std::span<const FamilyPointer> families) const;
  // Returns false if a view has changed in between. Requires: *taken has a place for each view.
  template <typename FamilyPointer>
  bool LoadViews(const ReadOptions& options, std::span<const FamilyPointer> families,
                 Views* taken) const;
  struct ViewAtSequence {
    ReadView* view = nullptr;
    SequenceNumber sequence = 0;
  };
  // The same for one family. The sequence is the snapshot's (null: the published one).
  ASHLAR_ALWAYS_INLINE ViewAtSequence TakeView(const ColumnFamily& family,
                                               const Snapshot* snapshot) const;
  ASHLAR_ALWAYS_INLINE ViewAtSequence LoadView(const ColumnFamily& family,
                                               const Snapshot* snapshot) const;
  // LoadView for a read of several keys. The view is the current one at the moment of the sequence
  // (read_view.h, I2). With a snapshot of the program any view serves, because everything that the
  // snapshot sees is older than the call.
  ASHLAR_ALWAYS_INLINE ViewAtSequence LoadViewOfMoment(const ColumnFamily& family,
                                                       const Snapshot* snapshot) const;
  void CountMultiGet(const MultiGetRequest& request) const;

  // The roots of guards, on the stacks of their calls: the view of a Get, and the views of a
  // MultiGet, in which equal views may be adjacent.
  struct ViewRoot {
    const Reader* reader;
    ReadView* view;
    static const PinOps kPinOps;
  };
  struct ViewsRoot {
    const Reader* reader;
    std::span<ReadView* const> views;
    static const PinOps kPinOps;
  };
  // Repeats the search of the memtables until no ingestion can have come between the view and the
  // operands, because they are merged onto a value of the same moment (read_view.h, I2).
  ASHLAR_NO_INLINE void SearchAgainIfReplaced(const ReadOptions& options,
                                              const ColumnFamily& family, ViewRoot* root,
                                              Lookup* lookup) const;
  // Inlined, because a further call would cost time in every Get.
  template <typename Observer>
  ASHLAR_ALWAYS_INLINE Lookup Search(const ReadOptions& options, ColumnFamily* family,
                                     const Slice& key, const MergeOperator* merge_operator,
                                     Observer* observer) const;
  // Replaces the views of an iterator.
  class ViewRenewal;
  // Runs when an iterator has released its view.
  static void IteratorIsGone(void* state, void* background);
  std::unique_ptr<Iterator> NewIteratorOnView(const ReadOptions& options,
                                              const std::shared_ptr<ColumnFamily>& family,
                                              ViewRef view, SequenceNumber sequence) const;
  // options: outlives the source.
  IteratorSource MakeSource(const ReadOptions& options, const ColumnFamily& family, ViewRef view,
                            SequenceNumber sequence) const;
  // True for kPersistedTier if the memtables may have writes that are in no log.
  bool SkipsMemTables(const ReadOptions& options) const;
  void SearchMemTables(const ReadView& view, Lookup* lookup) const;
  template <typename Observer>
  Status LookUp(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                PinnableSlice* value, Observer* observer) const;

  DatabaseState* const state_;
  BackgroundWork* const background_;
};

}  // namespace ashlar
