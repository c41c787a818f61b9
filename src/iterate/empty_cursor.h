// EmptyCursor: a cursor without entries. Its status is Ok, or the error that prevented the creation
// of a cursor.
#pragma once

#include "key/cursor.h"

namespace ashlar {

class EmptyCursor final : public InternalCursor {
 public:
  explicit EmptyCursor(Status status) : status_(std::move(status)) {}

  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry&) const override { return PinSource(); }

 private:
  void MoveNext() override {}
  void MovePrev() override {}

  const Status status_;
};

}  // namespace ashlar
