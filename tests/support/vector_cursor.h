// VectorCursor: an InternalCursor over entries in memory, for tests. It can fail at a chosen entry,
// overwrites bytes whose validity has ended, and counts the pins taken of its values.
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

  // Makes the cursor fail with `status` whenever it reaches the entry with this user key. The
  // status lasts until a seek that does not reach that entry.
  void FailAt(std::string user_key, Status status);
  // Sets how many entries a step shows at once. A seek shows one.
  void SetBatch(size_t entries) { batch_ = entries; }
  // The number of pins held on values.
  size_t pins() const;
  // The number of moves of each kind so far, not including those within a batch.
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
  // Leaves the shown batch and moves to `position`. Shows that entry, and those from `first` to
  // `last` that can be shown with it.
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
