// The exports of the two DLLs. Each runs threads that use the library, one after another, and
// reports the thread-local slots that they left.
#pragma once

#include <cstdint>

struct SlotsLeft {
  uint32_t different_slots;  // all slots that the threads were given
  uint32_t still_claimed;    // by threads that have ended
  uint32_t destructors_run;  // of thread_local objects, one for each thread
  uint32_t objects_intact;   // found by their destructors as they had been left
};

using RunThreadsFunction = void(uint32_t threads, SlotsLeft* left);
