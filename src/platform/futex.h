// Waiting on a 32-bit word without a mutex.
//
// The waiter sleeps only if the word is still `expected` when it is queued. A thread that changes
// the word wakes the waiters afterwards. Wake-ups without a change happen, so callers wait in a
// loop. The word must outlive every waiter. A wake may use its address after the last waiter has
// left, but does not access its contents.
//
// Ordering: none is implied; use acquire loads and release stores on the word itself.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected);
// Returns false if timeout_us microseconds pass without a wake-up.
bool FutexTimedWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_us);
void FutexWakeOne(const std::atomic<uint32_t>& word);
void FutexWakeAll(const std::atomic<uint32_t>& word);

}  // namespace ashlar
