// Notifies every listener of a database of an event, in the order of the listeners.
//
//   NotifyAll(listeners, &EventListener::OnFlushCompleted, db, info);
//
// Call it without holding any mutex, because a listener may call the database.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/listener.h"

namespace ashlar {

template <typename... Params, typename... Args>
void NotifyAll(const std::vector<std::shared_ptr<EventListener>>& listeners,
               void (EventListener::*event)(Params...), const Args&... args) {
  for (const std::shared_ptr<EventListener>& listener : listeners)
    (listener.get()->*event)(args...);
}

}  // namespace ashlar
