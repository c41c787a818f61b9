// CallCounts: the number of calls of each method, by name.
//
// Thread safety: all methods.
#pragma once

#include <map>
#include <string>

#include "platform/mutex.h"

namespace ashlar {

class CallCounts {
 public:
  void Add(const std::string& name) {
    const MutexLock lock(mutex_);
    ++counts_[name];
  }
  int Of(const std::string& name) const {
    const MutexLock lock(mutex_);
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, int> counts_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar
