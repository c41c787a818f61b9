// ObsoleteTables: tables that no version lists any more and whose files wait to be deleted.
//
// A file arrives when its last version goes, which may happen on any thread that lets go of a view; it leaves when a thread that may do I/O takes it.
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "platform/mutex.h"

namespace ashlar {

struct ObsoleteTable {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
};

class ObsoleteTables {
 public:
  void Add(const ObsoleteTable& table) {
    MutexLock lock(mutex_);
    tables_.push_back(table);
    some_.store(true, std::memory_order_release);
  }
  // Cheap: whether Take would give anything.
  bool Some() const { return some_.load(std::memory_order_acquire); }
  std::vector<ObsoleteTable> Take() {
    MutexLock lock(mutex_);
    some_.store(false, std::memory_order_release);
    return std::exchange(tables_, {});
  }
  uint64_t Bytes() const {
    MutexLock lock(mutex_);
    uint64_t bytes = 0;
    for (const ObsoleteTable& table : tables_) bytes += table.file_bytes;
    return bytes;
  }

 private:
  mutable Mutex mutex_;
  std::vector<ObsoleteTable> tables_ ASHLAR_GUARDED_BY(mutex_);
  std::atomic<bool> some_{false};  // written under mutex_
};

}  // namespace ashlar
