// LostCursor: an InternalCursor over entries in memory in which every seek leads to the same place,
// as in a table that is out of order. For tests that iteration over such a table ends. After
// kSeeksMax seeks it becomes invalid, so that an endless iteration fails its test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "key/cursor.h"

namespace ashlar {

class LostCursor final : public InternalCursor {
 public:
  static constexpr size_t kSeeksMax = 1000;

  // keys: internal keys, at least one. The other two are the places of Seek and SeekForPrev.
  LostCursor(std::vector<std::string> keys, size_t seek_at, size_t seek_for_prev_at)
      : keys_(std::move(keys)), seek_at_(seek_at), seek_for_prev_at_(seek_for_prev_at) {}

  void SeekToFirst() override { Show(0); }
  void SeekToLast() override { Show(keys_.size() - 1); }
  void Seek(const Slice&) override { Lead(seek_at_); }
  void SeekForPrev(const Slice&) override { Lead(seek_for_prev_at_); }
  Status status() const override { return Status::OK(); }
  PinSource OwnerOf(const CursorEntry&) const override { return {}; }
  bool IsTired() const { return seeks_ >= kSeeksMax; }

 private:
  void MoveNext() override { at_ + 1 < keys_.size() ? Show(at_ + 1) : Hide(); }
  void MovePrev() override { at_ > 0 ? Show(at_ - 1) : Hide(); }
  void Lead(size_t place) { ++seeks_ < kSeeksMax ? Show(place) : Hide(); }
  void Show(size_t place) {
    at_ = place;
    ShowOne(keys_[place], "v");
  }

  const std::vector<std::string> keys_;
  const size_t seek_at_;
  const size_t seek_for_prev_at_;
  size_t at_ = 0;
  size_t seeks_ = 0;
};

}  // namespace ashlar
