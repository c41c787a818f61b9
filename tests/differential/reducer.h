// Reduces a history that diverges to a short one that still does (delta debugging).
#pragma once

#include <chrono>
#include <functional>

#include "tests/differential/history.h"

namespace ashlar::differential {

// `diverges` runs a history. Ends when no line or option can be removed, or after `time`.
History Reduce(History history, const std::function<bool(const History&)>& diverges,
               std::chrono::seconds time);

}  // namespace ashlar::differential
