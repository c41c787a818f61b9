// VectorCursor: an InternalCursor over entries in memory, for tests. It can fail at a chosen entry,
// scribbles over bytes whose validity has ended, and counts the pins taken of its values.
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

  // Reaching the entry with this user key fails with `status`, until the next seek that does not
  // reach it.
  void FailAt(std::string user_key, Status status);
  // How many entries a step shows at once; a seek shows one.
  void SetBatch(size_t entries) { batch_ = entries; }
  // How many pins of values are held.
  size_t pins() const;
  // Moves made so far, of each kind; not those inside a batch.
  size_t seeks() const { return seeks_; }
  size_t steps() const { return steps_; }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override;

 private:
  struct Entry;
  void MoveNext() override;
  void MovePrev() override;
  // Leaves the shown batch. Shows the entries from `first` to `last` that can be shown, and
  // `position` in any case, and is at `position`.
  void Show(size_t first, size_t position, size_t last);
  bool Fails(size_t position) const;
  void Leave();

  const KeyComparator comparator_;
  std::vector<Entry*> entries_;
  std::vector<CursorEntry> shown_;
  size_t first_shown_ = 0;
  size_t batch_ = 1;
  std::string fail_at_;
  Status fail_with_;
  Status status_;
  size_t seeks_ = 0;
  size_t steps_ = 0;
};

}  // namespace ashlar
