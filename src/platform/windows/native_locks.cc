#include "platform/native_locks.h"

#include "platform/windows/timeout.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

// Both start as SRWLOCK_INIT and CONDITION_VARIABLE_INIT, which are null.
static_assert(sizeof(SRWLOCK) == sizeof(void*) && alignof(SRWLOCK) <= alignof(void*));
static_assert(sizeof(CONDITION_VARIABLE) == sizeof(void*) &&
              alignof(CONDITION_VARIABLE) <= alignof(void*));

SRWLOCK* LockOf(void** word) { return reinterpret_cast<SRWLOCK*>(word); }
CONDITION_VARIABLE* WaitersOf(void** word) { return reinterpret_cast<CONDITION_VARIABLE*>(word); }

}  // namespace

void NativeMutex::lock() { AcquireSRWLockExclusive(LockOf(&lock_)); }
void NativeMutex::unlock() { ReleaseSRWLockExclusive(LockOf(&lock_)); }
bool NativeMutex::try_lock() { return TryAcquireSRWLockExclusive(LockOf(&lock_)) != 0; }

void NativeCondVar::Wait(NativeMutex& mutex) {
  SleepConditionVariableSRW(WaitersOf(&waiters_), LockOf(&mutex.lock_), INFINITE, 0);
}

bool NativeCondVar::TimedWait(NativeMutex& mutex, uint64_t timeout_us) {
  return SleepConditionVariableSRW(WaitersOf(&waiters_), LockOf(&mutex.lock_),
                                   TimeoutMillis(timeout_us), 0) != 0 ||
         GetLastError() != ERROR_TIMEOUT;
}

void NativeCondVar::Signal() { WakeConditionVariable(WaitersOf(&waiters_)); }
void NativeCondVar::SignalAll() { WakeAllConditionVariable(WaitersOf(&waiters_)); }

}  // namespace ashlar
