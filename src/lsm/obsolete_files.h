// ObsoleteFiles: files that the current state no longer names and that wait to be deleted.
//
//   tables        added with the end of their last version, on any thread that releases a view;
//                 VersionSet::LiveTables says whether they may be deleted already
//   other files   logs, MANIFESTs and OPTIONS files that newer ones replaced; they may be deleted
//                 at once
//
// A thread that may do I/O takes them (FileJanitor::DeleteObsoleteFiles).
// Thread safety: all methods from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "platform/mutex.h"

namespace ashlar {

struct ObsoleteTable {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
};

class ObsoleteFiles {
 public:
  // If the allocation fails, the file is forgotten, and the next open deletes it. No error can be
  // returned where the last count of a table is released.
  void AddTable(const ObsoleteTable& table) noexcept {
    static_cast<void>(CatchBadAlloc([&] {
                        MutexLock lock(mutex_);
                        tables_.push_back(table);
                        some_.store(true, std::memory_order_release);
                        return Status::OK();
                      }).ok());
  }
  // A file that is added several times is deleted once.
  void AddOther(std::string path) {
    MutexLock lock(mutex_);
    others_.insert(std::move(path));
    some_.store(true, std::memory_order_release);
  }
  // Whether Take would return anything. Takes no lock.
  bool Some() const { return some_.load(std::memory_order_acquire); }

  struct Taken {
    std::vector<ObsoleteTable> tables;
    std::set<std::string> others;
    bool Empty() const { return tables.empty() && others.empty(); }
  };
  Taken Take() {
    MutexLock lock(mutex_);
    some_.store(false, std::memory_order_release);
    return {.tables = std::exchange(tables_, {}), .others = std::exchange(others_, {})};
  }
  uint64_t TableBytes() const {
    MutexLock lock(mutex_);
    uint64_t bytes = 0;
    for (const ObsoleteTable& table : tables_) bytes += table.file_bytes;
    return bytes;
  }

 private:
  mutable Mutex mutex_;
  std::vector<ObsoleteTable> tables_ ASHLAR_GUARDED_BY(mutex_);
  std::set<std::string> others_ ASHLAR_GUARDED_BY(mutex_);
  std::atomic<bool> some_{false};  // written under mutex_
};

}  // namespace ashlar
