// MakeErrorIterator: the iterator that a failed call returns, even when allocations fail.
//
// Thread safety: pure.
#pragma once

#include <memory>

#include "ashlar/iterator.h"
#include "ashlar/status.h"

namespace ashlar {

// Returns an empty iterator with this status, or with MemoryLimit if the status cannot be copied.
// Returns null if the iterator cannot be allocated.
std::unique_ptr<Iterator> MakeErrorIterator(const Status& status) noexcept;

}  // namespace ashlar
