// Lookup: one point lookup on its way through memtables and tables, newest first. Each source
// offers the versions of the key that it holds; the lookup decides whether older ones are still
// needed, and at the end hands the value out without copying it.
//
//   kSearching --value--> kFound        kSearching --deletion--> kDeleted        kSearching/kMerging --merge operand--> kMerging
//   kMerging --value--> kFound (base = value)       kMerging --deletion--> kFound (no base)       any --unsupported type--> kFailed
//
// I1: versions are offered in descending sequence order, each with sequence <= snapshot().
// I2: after Offer returned false no further version is offered.
// Lifetime: user_key must outlive the lookup; offered bytes are pinned by the lookup before Offer
// returns. Thread safety: one thread.
#pragma once

#include <optional>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"
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
    bool want_value = true;  // false: only existence; nothing is pinned
  };

  explicit Lookup(const Args& args) : args_(args) {}

  const Slice& user_key() const { return args_.user_key; }
  SequenceNumber snapshot() const { return args_.snapshot; }
  uint64_t seek_tag() const { return SeekTag(args_.snapshot); }
  // The hash that filters use, computed at the first call.
  uint64_t filter_hash();
  // The key's prefix under a transform, with its hash; null: it has none. The transform outlives
  // the lookup.
  const HashedPrefix* prefix(const SliceTransform* transform) {
    return prefix_.Find(transform, args_.user_key);
  }

  // Takes one version. True: offer the next older one.
  bool Offer(ValueType type, SequenceNumber sequence, const Slice& value, const PinSource& owner) {
    if (type == ValueType::kValue && state_ == State::kSearching) [[likely]] {
      state_ = State::kFound;
      sequence_ = sequence;
      if (args_.want_value) {
        value_ = value;
        pin_ = owner.Acquire();
      }
      return false;
    }
    return OfferRare(type, sequence, value, owner);
  }
  // Ends the lookup with an error of a source.
  void Fail(Status status) {
    state_ = State::kFailed;
    status_ = std::move(status);
  }

  State state() const { return state_; }
  // Finish will run the merge operator, which is code of the program.
  bool HasOperands() const { return !operands_.empty(); }
  // No source needs to be asked any more.
  bool Done() const { return state_ != State::kSearching && state_ != State::kMerging; }
  // Sequence of the newest version met; meaningful unless kSearching.
  SequenceNumber sequence() const { return sequence_; }

  // The outcome once every source was asked or Done(): Ok with *value set (pinned where the bytes
  // exist already, moved where a merge computed them), NotFound, or an error. value may be null
  // (existence only). *value must be reset. Merges are recorded. Needs no guard: what it reads is
  // pinned.
  Status Finish(const Recorder& recorder, PinnableSlice* value);
  Status Finish(PinnableSlice* value) { return Finish(Recorder(), value); }

 private:
  bool OfferRare(ValueType type, SequenceNumber sequence, const Slice& value,
                 const PinSource& owner);
  bool OfferOperand(const Slice& value, const PinSource& owner);
  Status FinishMerge(const Recorder& recorder, PinnableSlice* value);

  const Args args_;
  State state_ = State::kSearching;
  bool has_base_ = false;  // kFound with operands: value_ is the value below them
  SequenceNumber sequence_ = 0;
  Slice value_;
  Pin pin_;
  std::vector<Slice> operands_;  // newest first
  std::vector<Pin> operand_pins_;
  std::optional<uint64_t> filter_hash_;
  PrefixMemo prefix_;
  Status status_;
};

}  // namespace ashlar
