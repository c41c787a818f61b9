// The parts of ashlar/iterator.h that all iterators share, and the empty iterators.
#include "ashlar/iterator.h"

#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "iterate/error_iterator.h"

namespace ashlar {

Status Iterator::Refresh(const Snapshot*) {
  return Status::NotSupported("this iterator cannot be refreshed: make a new one");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is RocksDB's
Status Iterator::GetProperty(std::string prop_name, std::string*) {
  return Status::InvalidArgument("an iterator has no property of this name", prop_name);
}

namespace {

class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { ASHLAR_ASSERT(Valid()); }  // Requires
  void Prev() override { ASHLAR_ASSERT(Valid()); }  // Requires
  Slice key() const override { return Slice(); }
  Slice value() const override { return Slice(); }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Iterator* NewEmptyIterator() { return new EmptyIterator(Status::OK()); }
Iterator* NewErrorIterator(const Status& status) { return new EmptyIterator(status); }

std::unique_ptr<Iterator> MakeErrorIterator(const Status& status) noexcept {
  std::unique_ptr<Iterator> iterator;
  IgnoreBadAlloc([&] { iterator.reset(NewErrorIterator(status)); });
  if (iterator == nullptr)
    IgnoreBadAlloc([&] { iterator.reset(NewErrorIterator(Status::MemoryLimit())); });
  return iterator;
}

}  // namespace ashlar
