// ViewObserver: re-evaluates a family after its memtables, version or options changed. It is an
// interface, so that the parts that change views do not depend on the decisions.
#pragma once

#include <memory>

#include "lsm/column_family.h"
#include "manifest/database_locks.h"

namespace ashlar {

class ViewObserver {
 public:
  virtual void ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex) = 0;

 protected:
  ~ViewObserver() = default;
};

}  // namespace ashlar
