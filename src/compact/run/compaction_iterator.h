// CompactionIterator: decides which entries of a flush or compaction stay. Input and output are in
// internal key order.
//
// Snapshots cut the sequence numbers into stripes. The newest entry of a user key in a stripe
// covers the older ones, which are dropped.
//
//   snapshots      20            35
//   stripe    ..0..| .....1..... |....2....     a user key with versions 40 37 31 22 12:
//   sequence  0    20            35      now    40 covers 37, 31 covers 22, 12 stays
//
//   value            stays
//   deletion         stays, unless no older version can exist
//   single deletion  is dropped with a value that follows in its stripe, or if there is no older
//                    version; otherwise stays, even if covered (README.md: broken contracts)
//   merge operands   of a stripe become a value if the base is known, else one operand if possible
//   any other type   ends the iteration with NotSupported
//
// Entries covered by a range tombstone of their stripe are dropped first (compaction_ranges.h).
// Values on the last level older than every snapshot get sequence 0. Filters: README.md.
//
// I1: input and output ascend strictly; input that does not is Corruption.
// I2: at every snapshot, and without a filter at the newest sequence, keys read as before.
// Requires: every sequence of the input was published before the list of snapshots was made.
// Lifetime: borrows its args; key() and value() are valid until Next. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"
#include "base/byte_buffer.h"
#include "compact/run/compaction_ranges.h"
#include "compact/run/entry_filter.h"
#include "compact/run/key_not_below.h"
#include "compact/run/snapshot_stripe.h"
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
  uint64_t dropped_obsolete = 0;  // deletions that no older version needs
  uint64_t dropped_by_filter = 0;
  uint64_t merged_operands = 0;
  uint64_t single_deletes_unmatched = 0;  // dropped without a value that they delete
  uint64_t single_delete_mismatches = 0;
  // The filter skipped entries, maybe deletions, so older versions elsewhere may be visible again.
  bool filter_skipped = false;
  bool skipped_unread = false;  // skipped entries are not in entries_in

  void Add(const StreamCounts& other);
};

struct CompactionIteratorArgs {
  InternalCursor* input = nullptr;
  KeyComparator comparator{nullptr};
  std::span<const SequenceNumber> snapshots;      // ascending
  const MergeOperator* merge_operator = nullptr;  // null: operands are kept as they are
  // Null: every key may have older versions.
  KeyNotBelow* not_below = nullptr;
  CompactionRanges* ranges = nullptr;  // null: the input has no range tombstones
  EntryFilter* filter = nullptr;       // null: the program has none
  bool zero_sequences = false;         // output is the last level for its keys; requires not_below
  // Operands stay as they are if their result and the key would be too large for a table.
  size_t entry_bytes_max = kEntryBytesMax;
  StopFlags stop;
  CompactionTurn* turn = nullptr;  // yields to flushes between entries; null: never yields
  Recorder recorder = {};
  Logger* logger = nullptr;  // for the merge operator; null: none
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

  // Moves to the first entry that stays. Call once, before the other methods.
  void Start();
  bool Valid() const { return valid_; }
  void Next();
  const Slice& key() const { return key_; }  // internal key
  const Slice& value() const { return value_; }
  // True if no entry with this user key was shown before. An output file may begin here.
  bool first_of_user_key() const { return first_of_user_key_; }
  // True if only snapshots need the entry, because a newer version that they do not see was shown.
  bool is_for_snapshots() const { return is_for_snapshots_; }
  // Why the stream ended: Ok at the end of the input.
  const Status& status() const { return status_; }
  const StreamCounts& counts() const { return counts_; }

 private:
  struct Operand {
    uint64_t tag;
    std::string value;
  };
  enum class MergeOutcome : uint8_t { kMerged, kKept, kFailed };

  // --- the input: Peek loads the entry, Advance leaves it ---

  // Returns false if no usable entry within the bounds is left.
  bool Peek() { return ahead_ || Look(); }
  bool Look();
  void Advance();
  // Steps from a value to the value of the next key, if that is the next decoded entry. Otherwise
  // returns false and changes nothing.
  bool StepToValue();
  void Count(const Slice& key, const Slice& value);
  // Begins a new user key.
  void TakeKey(const Slice& key, uint64_t head);
  // Returns true if the input is at a further version of the current user key.
  bool SameKeyAhead() { return Peek() && ahead_same_key_; }
  ValueType ahead_type() const { return TagType(ahead_tag_); }
  // The value of the entry ahead, whose type is a value.
  Slice ValueAhead() const { return args_.input->value(); }
  size_t ahead_stripe() const { return StripeOf(TagSequence(ahead_tag_)); }

  // --- decisions: true when an entry is shown. Each moves the input past the entries it used ---

  void FindNext();
  bool Decide();
  bool DecideValue();                       // a value without a newer entry in its stripe
  bool DecideDeletion(uint64_t tag);        // the input is past the deletion
  bool DecideSingleDeletion(uint64_t tag);  // the input is past the deletion
  bool DecideMerge();
  // Returns false if the filter skips the key or fails.
  bool TakeOperand();
  MergeOutcome MergeOperands();
  MergeOutcome MergeOnto(const Slice* base);
  bool ShowOperands();
  bool FitsTables(const Slice& value) const {
    return EntryFits(user_key().size(), value.size(), args_.entry_bytes_max);
  }
  // Begins to skip at the current key. Returns true if there is something to skip.
  bool BeginSkip();
  bool IsSkipped(size_t stripe) const {
    return skips_ && IsNewest(stripe) && args_.comparator.Compare(user_key(), skip_until_) < 0;
  }
  bool DecideSkipped(uint64_t tag);  // tag: of the key's newest version; the input is at a version
  void ShowNextOperand();
  void ShowValue(uint64_t tag, const Slice& value);
  void Show(uint64_t tag, const Slice& value);

  size_t StripeOf(SequenceNumber sequence) const {
    return ashlar::StripeOf(args_.snapshots, sequence);
  }
  // Whether no snapshot sees the stripe.
  bool IsNewest(size_t stripe) const { return stripe == args_.snapshots.size(); }
  void CheckStop();
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
  const uint64_t end_head_;  // of args_.end: keys with a smaller head are before it

  // The entry at the input, once Peek has looked at it.
  bool ahead_ = false;
  bool ahead_same_key_ = false;
  uint64_t ahead_tag_ = 0;
  uint64_t ahead_head_ = 0;  // KeyComparator::Head of its user key

  // The current user key.
  bool has_user_key_ = false;
  bool shown_user_key_ = false;
  uint64_t head_ = 0;  // of the user key
  bool covered_ = false;
  size_t covered_stripe_ = 0;
  uint64_t last_tag_ = 0;  // of the version that the input left last

  std::vector<Operand> operands_;  // newest first
  size_t next_operand_ = 0;        // those from next_operand_ on are still to be shown as they are

  bool skips_ = false;      // the filter skips keys before skip_until_
  std::string skip_until_;  // a user key

  // The shown entry.
  bool valid_ = false;
  bool first_of_user_key_ = false;
  bool is_for_snapshots_ = false;
  bool advance_at_next_ = false;  // the input's entry was used, but value_ may point into it
  Slice key_;
  Slice value_;
  ByteBuffer key_buffer_;  // current user key, then the tag that is shown
  std::string value_buffer_;

  Status status_;
  StreamCounts counts_;
  uint64_t next_stop_check_ = 0;  // in entries_in
};

}  // namespace ashlar
