// Internal entries written as text, and a cursor over them, for the tests of flush and
// compaction.
//
//   "a@9 put x, a@7 del, b@5 merge y, c@4 single"        user key @ sequence, type, value
#pragma once

#include <algorithm>
#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "base/assert.h"
#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

struct TextEntry {
  std::string user_key;
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kValue;
  std::string value;

  std::string InternalKey() const { return MakeInternalKey(user_key, sequence, type); }
};

inline std::vector<TextEntry> ParseEntries(const std::string& text) {
  std::vector<TextEntry> entries;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ',')) {
    std::istringstream words(part);
    std::string key;
    std::string type;
    TextEntry entry;
    words >> key >> type >> entry.value;
    const size_t at = key.find('@');
    entry.user_key = key.substr(0, at);
    entry.sequence = std::stoull(key.substr(at + 1));
    entry.type = type == "put"      ? ValueType::kValue
                 : type == "del"    ? ValueType::kDeletion
                 : type == "merge"  ? ValueType::kMerge
                 : type == "single" ? ValueType::kSingleDeletion
                                    : ValueType::kRangeDeletion;
    entries.push_back(std::move(entry));
  }
  return entries;
}

inline std::string PrintEntry(const Slice& internal_key, const Slice& value) {
  const ValueType type = ExtractType(internal_key);
  std::string text = ExtractUserKey(internal_key).ToString() + "@" +
                     std::to_string(TagSequence(ExtractTag(internal_key)));
  text += type == ValueType::kValue      ? " put"
          : type == ValueType::kDeletion ? " del"
          : type == ValueType::kMerge    ? " merge"
                                         : " single";
  if (!value.empty()) text += " " + value.ToString();
  return text;
}

// Shows entries in the given order. After `fail_at` entries it ends with an I/O error.
class EntryCursor final : public InternalCursor {
 public:
  EntryCursor(const KeyComparator& comparator, std::vector<TextEntry> entries)
      : comparator_(comparator) {
    for (TextEntry& entry : entries)
      entries_.emplace_back(entry.InternalKey(), std::move(entry.value));
  }
  void FailAt(size_t entries) { fail_at_ = entries; }
  // Sets how many entries are shown at once.
  void SetBatch(size_t entries) { batch_ = entries; }
  // Every seek shows this entry, as a seek in a table that is out of order may do.
  void MisleadSeeksTo(size_t entry) { misled_to_ = entry; }

  void SeekToFirst() override { Show(0); }
  void SeekToLast() override { Show(entries_.empty() ? 0 : entries_.size() - 1); }
  void Seek(const Slice& target) override {
    if (misled_to_ != SIZE_MAX) {
      Show(misled_to_);
      return;
    }
    size_t at = 0;
    while (at < entries_.size() && comparator_.CompareInternal(entries_[at].first, target) < 0)
      ++at;
    Show(at);
  }
  void SeekForPrev(const Slice&) override { ASHLAR_ASSERT(false); }
  Status status() const override {
    return at_ >= fail_at_ ? Status::IOError("injected") : Status::OK();
  }
  PinSource OwnerOf(const CursorEntry&) const override { return {}; }

 private:
  void MoveNext() override { Show(at_ + shown_.size()); }
  void MovePrev() override { ASHLAR_ASSERT(false); }
  void Show(size_t at) {
    // Overwrites the bytes shown before, whose validity ends here.
    for (auto& [key, value] : shown_bytes_) {
      std::fill(key.begin(), key.end(), '!');
      std::fill(value.begin(), value.end(), '!');
    }
    at_ = at;
    Hide();
    const size_t end = std::min({entries_.size(), fail_at_, at + batch_});
    if (at >= end) return;
    shown_bytes_.assign(entries_.begin() + static_cast<std::ptrdiff_t>(at),
                        entries_.begin() + static_cast<std::ptrdiff_t>(end));
    shown_.clear();
    for (const auto& [key, value] : shown_bytes_) shown_.push_back({key, value});
    ShowBatch(shown_.data(), shown_.data(), shown_.data() + shown_.size());
  }

  const KeyComparator comparator_;
  std::vector<std::pair<std::string, std::string>> entries_;
  std::vector<std::pair<std::string, std::string>> shown_bytes_;
  std::vector<CursorEntry> shown_;
  size_t batch_ = 1;
  size_t at_ = 0;  // the first entry shown
  size_t fail_at_ = SIZE_MAX;
  size_t misled_to_ = SIZE_MAX;
};

// Joins operands and base with '+'. A base or operand "bad" makes the merge fail; "must" makes it
// fail for reads only.
class JoinOperator final : public MergeOperator {
 public:
  explicit JoinOperator(bool partial) : partial_(partial) {}
  const char* Name() const override { return "Join"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<Slice> parts;
    if (in.existing_value != nullptr) parts.push_back(*in.existing_value);
    parts.insert(parts.end(), in.operand_list.begin(), in.operand_list.end());
    for (const Slice& part : parts) {
      if (part == Slice("must")) out->op_failure_scope = OpFailureScope::kMustMerge;
      if (part == Slice("must") || part == Slice("bad")) return false;
      if (part.data() != parts.front().data()) out->new_value += '+';
      out->new_value += part.ToString();
    }
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* out,
                         Logger*) const override {
    if (!partial_) return false;
    for (const Slice& operand : operands) {
      if (operand == Slice("bad") || operand == Slice("must")) return false;
      if (!out->empty()) *out += '+';
      *out += operand.ToString();
    }
    return true;
  }

 private:
  const bool partial_;
};

}  // namespace ashlar
