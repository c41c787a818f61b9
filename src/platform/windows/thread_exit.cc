// Runs functions when a thread ends: the destructors of thread_local objects, which the compiler
// registers through __cxa_thread_atexit, and those of RunAtThreadExit.
//
//   thread ends -> keys of the thread library, in the order of their creation:
//                  1. this key: run the list   2. the compiler's: free thread-local storage
//
// This compiler keeps thread-local variables in memory of its own (emulated TLS) and frees it
// through such a key. Its runtime runs the destructors later, when they would use freed memory.
// This definition replaces the runtime's in every program or DLL that is linked with the
// library.
//
// I1: this file's key is older than the compiler's. It is made before any static object of the
//     program or DLL is constructed, the compiler's at the first use of a thread-local variable.
// I2: functions run newest first. A function that is registered while they run is also run.
// I3: a DLL is never unloaded, so registered functions stay in memory. A process has 1,088 slots of
//     thread-local storage; the thread library takes one with each load and never returns it.
//
// If an allocation fails, a function is not registered and the caller gets an error. Compiled code
// ignores it, as with the runtime's, so the destructor does not run. RunAtThreadExit throws.
//
// Threads that were started without the thread library end the same way, because the system
// notifies the thread library of their end.
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

// A process exits on a thread that does not end, so atexit runs the functions of that thread.
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
