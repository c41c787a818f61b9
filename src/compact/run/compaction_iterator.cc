#include "compact/run/compaction_iterator.h"

#include <algorithm>

#include "base/assert.h"
#include "base/format.h"
#include "key/merge_helper.h"

namespace ashlar {

namespace {
constexpr uint64_t kEntriesBetweenStopChecks = 1024;
}  // namespace

void StreamCounts::Add(const StreamCounts& other) {
  entries_in += other.entries_in;
  entries_out += other.entries_out;
  key_bytes_in += other.key_bytes_in;
  value_bytes_in += other.value_bytes_in;
  deletions_in += other.deletions_in;
  dropped_hidden += other.dropped_hidden;
  dropped_obsolete += other.dropped_obsolete;
  dropped_by_filter += other.dropped_by_filter;
  merged_operands += other.merged_operands;
  single_deletes_unmatched += other.single_deletes_unmatched;
  single_delete_mismatches += other.single_delete_mismatches;
  filter_skipped |= other.filter_skipped;
  skipped_unread |= other.skipped_unread;
}

void CompactionIterator::Start() {
  ASHLAR_ASSERT(!args_.zero_sequences || args_.not_below != nullptr);             // Requires
  ASHLAR_ASSERT(!valid_ && counts_.entries_in == 0);                              // once
  ASHLAR_ASSERT(std::is_sorted(args_.snapshots.begin(), args_.snapshots.end()));  // ascending
  if (args_.begin != nullptr) {
    args_.input->Seek(MakeInternalKey(*args_.begin, kSequenceNumberMax, ValueType::kMax));
  } else {
    args_.input->SeekToFirst();
  }
  FindNext();
}

void CompactionIterator::Next() {
  if (next_operand_ < operands_.size()) {
    ShowNextOperand();
    return;
  }
  if (advance_at_next_) {
    if (StepToValue()) [[likely]] {
      return;
    }
    advance_at_next_ = false;
    Advance();
  }
  FindNext();
}

// --- the input ---

bool CompactionIterator::Look() {
  while (status_.ok()) {
    if (!args_.input->Valid()) {
      Fail(args_.input->status());
      return false;
    }
    const Slice& key = args_.input->key();
    if (key.size() < kTagBytes) {
      Fail(Status::Corruption("an internal key is shorter than its tag"));
      return false;
    }
    const Slice user = ExtractUserKey(key);
    const uint64_t tag = ExtractTag(key);
    const ValueType type = TagType(tag);
    if (!IsPointType(type)) {
      Fail(
          Status::NotSupported(StrCat("compaction of an entry of the type ", ValueTypeName(type))));
      return false;
    }
    ahead_head_ = args_.comparator.Head(user, 0);
    const bool is_next = !has_user_key_ || head_ < ahead_head_;
    const int order =
        is_next ? -1 : (head_ > ahead_head_ ? 1 : args_.comparator.Compare(user_key(), user));
    // A seek into tables that are out of order may find a key before the range.
    const bool is_before_range = !has_user_key_ && args_.begin != nullptr &&
                                 args_.comparator.Compare(user, *args_.begin) < 0;
    if (order > 0 || (order == 0 && CompareTags(tag, last_tag_) < 0) || is_before_range) {
      Fail(Status::Corruption("the entries of a table are not in order; 'ashlar verify' names it"));
      return false;
    }
    if (order < 0 && args_.end != nullptr && args_.comparator.Compare(user, *args_.end) >= 0)
      return false;

    Count(key, args_.input->value());
    if (IsTombstone(type)) ++counts_.deletions_in;
    if (args_.ranges != nullptr && args_.ranges->Covers(user, TagSequence(tag))) {
      ++counts_.dropped_hidden;
      args_.input->Next();
      CheckStop();
      continue;
    }
    if (order != 0 || tag != last_tag_) {
      ahead_ = true;
      ahead_same_key_ = order == 0;
      ahead_tag_ = tag;
      return true;
    }
    // A write that is in two inputs counts once.
    ++counts_.dropped_hidden;
    args_.input->Next();
  }
  return false;
}

void CompactionIterator::Advance() {
  ASHLAR_DCHECK(ahead_);  // Peek has loaded it
  last_tag_ = ahead_tag_;
  ahead_ = false;
  args_.input->Next();
}

inline void CompactionIterator::Count(const Slice& key, const Slice& value) {
  ++counts_.entries_in;
  counts_.key_bytes_in += key.size();
  counts_.value_bytes_in += value.size();
}

inline void CompactionIterator::TakeKey(const Slice& key, uint64_t head) {
  // I1
  ASHLAR_DCHECK(!has_user_key_ || args_.comparator.Compare(user_key(), ExtractUserKey(key)) < 0);
  key_buffer_.Clear();
  CopyShort(key_buffer_.Reserve(key.size()), key.data(), key.size());
  key_buffer_.Extend(key.size());
  head_ = head;
  has_user_key_ = true;
  shown_user_key_ = false;
  covered_ = false;
}

// Does the work of Look, FindNext and Decide for such an entry, and for the next ones if the filter
// drops it. Requires: the input is at a value that is shown, or at the base of one.
inline bool CompactionIterator::StepToValue() {
  const CursorEntry* const next = args_.input->after();
  if (next == nullptr || counts_.entries_in >= next_stop_check_ || args_.ranges != nullptr)
    return false;
  const uint64_t tag = ExtractTag(next->key);
  const uint64_t head = args_.comparator.Head(ExtractUserKey(next->key), 0);
  if (!IsPlainValue(TagType(tag)) || head <= head_ || head >= end_head_) return false;
  args_.input->Next();
  Count(next->key, next->value);
  ahead_same_key_ = false;
  ahead_tag_ = tag;
  ahead_head_ = head;
  TakeKey(next->key, head);
  if (args_.filter != nullptr) [[unlikely]] {
    advance_at_next_ = false;
    if (!Decide()) FindNext();
    return true;
  }
  Cover(ahead_stripe());
  ShowValue(tag, next->value);
  return true;
}

// --- decisions ---

// Checks every kEntriesBetweenStopChecks entries.
void CompactionIterator::CheckStop() {
  if (counts_.entries_in < next_stop_check_) return;
  next_stop_check_ = counts_.entries_in + kEntriesBetweenStopChecks;
  if (args_.turn != nullptr && args_.stop.Check().ok()) args_.turn->YieldToFlush();
  Fail(args_.stop.Check());
}

void CompactionIterator::FindNext() {
  valid_ = false;
  while (Peek()) {
    CheckStop();
    if (!status_.ok()) return;
    if (!ahead_same_key_) TakeKey(args_.input->key(), ahead_head_);
    if (Decide()) return;
  }
}

bool CompactionIterator::Decide() {
  const uint64_t tag = ahead_tag_;
  const size_t stripe = ahead_stripe();
  if (skips_ && IsSkipped(stripe)) [[unlikely]]
    return DecideSkipped(tag);
  if (TagType(tag) == ValueType::kSingleDeletion) {
    Advance();
    return DecideSingleDeletion(tag);
  }
  if (Covered(stripe)) {
    ++counts_.dropped_hidden;
    Advance();
    return false;
  }
  switch (RoleOf(TagType(tag))) {
    case RecordRole::kOperand: return DecideMerge();
    case RecordRole::kTombstone: Advance(); return DecideDeletion(tag);
    case RecordRole::kValue: break;
    case RecordRole::kNone:
    case RecordRole::kRange:
    case RecordRole::kRefused: ASHLAR_ASSERT(false); break;  // Peek refuses them
  }
  Cover(stripe);
  return DecideValue();
}

bool CompactionIterator::DecideValue() {
  using Verdict = EntryFilter::Verdict;
  const uint64_t tag = ahead_tag_;
  const Slice value = ValueAhead();
  Verdict verdict = Verdict::kKeep;
  // The filter applies to newest versions, so not to a base whose operands were kept.
  if (args_.filter != nullptr && IsNewest(ahead_stripe()) && !shown_user_key_) {
    Status asked = args_.filter->Ask(user_key(), CompactionFilter::kValue, value, &verdict);
    if (!asked.ok()) {
      Fail(std::move(asked));
      return false;
    }
    if (verdict == Verdict::kSkip && !BeginSkip()) verdict = Verdict::kKeep;
  }
  switch (verdict) {
    case Verdict::kKeep: ShowValue(tag, value); break;
    case Verdict::kChangeValue:
      value_buffer_.swap(args_.filter->new_value());
      if (!FitsTables(value_buffer_)) {
        Fail(Status::InvalidArgument("the compaction filter made an entry too large for a table"));
        return false;
      }
      ShowValue(tag, value_buffer_);
      break;
    case Verdict::kRemove:
      ++counts_.dropped_by_filter;
      Advance();
      return DecideDeletion(PackTag(TagSequence(tag), ValueType::kDeletion));
    case Verdict::kPurge:
      ++counts_.dropped_by_filter;
      Advance();
      return DecideSingleDeletion(PackTag(TagSequence(tag), ValueType::kSingleDeletion));
    case Verdict::kSkip: return DecideSkipped(tag);
  }
  advance_at_next_ = true;
  return true;
}

bool CompactionIterator::BeginSkip() {
  skip_until_.swap(args_.filter->skip_until());
  skips_ = args_.comparator.Compare(user_key(), skip_until_) < 0;
  return skips_;
}

// Without snapshots all entries of the range are dropped, so the input may seek.
bool CompactionIterator::DecideSkipped(uint64_t tag) {
  ++counts_.dropped_by_filter;
  counts_.filter_skipped = true;
  if (args_.snapshots.empty()) {
    counts_.skipped_unread = true;
    skips_ = false;
    ahead_ = false;
    args_.input->Seek(MakeInternalKey(skip_until_, kSequenceNumberMax, ValueType::kMax));
    return false;
  }
  Advance();
  while (SameKeyAhead() && IsNewest(ahead_stripe())) {
    ++counts_.dropped_by_filter;
    Advance();
  }
  if (!SameKeyAhead()) return false;
  Show(PackTag(TagSequence(tag), ValueType::kDeletion), Slice());
  return true;
}

bool CompactionIterator::DecideDeletion(uint64_t tag) {
  const size_t stripe = StripeOf(TagSequence(tag));
  Cover(stripe);
  if (NothingBelow()) {
    // The versions that the deletion hides in its stripe are dropped anyway. Without the deletion,
    // a version that an older snapshot keeps would become visible.
    while (SameKeyAhead() && ahead_stripe() == stripe) {
      ++counts_.dropped_hidden;
      Advance();
    }
    if (!SameKeyAhead()) {
      ++counts_.dropped_obsolete;
      return false;
    }
  }
  Show(tag, Slice());
  return true;
}

bool CompactionIterator::DecideSingleDeletion(uint64_t tag) {
  const size_t stripe = StripeOf(TagSequence(tag));
  if (!SameKeyAhead()) {
    if (NothingBelow()) {
      ++counts_.dropped_obsolete;
      ++counts_.single_deletes_unmatched;
      return false;
    }
  } else if (ahead_stripe() == stripe) {
    if (!IsValue(ahead_type())) {
      // As a single deletion it might later meet a value that an entry below it should hide.
      ++counts_.single_delete_mismatches;
      return DecideDeletion(PackTag(TagSequence(tag), ValueType::kDeletion));
    }
    ++counts_.dropped_obsolete;
    ++counts_.dropped_hidden;
    Advance();
    // A deletion below the pair may hide values of older runs.
    const bool deletion_ahead = SameKeyAhead() && ahead_stripe() == stripe &&
                                IsTombstone(ahead_type()) &&
                                ahead_type() != ValueType::kSingleDeletion;
    if (!deletion_ahead) Cover(stripe);
    return false;
  }
  Cover(stripe);
  Show(tag, Slice());
  return true;
}

bool CompactionIterator::DecideMerge() {
  const size_t stripe = ahead_stripe();
  const uint64_t tag = ahead_tag_;
  operands_.clear();
  next_operand_ = 0;
  do {
    if (!TakeOperand()) {
      operands_.clear();
      return status_.ok() && DecideSkipped(tag);
    }
    Advance();
  } while (SameKeyAhead() && ahead_stripe() == stripe && IsOperand(ahead_type()));
  if (!status_.ok() || operands_.empty()) {
    operands_.clear();
    return false;
  }

  Cover(stripe);
  switch (MergeOperands()) {
    case MergeOutcome::kMerged:
      operands_.resize(1);
      next_operand_ = 1;
      return true;
    case MergeOutcome::kKept: return ShowOperands();
    case MergeOutcome::kFailed: break;
  }
  operands_.clear();
  return false;
}

bool CompactionIterator::TakeOperand() {
  using Verdict = EntryFilter::Verdict;
  const Slice operand = args_.input->value();
  Verdict verdict = Verdict::kKeep;
  if (args_.filter != nullptr && IsNewest(ahead_stripe())) {
    Fail(args_.filter->Ask(user_key(), CompactionFilter::kMergeOperand, operand, &verdict));
    if (!status_.ok()) return false;
  }
  switch (verdict) {
    case Verdict::kRemove:
    case Verdict::kPurge: ++counts_.dropped_by_filter; return true;
    case Verdict::kChangeValue:
      operands_.push_back({.tag = ahead_tag_, .value = args_.filter->new_value()});
      if (FitsTables(operands_.back().value)) return true;
      Fail(Status::InvalidArgument("the compaction filter made an entry too large for a table"));
      return false;
    case Verdict::kSkip:
      if (BeginSkip()) return false;
      break;
    case Verdict::kKeep: break;
  }
  operands_.push_back({.tag = ahead_tag_, .value = operand.ToString()});
  return true;
}

// Merges the operands into a value, if the version below them is known. Requires: the input is
// after the operands.
CompactionIterator::MergeOutcome CompactionIterator::MergeOperands() {
  if (!SameKeyAhead())
    return status_.ok() && NothingBelow() ? MergeOnto(nullptr) : MergeOutcome::kKept;
  if (!Covered(ahead_stripe())) return MergeOutcome::kKept;
  if (!IsValue(ahead_type())) return MergeOnto(nullptr);
  const Slice base = ValueAhead();
  const MergeOutcome outcome = MergeOnto(&base);
  if (outcome == MergeOutcome::kMerged) advance_at_next_ = true;
  return outcome;
}

CompactionIterator::MergeOutcome CompactionIterator::MergeOnto(const Slice* base) {
  if (args_.merge_operator == nullptr) {
    // Without the operator, everything is kept so that nothing is lost.
    covered_ = false;
    return MergeOutcome::kKept;
  }
  std::vector<Slice> operands;
  for (const Operand& operand : operands_) operands.emplace_back(operand.value);
  MergeResult result;
  MergeOperator::OpFailureScope scope = MergeOperator::OpFailureScope::kDefault;
  const MergeInput input{.merge_operator = args_.merge_operator,
                         .user_key = user_key(),
                         .base = base,
                         .operands_newest_first = operands,
                         .recorder = args_.recorder,
                         .logger = args_.logger};
  Status status = FullMerge(input, &result, &scope);
  if (!status.ok()) {
    if (scope == MergeOperator::OpFailureScope::kMustMerge) {
      covered_ = false;
      return MergeOutcome::kKept;
    }
    Fail(std::move(status));
    return MergeOutcome::kFailed;
  }
  if (!FitsTables(result.value())) {
    covered_ = false;
    return MergeOutcome::kKept;
  }
  counts_.merged_operands += operands_.size();
  value_buffer_ = result.kind == MergeResult::Kind::kComputed ? std::move(result.computed)
                                                              : result.existing.ToString();
  ShowValue(PackTag(TagSequence(operands_.front().tag), ValueType::kValue), value_buffer_);
  return MergeOutcome::kMerged;
}

bool CompactionIterator::ShowOperands() {
  if (args_.merge_operator != nullptr &&
      (operands_.size() > 1 || args_.merge_operator->AllowSingleOperand())) {
    std::vector<Slice> operands;
    for (const Operand& operand : operands_) operands.emplace_back(operand.value);
    const MergeInput input{.merge_operator = args_.merge_operator,
                           .user_key = user_key(),
                           .base = nullptr,
                           .operands_newest_first = operands,
                           .logger = args_.logger};
    std::string merged;
    if (PartialMerge(input, &merged) && FitsTables(merged)) {
      counts_.merged_operands += operands_.size() - 1;
      operands_.resize(1);
      operands_.front().value = std::move(merged);
    }
  }
  next_operand_ = 0;
  ShowNextOperand();
  return true;
}

void CompactionIterator::ShowNextOperand() {
  ASHLAR_DCHECK(next_operand_ < operands_.size());  // an operand waits
  const Operand& operand = operands_[next_operand_++];
  Show(operand.tag, operand.value);
}

void CompactionIterator::ShowValue(uint64_t tag, const Slice& value) {
  const bool zero = args_.zero_sequences && StripeOf(TagSequence(tag)) == 0;
  Show(zero ? PackTag(0, ValueType::kValue) : tag, value);
}

void CompactionIterator::Show(uint64_t tag, const Slice& value) {
  ASHLAR_DCHECK(!shown_user_key_ || CompareTags(ExtractTag(key_), tag) < 0);  // I1
  ASHLAR_DCHECK(IsPointType(TagType(tag)));  // Look refuses the rest
  // A zeroed sequence is in the first stripe, as it was before.
  is_for_snapshots_ =
      shown_user_key_ && StripeOf(TagSequence(ExtractTag(key_))) != StripeOf(TagSequence(tag));
  EncodeFixed64(key_buffer_.data() + key_buffer_.size() - kTagBytes, tag);
  key_ = key_buffer_.From(0);
  value_ = value;
  first_of_user_key_ = !shown_user_key_;
  shown_user_key_ = true;
  valid_ = true;
  ++counts_.entries_out;
}

}  // namespace ashlar
