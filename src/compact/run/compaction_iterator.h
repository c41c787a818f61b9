// CompactionIterator: the decision what becomes of every entry that a flush or a compaction reads.
// Entries come in in internal key order; what has to stay comes out in the same order.
//
// Snapshots cut the sequence numbers into stripes; entries of one user key within one stripe look
// the same to everyone but the newest of them:
//
//   snapshots      20            35
//   stripe    ..0..| .....1..... |....2....            a user key with versions 40 37 31 22 12: 40 hides 37, 31 hides 22, 12 stays
//   sequence  0    20            35      now
//
//   entry           what becomes of it                                                   (older versions of its stripe are "covered" and go)
//   value           stays; covers
//   deletion        goes if no older version can be left anywhere it hides; else stays; covers
//   single deletion with a value next below it in its stripe both go; covers
//                   with nothing below it, here or deeper: goes with anything else next below in
//                   its stripe, which its contract forbids: becomes a deletion otherwise it stays,
//                   even when covered: a later single deletion may take the entry that covers it
//   merge           collects the operands of its stripe down to a value, a deletion or the key's
//                   end; becomes a value where the base is known, else one merged operand, else the
//                   operands as they are
//   any other type  ends the stream with NotSupported
//
// On the last level values older than every snapshot get sequence 0: nothing is left to compare
// them with, and equal tags compress well.
//
// The place of what is to come: a compaction filter is asked where a value that is the newest of
// its key and younger than no snapshot is about to stay (ShowValue); range tombstones cover entries
// in Covered(), and are themselves handed to the output at its cuts.
//
// I1: input and output ascend strictly; input that does not is Corruption.
// I2: at every snapshot of the list, and at the newest sequence, each user key reads the same
//     before and after, merges included.
// Precondition: every input sequence was published when the list of snapshots was made; a snapshot
// taken later then sees the newest version of every key, which always stays readable. Lifetime:
// borrows everything in its args. key() and value() are valid until Next. Thread safety: one
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"
#include "base/byte_buffer.h"
#include "compact/run/key_not_below.h"
#include "compact/run/stop_flags.h"
#include "execute/flush_priority_throttle.h"
#include "key/cursor.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "observe/recorder.h"

namespace ashlar {

struct StreamCounts {
  uint64_t entries_in = 0;
  uint64_t entries_out = 0;
  uint64_t key_bytes_in = 0;
  uint64_t value_bytes_in = 0;
  uint64_t deletions_in = 0;
  uint64_t dropped_hidden = 0;    // covered by a newer version
  uint64_t dropped_obsolete = 0;  // deletions with nothing left to hide
  uint64_t merged_operands = 0;
  uint64_t single_delete_mismatches = 0;

  void Add(const StreamCounts& other);
};

struct CompactionIteratorArgs {
  InternalCursor* input = nullptr;
  KeyComparator comparator{nullptr};
  std::span<const SequenceNumber> snapshots;      // ascending
  const MergeOperator* merge_operator = nullptr;  // null: operands are kept as they are
  // Whether older versions of a key may lie below the output; null: they may.
  KeyNotBelow* not_below = nullptr;
  bool zero_sequences = false;  // the output is the last level for its keys; with not_below
  // Operands whose result would be larger, together with the key, are kept as they are: no table
  // could hold it.
  size_t entry_bytes_max = kEntryBytesMax;
  StopFlags stop;
  CompactionTurn* turn = nullptr;  // gives way every so many entries; null: to nobody
  Recorder recorder = {};
  // User keys [begin, end); null: unbounded.
  const Slice* begin = nullptr;
  const Slice* end = nullptr;
};

class CompactionIterator {
 public:
  explicit CompactionIterator(const CompactionIteratorArgs& args)
      : args_(args),
        end_head_(args.end != nullptr ? args.comparator.Head(*args.end, 0) : ~uint64_t{0}) {}
  CompactionIterator(const CompactionIterator&) = delete;
  CompactionIterator& operator=(const CompactionIterator&) = delete;

