// The functions that run when a thread ends: the destructors of thread_local objects, registered by
// the compiler through __cxa_thread_atexit, and RunAtThreadExit.
//
//   thread ends -> keys of the thread library, in the order of their creation:
//                  1. ours: run the list   2. the compiler's: free thread-local storage
//
// This compiler keeps thread-local variables in memory of its own (emulated TLS) and frees it
// through such a key, while its runtime runs the destructors later: they would work on freed
// memory. This definition takes the place of the runtime's in everything that is linked with the
// library, program or DLL.
//
// I1: our key is older than the compiler's. Ours is made before any static object of the program or
//     DLL is constructed, the compiler's at the first use of a thread-local variable.
// I2: functions run newest first. A function that is registered while they run is run, too.
// I3: a DLL is never unloaded, so registered functions stay in memory. A process has 1,088 slots of
//     thread-local storage; the thread library takes one with each load and never returns it.
//
// Without memory a function is not registered, and the caller gets an error. The compiler's callers
// ignore it, as the runtime's do: the destructor does not run. RunAtThreadExit throws.
//
// Threads that others started, without the thread library, end the same way: it hears of them from
// the system.
#include <pthread.h>

#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

struct ExitFunction {
  void (*function)(void*);
  void* argument;
  ExitFunction* next;
};

pthread_key_t key;

void RunExitFunctions(void* newest) {
  auto* current = static_cast<ExitFunction*>(newest);
  while (current != nullptr) {
    pthread_setspecific(key, current->next);
    current->function(current->argument);
    delete current;
    current = static_cast<ExitFunction*>(pthread_getspecific(key));
  }
}

// A process that exits does so on a thread that does not end.
void RunExitFunctionsOfThisThread() { RunExitFunctions(pthread_getspecific(key)); }

__attribute__((constructor(101))) void StayLoadedAndMakeKey() {
  HMODULE self = nullptr;
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
  const BOOL stays_loaded =
      GetModuleHandleExW(flags, reinterpret_cast<const wchar_t*>(&RunExitFunctions), &self);
  ASHLAR_ASSERT(stays_loaded != 0);  // I3
  const int error = pthread_key_create(&key, &RunExitFunctions);
  ASHLAR_ASSERT(error == 0);  // I1
}

}  // namespace
}  // namespace ashlar

extern "C" int __cxa_thread_atexit(void (*function)(void*), void* argument,
                                   void* /*library*/) noexcept {
  static const bool runs_at_exit = std::atexit(&ashlar::RunExitFunctionsOfThisThread) == 0;
  if (!runs_at_exit) return -1;
  auto* const newest = static_cast<ashlar::ExitFunction*>(pthread_getspecific(ashlar::key));
  auto* const added = new (std::nothrow) ashlar::ExitFunction{function, argument, newest};
  if (added == nullptr) return -1;
  const int error = pthread_setspecific(ashlar::key, added);
  if (error != 0) delete added;
  return error;
}
