// VectorCursor: an InternalCursor over entries in memory, for tests. It can fail at a chosen entry, scribbles over bytes whose validity has ended,
// and counts the pins taken of its values.
#pragma once

#include <string>
#include <vector>

#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

struct TestEntry {
  std::string user_key;
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kValue;
  std::string value;
};

class VectorCursor final : public InternalCursor {
 public:
  // Sorts the entries.
  VectorCursor(const KeyComparator& comparator, std::vector<TestEntry> entries);
  ~VectorCursor() override;

  // Reaching the entry with this user key fails with `status`, until the next seek that does not reach it.
  void FailAt(std::string user_key, Status status);
  // How many pins of values are held.
  size_t pins() const;
  // Moves made so far, of each kind.
  size_t seeks() const { return seeks_; }
  size_t steps() const { return steps_; }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  void Next() override;
  void Prev() override;
  Status status() const override { return status_; }
  PinSource value_owner() const override;

 private:
  struct Entry;
  void Show(size_t position);
  void Hide();

  const KeyComparator comparator_;
  std::vector<Entry*> entries_;
  size_t position_;
  std::string shown_key_;
  std::string fail_at_;
  Status fail_with_;
  Status status_;
  size_t seeks_ = 0;
  size_t steps_ = 0;
};

}  // namespace ashlar
