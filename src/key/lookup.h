// Lookup: one point lookup on its way through memtables and tables, newest first. Each source
// offers the versions of the key that it has. The lookup decides whether older ones are needed. At
// the end it returns the value without copying it.
//
//   kSearching ──value──────────> kFound
//       │     ───deletion───────> kDeleted
//       └─merge operand─> kMerging ──value─────> kFound (base = value)
//                            │     ──deletion──> kFound (no base)
//                            └─merge operand─> kMerging
//   kSearching, kMerging ──range tombstone of a source──> kDeleted, kFound (no base)
//   any state ──unsupported type, or an error of a source──> kFailed
//
// Covering sequence: the newest sequence of a range tombstone that covers the key. A version below
// it counts as a deletion. A source raises it before it offers versions. All versions in older
// sources are below it, so these sources are not searched.
//
// I1: versions are offered in descending sequence order, each with sequence <= snapshot().
// I2: after Offer returned false, no further version is offered.
// I3: the covering sequence is <= snapshot(), and only grows.
// Lifetime: user_key outlives the lookup. Offered bytes are pinned before Offer returns.
// Thread safety: one thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"
#include "base/assert.h"
#include "base/pin.h"
#include "key/internal_key.h"
#include "key/key_prefix.h"
#include "observe/recorder.h"

namespace ashlar {

class Lookup {
 public:
  enum class State : uint8_t { kSearching, kMerging, kFound, kDeleted, kFailed };

  struct Args {
    Slice user_key;
    SequenceNumber snapshot = kSequenceNumberMax;
    const MergeOperator* merge_operator = nullptr;
  };

  explicit Lookup(const Args& args) : args_(args) {}

  const Slice& user_key() const { return args_.user_key; }
  SequenceNumber snapshot() const { return args_.snapshot; }
  uint64_t seek_tag() const { return SeekTag(args_.snapshot); }
  // Whether a version with this tag is visible at the snapshot.
  bool Sees(uint64_t tag) const { return tag <= seek_tag(); }
  // The hash for filters, computed by the first call.
  uint64_t filter_hash();
  // The key's prefix by a transform, with its hash. Returns null if the key has no prefix.
  // Requires: the transform outlives the lookup.
  const HashedPrefix* prefix(const SliceTransform* transform) {
    return prefix_.Find(transform, args_.user_key);
  }

  // Takes one version. Returns true if the source must offer the next older one.
  bool Offer(ValueType type, SequenceNumber sequence, const Slice& value, const PinSource& owner) {
    if (sequence < covering_sequence_) [[unlikely]] {
      type = ValueType::kDeletion;
    }
    if (IsPlainValue(type) && state_ == State::kSearching) [[likely]] {
      TakeValue(value, owner);
      return false;
    }
    return OfferRare(type, value, owner);
  }
  // Restarts the lookup at another snapshot.
  void Restart(SequenceNumber snapshot) {
    args_.snapshot = snapshot;
    state_ = State::kSearching;
    has_base_ = false;
    covering_sequence_ = 0;
    pin_.Release();
    operands_.clear();
    operand_pins_.clear();
  }
  // If set, most of the next sources lack the key, so a table checks its filter before it searches
  // its index. Otherwise it does both at once, so that their cache misses overlap.
  void ExpectAbsence(bool expected) { expects_absence_ = expected; }
  bool expects_absence() const { return expects_absence_; }
  // Ignores range tombstones from now on: ReadOptions::ignore_range_deletions.
  void IgnoreRanges() { ignores_ranges_ = true; }
  // Called by a source, before it offers versions, for a range tombstone that covers the key.
  // Requires: sequence <= snapshot().
  void RaiseCoveringSequence(SequenceNumber sequence) {
    ASHLAR_ASSERT(sequence <= args_.snapshot);  // I3
    if (sequence > covering_sequence_ && !ignores_ranges_) covering_sequence_ = sequence;
  }
  // Called after the source that raised the covering sequence has offered its versions.
  void EndIfCovered() {
    if (covering_sequence_ == 0 || Done()) return;
    state_ = state_ == State::kMerging ? State::kFound : State::kDeleted;
  }
  // Ends the lookup with an error of a source.
  void Fail(Status status) {
    state_ = State::kFailed;
    status_ = std::move(status);
  }

  State state() const { return state_; }
  // Whether Finish may run the merge operator, which is code of the program.
  bool HasOperands() const { return !operands_.empty(); }
  size_t operand_count() const { return operands_.size(); }
  // Whether no further source is needed.
  bool Done() const { return state_ != State::kSearching && state_ != State::kMerging; }

  // Returns the result: Ok with *value set, NotFound, or an error. Pins existing bytes, moves
  // computed ones and records merges. Needs no guard, because the bytes that it reads are pinned.
  // Requires: every source was searched or Done(), and *value is reset.
  // logger: for the merge operator; null: none.
  Status Finish(const Recorder& recorder, Logger* logger, PinnableSlice* value);
  Status Finish(PinnableSlice* value) { return Finish(Recorder(), nullptr, value); }

  // The result as operands: Ok, NotFound, or an error. Pins the value below the operands, if there
  // is one, and then the operands, oldest first. *count is the number of these results. If it
  // exceeds results.size(), the status is Ok and none is pinned. Requires: the results are reset.
  Status FinishOperands(std::span<PinnableSlice> results, size_t* count);

 private:
  // Takes the bytes of the value that ends the search.
  void TakeValue(const Slice& value, const PinSource& owner) {
    state_ = State::kFound;
    value_ = value;
    pin_ = owner.Acquire();
  }
  bool OfferRare(ValueType type, const Slice& value, const PinSource& owner);
  bool OfferOperand(const Slice& value, const PinSource& owner);
  Status FinishMerge(const Recorder& recorder, Logger* logger, PinnableSlice* value);

  Args args_;
  State state_ = State::kSearching;
  bool has_base_ = false;  // kFound with operands: value_ is the value below them
  bool ignores_ranges_ = false;
  bool expects_absence_ = false;
  SequenceNumber covering_sequence_ = 0;  // 0: none
  Slice value_;
  Pin pin_;
  std::vector<Slice> operands_;  // newest first
  std::vector<Pin> operand_pins_;
  std::optional<uint64_t> filter_hash_;
  PrefixMemo prefix_;
  Status status_;
};

}  // namespace ashlar
