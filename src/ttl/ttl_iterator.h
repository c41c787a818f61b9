// TtlIterator: the iterator of a DBWithTTL. It wraps an iterator of the underlying database.
//
// I1: at a value that does not end in its write time, the iterator is not valid and its status is
//     Corruption. The next seek clears the error.
// Thread safety: one thread at a time. Lifetime: owns the wrapped iterator.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ashlar/iterator.h"
#include "ttl/ttl_value.h"

namespace ashlar {

class TtlIterator final : public Iterator {
 public:
  explicit TtlIterator(std::unique_ptr<Iterator> stored) : stored_(std::move(stored)) {}

  bool Valid() const override { return stored_->Valid() && damage_.ok(); }
  void SeekToFirst() override {
    stored_->SeekToFirst();
    Check();
  }
  void SeekToLast() override {
    stored_->SeekToLast();
    Check();
  }
  void Seek(const Slice& target) override {
    stored_->Seek(target);
    Check();
  }
  void SeekForPrev(const Slice& target) override {
    stored_->SeekForPrev(target);
    Check();
  }
  void Next() override {
    stored_->Next();
    Check();
  }
  void Prev() override {
    stored_->Prev();
    Check();
  }
  Slice key() const override { return stored_->key(); }
  Slice value() const override { return WithoutTtlSuffix(stored_->value()); }
  void PinValue(PinnableSlice* value) const override {
    stored_->PinValue(value);
    value->remove_suffix(kTtlSuffixBytes);
  }
  Status status() const override { return damage_.ok() ? stored_->status() : damage_; }
  Status Refresh(const Snapshot* snapshot) override {
    damage_ = Status::OK();
    return stored_->Refresh(snapshot);
  }
  Status GetProperty(std::string prop_name, std::string* prop) override {
    return stored_->GetProperty(std::move(prop_name), prop);
  }

 private:
  void Check() {
    damage_ = stored_->Valid() ? CheckTtlSuffix(stored_->value()) : Status::OK();  // I1
  }

  const std::unique_ptr<Iterator> stored_;
  Status damage_;
};

}  // namespace ashlar