  // Moves to the first entry that stays. Once, before the rest.
  void Start();
  bool Valid() const { return valid_; }
  void Next();
  const Slice& key() const { return key_; }  // internal key
  const Slice& value() const { return value_; }
  // Whether no entry with this user key was shown before: where an output file may begin.
  bool first_of_user_key() const { return first_of_user_key_; }
  // Why the stream ended: Ok at the end of the input.
  const Status& status() const { return status_; }
  const StreamCounts& counts() const { return counts_; }

 private:
  struct Operand {
    uint64_t tag;
    std::string value;
  };
  enum class MergeOutcome : uint8_t { kMerged, kKept, kFailed };

  // --- the input: Peek makes the entry under it known, Advance leaves that entry ---

  // False: there is none left, within the bounds and usable.
  bool Peek() { return ahead_ || Look(); }
  bool Look();
  void Advance();
  // From a value to the value of another key that lies decoded beside it. False: that is not the
  // case, and nothing has changed.
  bool StepToValue();
  void Count(const Slice& key, const Slice& value);
  // The current user key becomes another.
  void TakeKey(const Slice& key, uint64_t head);
  // Whether the input stands on a further version of the current user key.
  bool SameKeyAhead() { return Peek() && ahead_same_key_; }
  ValueType ahead_type() const { return TagType(ahead_tag_); }
  size_t ahead_stripe() const { return StripeOf(TagSequence(ahead_tag_)); }

  // --- decisions: true when an entry is shown. Each leaves behind it the entries that it has used
  // ---

  void FindNext();
  bool Decide();
  bool DecideDeletion(uint64_t tag);  // the input has left the deletion
  bool DecideSingleDeletion();
  bool DecideMerge();
  MergeOutcome MergeOperands();
  MergeOutcome MergeOnto(const Slice* base);
  bool ShowOperands();
  bool FitsTables(const Slice& value) const {
    return EntryFits(user_key().size(), value.size(), args_.entry_bytes_max);
  }
  void ShowNextOperand();
  void ShowValue(uint64_t tag, const Slice& value);
  void Show(uint64_t tag, const Slice& value);

  size_t StripeOf(SequenceNumber sequence) const;
  bool Covered(size_t stripe) const { return covered_ && stripe == covered_stripe_; }
  void Cover(size_t stripe) {
    covered_ = true;
    covered_stripe_ = stripe;
  }
  Slice user_key() const { return ExtractUserKey(key_buffer_.From(0)); }
  bool NothingBelow() { return args_.not_below != nullptr && args_.not_below->Check(user_key()); }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const CompactionIteratorArgs args_;
  const uint64_t end_head_;  // of args_.end: keys with a smaller head lie before it

  // The entry under the input, once Peek has looked at it.
  bool ahead_ = false;
  bool ahead_same_key_ = false;
  uint64_t ahead_tag_ = 0;
  uint64_t ahead_head_ = 0;  // KeyComparator::Head of its user key

  // The user key being decided about.
  bool has_user_key_ = false;
  bool shown_user_key_ = false;
  uint64_t head_ = 0;  // of the user key
  bool covered_ = false;
  size_t covered_stripe_ = 0;
  uint64_t last_tag_ = 0;  // of the version left last

  std::vector<Operand> operands_;  // newest first
  size_t next_operand_ = 0;        // operands_[next_operand_ ..] wait to be shown as they are

  // What is shown.
  bool valid_ = false;
  bool first_of_user_key_ = false;
  bool advance_at_next_ = false;  // the input's entry is used up, but value_ may lie in it
  Slice key_;
  Slice value_;
  ByteBuffer key_buffer_;  // current user key, then the tag that is shown
  std::string value_buffer_;

  Status status_;
  StreamCounts counts_;
  uint64_t next_stop_check_ = 0;  // in entries_in
};

}  // namespace ashlar
