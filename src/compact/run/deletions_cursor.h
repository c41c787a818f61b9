// DeletionsCursor: deletions of single keys in memory, as an input of a compaction.
//
// Lifetime: owns its keys. Thread safety: one thread.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

class DeletionsCursor final : public InternalCursor {
 public:
  // keys: internal keys of deletions, in any order.
  DeletionsCursor(const KeyComparator& comparator, std::vector<std::string> keys)
      : comparator_(comparator), keys_(std::move(keys)) {
    std::sort(keys_.begin(), keys_.end(), [this](const std::string& a, const std::string& b) {
      return comparator_.CompareInternal(a, b) < 0;
    });
    for (const std::string& key : keys_) entries_.push_back({.key = key, .value = Slice()});
  }

  void SeekToFirst() override { Show(0); }
  void SeekToLast() override { entries_.empty() ? Hide() : Show(entries_.size() - 1); }
  void Seek(const Slice& target) override { Show(CountBefore(target)); }
  void SeekForPrev(const Slice& target) override {
    size_t at = CountBefore(target);
    if (at == entries_.size() || comparator_.CompareInternal(entries_[at].key, target) > 0) {
      if (at == 0) return Hide();
      --at;
    }
    Show(at);
  }
  Status status() const override { return Status::OK(); }
  PinSource OwnerOf(const CursorEntry&) const override { return {}; }

 private:
  // The batch has all entries, so a step out of it reaches an end.
  void MoveNext() override { Hide(); }
  void MovePrev() override { Hide(); }

  size_t CountBefore(const Slice& target) const {
    const auto found =
        std::partition_point(entries_.begin(), entries_.end(), [&](const CursorEntry& entry) {
          return comparator_.CompareInternal(entry.key, target) < 0;
        });
    return static_cast<size_t>(found - entries_.begin());
  }
  void Show(size_t at) {
    if (at == entries_.size()) return Hide();
    ShowBatch(entries_.data(), entries_.data() + at, entries_.data() + entries_.size());
  }

  const KeyComparator comparator_;
  std::vector<std::string> keys_;
  std::vector<CursorEntry> entries_;
};

}  // namespace ashlar
