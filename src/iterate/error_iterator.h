// MakeErrorIterator: the iterator of a call that failed, also where memory has run out.
//
// Thread safety: pure.
#pragma once

#include <memory>

#include "ashlar/iterator.h"
#include "ashlar/status.h"

namespace ashlar {

// An iterator over nothing with this status, or with MemoryLimit if there is no memory for a copy
// of it. Null if there is none for the iterator.
std::unique_ptr<Iterator> MakeErrorIterator(const Status& status) noexcept;

}  // namespace ashlar
