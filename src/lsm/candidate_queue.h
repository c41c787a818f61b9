// CandidateQueue: the column families that a kind of background job has to check, each at most
// once, in order of arrival.
//
// Thread safety: guarded by the caller (the database mutex).
#pragma once

#include <deque>
#include <memory>
#include <new>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "lsm/column_family.h"

namespace ashlar {

class CandidateQueue {
 public:
  bool empty() const { return queue_.empty(); }
  size_t size() const { return queue_.size(); }
  // Does nothing if the family is in the queue. Changes nothing if it throws std::bad_alloc.
  void Push(const std::shared_ptr<ColumnFamily>& family) {
    if (!queued_.insert(family.get()).second) return;
    try {
      queue_.push_back(family);
    } catch (const std::bad_alloc&) {
      queued_.erase(family.get());
      throw;
    }
  }
  std::shared_ptr<ColumnFamily> Pop() {
    ASHLAR_ASSERT(!queue_.empty());  // the callers checked
    std::shared_ptr<ColumnFamily> family = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(family.get());
    return family;
  }
  void Erase(const std::shared_ptr<ColumnFamily>& family) {
    if (queued_.erase(family.get()) > 0) std::erase(queue_, family);
  }
  // Asserts that queued_ is the set of queue_.
  void CheckInvariants() const {
    ASHLAR_ASSERT(queue_.size() == queued_.size());  // each family once
    for (const std::shared_ptr<ColumnFamily>& family : queue_)
      ASHLAR_ASSERT(queued_.contains(family.get()));  // the set of queue_
  }
  void Clear() {
    queue_.clear();
    queued_.clear();
  }

 private:
  std::deque<std::shared_ptr<ColumnFamily>> queue_;
  std::unordered_set<const ColumnFamily*> queued_;  // the members of queue_
};

}  // namespace ashlar
